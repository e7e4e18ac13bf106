"""How well scores tell positive texts from negative ones (Kennedy et al. 2020, Tables 1 and 5, Figure 2).

A score is the logit of the positive class, s(x) = logit₁ − logit₀; a text is classified positive when it is
above 0.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError
from biaslab.text.scores import precision_recall_f1


class Metrics(NamedTuple):
    """Measures of one classifier on one set of texts, as shares of 1."""

    n: int
    n_positive: int
    precision: float
    recall: float
    f1: float
    accuracy: float
    macro_accuracy: float


MEASURES = Metrics._fields[2:]
"""The measures among the fields of `Metrics`."""


def measure(scores: ArrayLike, labels: ArrayLike, identifiers: ArrayLike | None = None) -> Metrics:
    """Return the measures of one classifier on one set of texts, by logits (n,) and labels (n,), 1 or 0.

    Without a text classified positive, precision and F1 are 0 (scikit-learn's ``zero_division=0``); without a
    positive text there is nothing to find, and precision, recall and F1 are NaN. The macro accuracy is the
    mean of the accuracies of the identifiers that texts were drawn for, whatever their numbers; NaN without
    identifiers.
    """
    scores, labels = check_scored(scores, labels)
    predicted = scores > 0
    is_right = predicted == labels
    found = (math.nan,) * 3
    if labels.any():
        found = precision_recall_f1(predicted, labels)
    macro_accuracy = math.nan
    if identifiers is not None:
        right = pd.Series(is_right, dtype=np.float64).groupby(np.asarray(identifiers))
        macro_accuracy = float(right.mean().mean())
    return Metrics(len(labels), int(labels.sum()), *found, float(is_right.mean()), macro_accuracy)


def check_scored(scores: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return scores as float64 and labels as bool, (n,) each."""
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if scores.shape != labels.shape or scores.ndim != 1:
        raise InputError(
            f"scores of shape {scores.shape} for labels of shape {labels.shape}: give one score for each text"
        )
    if not len(scores):
        raise InputError("there are no texts to measure on; give some")
    for is_bad, what in (
        (np.isnan(scores), "its score is not a number; the classifier must score every text"),
        (~np.isin(labels, (0, 1)), "its label is neither 0 nor 1"),
    ):
        if is_bad.any():
            raise InputError(f"text {np.flatnonzero(is_bad)[0] + 1}: {what}")
    return scores, labels.astype(bool)
