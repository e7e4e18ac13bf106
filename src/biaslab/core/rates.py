"""Rates of two groups compared: the four-fifths rule, and intervals of their ratio and difference.

The interval of a ratio has all ratios that a score test does not reject (Koopman 1984, with the factor of
Miettinen and Nurminen 1985 for small samples). Both groups add to its width, also where all or none of a
group were chosen, which Walter's and Katz's intervals miss.
Several comparisons at once need a higher level each: see `biaslab.core.comparisons`.
"""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from biaslab.core.stats import LEVEL

FOUR_FIFTHS = 0.8
"""The least ratio to the highest rate by the US guidelines on employee selection (29 CFR 1607.4 D, 1978)."""
SMALL_SHARE = 0.02
"""The least share of all that a group must have to be the one that others are compared with, as there."""
CLEARLY_BELOW, UNTOLD = "below four fifths", "cannot be told"
"""Verdicts: of a ratio whose interval is below four fifths, and of missing values."""

_FARTHEST, _STEPS = 30.0, 60  # logarithm of a ratio: where a search for a bound begins, and its halvings


def usable_references(rates: ArrayLike, sizes: ArrayLike) -> np.ndarray:
    """Return which groups others may be compared with: those with a rate that are not too small."""
    sizes = np.asarray(sizes, np.float64)
    return (sizes >= SMALL_SHARE * sizes.sum()) & np.isfinite(np.asarray(rates, np.float64))


def reference_of(rates: ArrayLike, sizes: ArrayLike) -> int:
    """Return the group with the highest rate, of those that are not too small."""
    return int(np.argmax(np.where(usable_references(rates, sizes), rates, -1.0)))


def ratio_interval(
    hits: ArrayLike,
    n: ArrayLike,
    of_hits: ArrayLike,
    of_n: ArrayLike,
    level: float = LEVEL,
    inflation: ArrayLike = 1.0,
    df: ArrayLike = math.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals of hits / n over of_hits / of_n, of independent samples (Miettinen, Nurminen 1985).

    `inflation` is by how much the variance exceeds that of independent samples, and `df` its degrees of
    freedom, for samples that come in clusters. NaN where a group has nobody or no degree of freedom.
    """
    x, m, y, k, spread, df = np.broadcast_arrays(
        *(np.asarray(a, np.float64) for a in (hits, n, of_hits, of_n, inflation, df))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = scipy.stats.t.ppf((1 + level) / 2, np.where(df > 0, df, np.nan))
        limit = quantile**2 * spread * (m + k) / (m + k - 1)
        middle = np.clip(np.log((x / m) / (y / k)), -_FARTHEST, _FARTHEST)
    is_known = (m > 0) & (k > 0) & np.isfinite(limit)
    low = np.exp(_search_bound(x, m, y, k, middle, np.full(x.shape, -_FARTHEST), limit))
    high = np.exp(_search_bound(x, m, y, k, middle, np.full(x.shape, _FARTHEST), limit))
    low, high = np.where(x == 0, 0.0, low), np.where(y == 0, np.inf, high)
    return np.where(is_known, low, np.nan), np.where(is_known, high, np.nan)


def _search_bound(
    x: np.ndarray,
    m: np.ndarray,
    y: np.ndarray,
    k: np.ndarray,
    near: np.ndarray,
    far: np.ndarray,
    limit: np.ndarray,
) -> np.ndarray:
    """Return the logarithm of the ratio, between two, at which the score statistic reaches its limit."""
    for _ in range(_STEPS):
        middle = (near + far) / 2
        is_inside = _score_statistic(x, m, y, k, np.exp(middle)) <= limit
        near, far = np.where(is_inside, middle, near), np.where(is_inside, far, middle)
    return far


def _score_statistic(
    x: np.ndarray, m: np.ndarray, y: np.ndarray, k: np.ndarray, ratio: np.ndarray
) -> np.ndarray:
    """Return the score statistic of x of m and y of k, whose rates have a ratio; chi-squared of 1 degree."""
    total = ratio * (m + y) + x + k
    root = np.sqrt(np.maximum(total**2 - 4 * ratio * (m + k) * (x + y), 0.0))
    p = np.minimum(2 * ratio * (x + y) / (total + root), np.minimum(1.0, ratio))
    return _squared_distance(x, m, p) + _squared_distance(y, k, p / ratio)


def _squared_distance(hits: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the squared distance of a count from that of a rate, in units of its variance."""
    distance = (hits - n * p) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, distance / (n * p * (1 - p)), 0.0)


def difference_interval(
    hits: int, n: int, of_hits: int, of_n: int, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of hits / n minus of_hits / of_n, of independent samples (Newcombe 1998)."""
    if not n or not of_n:
        return math.nan, math.nan
    p, q = hits / n, of_hits / of_n
    (low, high), (of_low, of_high) = (
        scipy.stats.binomtest(int(k), int(m)).proportion_ci(level, method="wilson")
        for k, m in ((hits, n), (of_hits, of_n))
    )
    down, up = math.hypot(p - low, of_high - q), math.hypot(high - p, q - of_low)
    return p - q - down, p - q + up


def verdict(ratio: float, low: float, high: float) -> str:
    """Say what the four-fifths rule makes of a ratio, and whether chance leaves that open."""
    if not np.isfinite([ratio, low]).all() or math.isnan(high):
        return UNTOLD
    if ratio < FOUR_FIFTHS:
        text, doubt, is_clear = CLEARLY_BELOW, "but the interval reaches them", high < FOUR_FIFTHS
    else:
        text, doubt, is_clear = "four fifths or more", "but the interval reaches below", low >= FOUR_FIFTHS
    return text if is_clear else f"{text}, {doubt}"
