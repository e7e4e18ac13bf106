"""Score predicted labels against true labels."""

import math

import numpy as np


def precision_recall_f1(predicted: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the positive class; 0 if the denominator is 0.

    Equal to scikit-learn's ``precision_recall_fscore_support(average="binary", zero_division=0)``. Importing
    scikit-learn takes a second, which is long compared with the dozens of short trainings of a run.
    """
    predicted, labels = np.asarray(predicted, dtype=bool), np.asarray(labels, dtype=bool)
    hits, n_predicted, n_positive = (int(x.sum()) for x in (predicted & labels, predicted, labels))
    pairs = (hits, n_predicted), (hits, n_positive), (2 * hits, n_predicted + n_positive)
    return tuple(part / total if total else 0.0 for part, total in pairs)


def chance_probability(predicted: np.ndarray, labels: np.ndarray) -> float:
    """Return the p-value of Fisher's one-sided exact test of more hits than by chance.

    It is 1 for a classifier that gives every text the same label, and NaN if all texts have the same label.
    Integer arithmetic makes the result identical on all machines.
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
