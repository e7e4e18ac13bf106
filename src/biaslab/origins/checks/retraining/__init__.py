"""Predictions against retrained embeddings (Brunet et al. 2019, Section 5.2)."""
