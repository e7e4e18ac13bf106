"""Single documents with ground truth."""
