"""Workflow Run Crates: a finished run, packed so that others can read, check and compare it."""

METADATA = "ro-crate-metadata.json"
"""What makes a folder or an archive a crate."""
RESULTS = "results"
"""The folder of a crate that holds what the run made."""
ARCHIVE = ".zip"
"""The suffix of a crate that is an archive."""
