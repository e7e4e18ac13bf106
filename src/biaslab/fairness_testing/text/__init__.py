"""Fairness testing of classifiers of texts (Zhang et al. 2021)."""
