"""Gender and other biases in word embeddings, and how to remove them (Bolukbasi et al. 2016)."""

__all__ = ["analogies", "benchmarks", "hard", "measures", "soft", "subspace", "word_lists"]
