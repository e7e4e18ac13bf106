"""Do the words that were most biased still gather by gender? (Gonen and Goldberg 2019, Section 4.1)."""

import math

import numpy as np

from biaslab.debiasing.remaining.contract import Case, Found

N_STARTS = 10


def measure(case: Case, vectors: np.ndarray) -> list[Found]:
    """Return ``cluster_accuracy`` of the most biased words; clusters of one embedding have no interval."""
    rows, labels = case.clustered
    value = cluster_accuracy(vectors[rows], labels, case.seed)
    return [Found("cluster_accuracy", value, math.nan, math.nan, len(rows))]


def cluster_accuracy(points: np.ndarray, labels: np.ndarray, seed: int = 1) -> float:
    """Return how well two clusters of words tell the two ends of the bias.

    The labels (n,) are 1 or 0, the end at which each of the points (n, d) was before debiasing. The accuracy
    is the share of words in the cluster of their end, under the better of the two namings: 0.5 is the least.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # sums are regrouped among threads
        found = KMeans(2, n_init=N_STARTS, random_state=seed).fit_predict(np.asarray(points, np.float64))
    return alignment(found, labels)


def alignment(clusters: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of equal entries of two 0-1 vectors, or of unequal ones when these are more."""
    equal = float(np.mean(clusters == labels))
    return max(equal, 1 - equal)
