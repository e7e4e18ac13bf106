"""Can a classifier learn from some words how others were biased? (Gonen and Goldberg 2019, Section 4.4)."""

import numpy as np

from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.debiasing.remaining.contract import Case, Found

TRAIN_SHARE = 0.2
"""The paper trains on 1,000 of 5,000 words and tests on the rest."""
N_SPLITS = 5


def measure(case: Case, vectors: np.ndarray) -> list[Found]:
    """Return ``classifier_accuracy``, the mean over the splits with its interval (Student's t)."""
    rows, labels = case.classified
    accuracies = classifier_accuracies(vectors[rows], labels, case.seed)
    return [Found("classifier_accuracy", float(accuracies.mean()), *mean_interval(accuracies), len(rows))]


def classifier_accuracies(points: np.ndarray, labels: np.ndarray, seed: int = 1) -> np.ndarray:
    """Return a support vector machine's accuracy on words held out, by random split; 0.5 is chance.

    The labels (n,), 1 or 0, as many of each, are the end at which each point (n, d) was before debiasing.
    """
    return np.array([split_accuracy(points, labels, seed, split) for split in range(N_SPLITS)])


def split_accuracy(points: np.ndarray, labels: np.ndarray, seed: int = 1, split: int = 0) -> float:
    """Return the accuracy of one split; arguments as of `classifier_accuracies`."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    points = np.asarray(points, np.float64)
    train = _training_rows(labels, stream(seed, "leftover-classifier", split))
    width = 1 / (points.shape[1] * points[train].var())  # scikit-learn's default
    kernel = rbf_kernel(points, points[train], width)  # by one product of matrices: several times faster
    machine = SVC(kernel="precomputed").fit(kernel[train], labels[train])
    return float(machine.score(kernel[~train], labels[~train]))


def _training_rows(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose the words to train on: bool (n,), at least one of each end."""
    chosen = np.zeros(len(labels), dtype=bool)
    for label in (0, 1):
        rows = np.flatnonzero(labels == label)
        chosen[rng.choice(rows, max(1, round(TRAIN_SHARE * len(rows))), replace=False)] = True
    return chosen
