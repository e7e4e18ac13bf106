"""Scores of documents from elsewhere, put to the checks that the attributions of a run were put to."""
