"""Do the neighbours of a word still tell its bias? (Gonen and Goldberg 2019, Sections 4.2 and 4.3).

The bias of a word by its neighbours is the share of words of one gender among the k nearest to it, where the
gender of a neighbour is the sign of its bias before debiasing.
"""

import math
from collections.abc import Sequence

import numpy as np

from biaslab.debiasing.remaining.contract import Case, Found

_BLOCK = 512


def measure(case: Case, vectors: np.ndarray) -> list[Found]:
    """Return Pearson's correlation of professions' bias before and their neighbours', Fisher's interval."""
    return [correlate(case.bias[case.professions], profession_shares(case, vectors))]


def profession_shares(case: Case, vectors: np.ndarray) -> np.ndarray:
    """Return `neighbour_shares` of the professions among all neutral words: (n,) float64."""
    return neighbour_shares(vectors, case.professions, case.bias, case.neutral, case.neighbours)


def correlate(bias: np.ndarray, shares: np.ndarray) -> Found:
    """Return Pearson's correlation; NaN when a vector is constant or has fewer than four entries."""
    from scipy.stats import pearsonr

    name, n = "neighbour_correlation", len(bias)
    if n < 4 or np.ptp(shares) == 0 or np.ptp(bias) == 0:
        return Found(name, math.nan, math.nan, math.nan, n)
    found = pearsonr(bias, shares)
    return Found(name, float(found.statistic), *map(float, found.confidence_interval()), n)


def neighbour_shares(
    vectors: np.ndarray, rows: Sequence[int], bias: np.ndarray, candidates: Sequence[int], k: int
) -> np.ndarray:
    """Return the share (n,) of positively biased words among the k nearest neighbours of words.

    The unit vectors (V, d) are perhaps debiased, the bias (V,) is that before, and its sign the gender of a
    neighbour. Candidates are rows of words that can be neighbours, all of which count when there are fewer
    than k; a word is no neighbour of itself. Of words at the same distance the one of the lower row is
    nearer.
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
        shares[first : first + _BLOCK] = (_nearest(cosines, k) & positive).sum(axis=1) / k
    return shares


def _nearest(cosines: np.ndarray, k: int) -> np.ndarray:
    """Mark the k largest entries of each row (n, m), of equal ones the first: bool (n, m)."""
    least = np.partition(cosines, -k, axis=1)[:, [-k]]
    nearer, as_near = cosines > least, cosines == least
    missing = k - nearer.sum(axis=1)
    tied = as_near.sum(axis=1) > missing
    as_near[tied] &= as_near[tied].cumsum(axis=1) <= missing[tied, None]
    return nearer | as_near
