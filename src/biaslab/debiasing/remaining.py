"""Measures of the bias that remains after debiasing (Gonen and Goldberg 2019): functions in `MEASURES`.

They examine the words at the two ends of the bias before debiasing:

- Do the words still gather by gender in two clusters (Section 4.1)?
- Do the neighbours of a word still reveal its bias (Sections 4.2 and 4.3)? The bias of a word by its
  neighbours is the share of words of one gender among its k nearest neighbours. The gender of a neighbour is
  the sign of its bias before debiasing.
- Can a classifier learn from some words how other words were biased (Section 4.4)?
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval

N_STARTS = 10  # the number of k-means initializations
TRAIN_SHARE = 0.2  # the paper trains a classifier on 1,000 of 5,000 words and tests it on the rest
N_SPLITS = 5
_BLOCK = 512


class ExtremeWords(NamedTuple):
    """Words at both ends of the bias, equally many at each end."""

    rows: np.ndarray  # (2 n,) int64: the positive end, the most extreme first, then the negative one
    labels: np.ndarray  # (2 n,) int64: 1 for the positive end, 0 for the negative one


def extreme_words(bias: np.ndarray, candidates: Sequence[int], per_side: int) -> ExtremeWords:
    """Return the words with the largest and the smallest bias (V,); the sign of the bias is the end.

    Each end has at most a quarter of the candidates, so that words near the middle are excluded.
    """
    candidates = np.unique(np.asarray(candidates, dtype=np.int64))
    values = bias[candidates]
    n = min(per_side, len(candidates) // 4, int((values > 0).sum()), int((values < 0).sum()))
    if n < 2:
        raise InputError(
            f"the {len(candidates)} neutral words include fewer than two at an end of the bias;"
            " use an embedding with more words"
        )
    order = candidates[np.argsort(-values, kind="stable")]
    return ExtremeWords(np.concatenate([order[:n], order[::-1][:n]]), np.repeat([1, 0], n))


class Case(NamedTuple):
    """An embedding before debiasing, and the words for the measures, equal for all methods."""

    bias: np.ndarray  # (V,) float64: cosine of every word with she - he, before
    neutral: np.ndarray  # rows, (n,) int64
    professions: np.ndarray  # rows of the neutral occupations, (n,) int64
    clustered: ExtremeWords
    classified: ExtremeWords
    neighbours: int  # number of neighbours
    seed: int


class Estimate(NamedTuple):
    """A number with its 95% interval (NaN for none), and the number of words."""

    measure: str
    value: float
    ci_low: float = math.nan
    ci_high: float = math.nan
    n: int = 0


def measure_clusters(case: Case, vectors: np.ndarray) -> Estimate:
    """Return ``cluster_accuracy`` of the most biased words; clusters of one embedding have no interval."""
    rows, labels = case.clustered
    value = cluster_accuracy(vectors[rows], labels, case.seed)
    return Estimate("cluster_accuracy", value, n=len(rows))


def cluster_accuracy(points: np.ndarray, labels: np.ndarray, seed: int = 1) -> float:
    """Return the share of words in the cluster of their end, under the better of both assignments.

    The labels (n,) are 1 or 0, the end of each of the points (n, d) before debiasing.
    """
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # threads change the order of sums
        clusters = KMeans(2, n_init=N_STARTS, random_state=seed).fit_predict(np.asarray(points, np.float64))
    equal = float(np.mean(clusters == labels))
    return max(equal, 1 - equal)


def measure_classifier(case: Case, vectors: np.ndarray) -> Estimate:
    """Return ``classifier_accuracy``, the mean over the splits with its interval (Student's t)."""
    rows, labels = case.classified
    splits = [split_accuracy(vectors[rows], labels, case.seed, split) for split in range(N_SPLITS)]
    return Estimate("classifier_accuracy", float(np.mean(splits)), *mean_interval(splits), len(rows))


def split_accuracy(points: np.ndarray, labels: np.ndarray, seed: int = 1, split: int = 0) -> float:
    """Return a support vector machine's accuracy on the held-out words of a split; 0.5 is chance."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.svm import SVC

    points = np.asarray(points, np.float64)
    train = _training_rows(labels, stream(seed, "leftover-classifier", split))
    width = 1 / (points.shape[1] * points[train].var())  # scikit-learn's default
    kernel = rbf_kernel(points, points[train], width)  # a single matrix product: several times faster
    machine = SVC(kernel="precomputed").fit(kernel[train], labels[train])
    return float(machine.score(kernel[~train], labels[~train]))


def _training_rows(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    chosen = np.zeros(len(labels), dtype=bool)
    for label in (0, 1):
        rows = np.flatnonzero(labels == label)
        chosen[rng.choice(rows, max(1, round(TRAIN_SHARE * len(rows))), replace=False)] = True
    return chosen


def measure_neighbours(case: Case, vectors: np.ndarray) -> Estimate:
    """Return Pearson's correlation of professions' original and neighbours' bias, with Fisher's interval."""
    from scipy.stats import pearsonr

    bias = case.bias[case.professions]
    shares = neighbour_shares(vectors, case.professions, case.bias, case.neutral, case.neighbours)
    name, n = "neighbour_correlation", len(bias)
    if n < 4 or np.ptp(shares) == 0 or np.ptp(bias) == 0:
        return Estimate(name, math.nan, n=n)
    correlation = pearsonr(bias, shares)
    return Estimate(name, float(correlation.statistic), *map(float, correlation.confidence_interval()), n)


def neighbour_shares(
    vectors: np.ndarray, rows: Sequence[int], bias: np.ndarray, candidates: Sequence[int], k: int
) -> np.ndarray:
    """Return the share (n,) of positively biased words among the k nearest neighbours of words.

    The unit vectors (V, d) may be debiased; the bias (V,) is from before. If there are fewer than k
    candidates, all count. A word is not its own neighbour. At equal distances, lower rows are nearer.
    """
    vectors, rows = np.asarray(vectors, dtype=np.float64), np.asarray(rows, dtype=np.int64)
    candidates = np.unique(np.asarray(candidates, dtype=np.int64))
    positive = bias[candidates] > 0
    k = min(k, len(candidates) - 1)
    shares = np.empty(len(rows))
    for first in range(0, len(rows), _BLOCK):
        block = rows[first : first + _BLOCK]
        cosines = np.round(vectors[block] @ vectors[candidates].T, 12)
        cosines[block[:, None] == candidates[None, :]] = -np.inf
        least = np.partition(cosines, -k, axis=1)[:, [-k]]
        is_nearer, is_as_near = cosines > least, cosines == least
        missing = k - is_nearer.sum(axis=1)
        is_tied = is_as_near.sum(axis=1) > missing
        is_as_near[is_tied] &= is_as_near[is_tied].cumsum(axis=1) <= missing[is_tied, None]
        shares[first : first + _BLOCK] = ((is_nearer | is_as_near) & positive).sum(axis=1) / k
    return shares


MEASURES = (measure_clusters, measure_classifier, measure_neighbours)
"""Each takes a `Case` and the debiased vectors, and returns a `Estimate`."""
