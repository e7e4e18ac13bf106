"""Differentiable measures of bias on the word sets of an association test."""
