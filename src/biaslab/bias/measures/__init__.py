"""Differentiable measures of bias on the word sets of an association test."""

from biaslab.bias.measures.registry import MEASURES, measure_bias, measure_gradient

__all__ = [
    "MEASURES",
    "measure_bias",
    "measure_gradient",
]
