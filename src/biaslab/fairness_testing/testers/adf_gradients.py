"""Gradients of the two samples of a pair, which lead both phases of ADF."""

import numpy as np

from biaslab.classifiers.models import Model

_SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


def pair_gradients(
    model: Model,
    X: np.ndarray,
    partners: np.ndarray,
    labels: np.ndarray,
    partner_labels: np.ndarray,
    subnormal_is_zero: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of samples and of their partners (Algorithm 1, lines 12 and 13; 7, 6 and 7)."""
    gradients = model.input_gradients(np.concatenate([X, partners]), np.concatenate([labels, partner_labels]))
    if subnormal_is_zero:
        gradients = np.where(np.abs(gradients) < _SMALLEST_NORMAL, 0, gradients)
    return gradients[: len(X)], gradients[len(X) :]
