"""Measures every published claim on the results and compares runs."""
