"""Estimates by control embeddings."""
