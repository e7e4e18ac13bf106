"""Brunet et al. 2019, Understanding the Origins of Bias in Word Embeddings."""
