"""Bias measures on embeddings: WEAT and its gradient. Knows no paper's experiment."""

__all__ = ["directions", "weat", "word_sets"]
