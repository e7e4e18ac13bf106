"""The sets of documents that are removed: their names, and how they are chosen."""
