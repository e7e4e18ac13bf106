"""How well predicted labels match given ones."""

import math

import numpy as np


def precision_recall_f1(predicted: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the positive class; 0 where a denominator is.

    As scikit-learn's ``precision_recall_fscore_support(average="binary", zero_division=0)``; but to import
    that takes a second, which is long beside the short trainings of which a run has dozens.
    """
    predicted, labels = np.asarray(predicted, dtype=bool), np.asarray(labels, dtype=bool)
    hits, n_predicted, n_positive = (int(x.sum()) for x in (predicted & labels, predicted, labels))

    def share(part: int, whole: int) -> float:
        return part / whole if whole else 0.0

    return share(hits, n_predicted), share(hits, n_positive), share(2 * hits, n_predicted + n_positive)


def chance_probability(predicted: np.ndarray, labels: np.ndarray) -> float:
    """Return how probable so many hits were if predictions had nothing to do with labels.

    The p-value of Fisher's exact test against more hits than by chance: 1 for a classifier that gives every
    text the same label, NaN where all texts have one. In whole numbers, so that it is the same everywhere.
    """
    predicted, labels = np.asarray(predicted, dtype=bool), np.asarray(labels, dtype=bool)
    n, n_positive, n_predicted = len(labels), int(labels.sum()), int(predicted.sum())
    if n_positive in (0, n):
        return math.nan
    hits, n_negative = int((predicted & labels).sum()), n - n_positive
    ways, total = math.comb(n_positive, hits) * math.comb(n_negative, n_predicted - hits), 0
    for k in range(hits, min(n_positive, n_predicted) + 1):
        total += ways
        ways = ways * (n_positive - k) * (n_predicted - k) // ((k + 1) * (n_negative - n_predicted + k + 1))
    return total / math.comb(n, n_predicted)
