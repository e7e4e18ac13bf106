"""Differentiable measures of bias on the word sets of an association test."""

from biaslab.bias.measures.mac import mean_average_cosine
from biaslab.bias.measures.registry import MEASURES, measure_bias, measure_gradient
from biaslab.bias.measures.rnsb import relative_negative_sentiment

__all__ = [
    "MEASURES",
    "mean_average_cosine",
    "measure_bias",
    "measure_gradient",
    "relative_negative_sentiment",
]
