"""Bias measures on embeddings: WEAT and its gradient. This package is independent of the papers."""

__all__ = ["directions", "measures", "weat", "word_sets"]
