"""Asking methods of the registry to debias."""

import importlib

import numpy as np

from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.methods.registry import find_method


def debias(name: str, experiment: Experiment) -> np.ndarray:
    """Return the vectors after a method: unit vectors, float64 (V, d)."""
    module, _, function = find_method(name).function.partition(":")
    return getattr(importlib.import_module(f"{__package__}.{module}"), function)(experiment)
