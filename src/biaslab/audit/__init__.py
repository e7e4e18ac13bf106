"""Measurement of every published claim on the results, and comparison of runs."""
