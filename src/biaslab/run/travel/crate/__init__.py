"""Workflow Run Crates: archived runs that others can read, check and compare."""

METADATA = "ro-crate-metadata.json"  # the file that identifies a folder or an archive as a crate
RESULTS = "results"  # the folder of a crate with the results of the run
ARCHIVE = ".zip"  # the suffix of a crate that is an archive
EMBEDDINGS = "embeddings"  # the name of results folders with word embeddings
