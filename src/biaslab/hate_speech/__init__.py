"""Hate speech classifiers regularized by explanations (Kennedy et al. 2020)."""
