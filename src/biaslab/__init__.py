"""Reproducible fairness research: origins of bias, debiasing, fair ranking, fairness testing."""

__version__ = "0.1.0"
