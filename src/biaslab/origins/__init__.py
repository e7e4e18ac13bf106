"""Brunet et al. 2019, Understanding the Origins of Bias in Word Embeddings.

results/README.md describes the columns of all tables; docstrings name only the file of a table.
"""

__all__ = ["documents"]
