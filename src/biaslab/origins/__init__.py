"""Brunet et al. 2019, Understanding the Origins of Bias in Word Embeddings.

What the columns of a table mean is said once, in results/README.md: docstrings name the file that holds it.
"""

__all__ = ["documents"]
