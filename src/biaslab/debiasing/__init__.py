"""Gender and other biases in word embeddings, and their removal (Bolukbasi et al. 2016)."""

__all__ = ["analogies", "benchmarks", "hard", "measures", "soft", "subspace", "word_lists"]
