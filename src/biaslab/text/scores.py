"""How well predicted labels match given ones."""

import numpy as np


def precision_recall_f1(predicted: np.ndarray, labels: np.ndarray) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the positive class; 0 where a denominator is.

    As scikit-learn's ``precision_recall_fscore_support(average="binary", zero_division=0)``; but to import
    that takes a second, which is long beside the short trainings of which a run has dozens.

    Parameters
    ----------
    predicted, labels : (n,) bool or 0 and 1
    """
    predicted, labels = np.asarray(predicted, dtype=bool), np.asarray(labels, dtype=bool)
    hits, n_predicted, n_positive = (int(x.sum()) for x in (predicted & labels, predicted, labels))

    def share(part: int, whole: int) -> float:
        return part / whole if whole else 0.0

    return share(hits, n_predicted), share(hits, n_positive), share(2 * hits, n_predicted + n_positive)
