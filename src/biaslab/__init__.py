"""Reproducible fairness research: origins of bias, debiasing, fair ranking, fairness testing."""

from biaslab.core import processor

__version__ = "0.1.0"

processor.pin()  # before the first import of what reads the variables
