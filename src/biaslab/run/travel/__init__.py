"""Runs that travel: archive a run, read an archive, and continue from it."""
