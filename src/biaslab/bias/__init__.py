"""Bias measures on embeddings: WEAT and its gradient. Knows no paper's experiment."""

__all__ = ["directions", "measures", "weat", "word_sets"]
