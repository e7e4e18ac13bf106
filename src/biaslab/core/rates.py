"""Compare the rates of two groups: four-fifths rule, and intervals of their ratio and difference.

The interval of a ratio contains all ratios that a score test does not reject (Koopman 1984, with the factor
of Miettinen and Nurminen 1985 for small samples). Both groups contribute to its width, even if all or none of
a group were chosen. Walter's and Katz's intervals miss this.
For several comparisons, see `biaslab.core.comparisons`: each needs a higher level.
"""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from biaslab.core.stats import LEVEL

FOUR_FIFTHS = 0.8
"""Minimum ratio to the highest rate in the US guidelines on employee selection (29 CFR 1607.4 D, 1978)."""
SMALL_SHARE = 0.02  # minimum share of all candidates for a reference group, in the same guidelines
CLEARLY_BELOW, UNTOLD = "below four fifths", "cannot be told"
"""Verdicts: for a ratio with an interval below four fifths, and for missing values."""

_FARTHEST, _STEPS = 30.0, 60  # bisection: first bound (logarithm of a ratio), and number of steps


def usable_references(rates: ArrayLike, sizes: ArrayLike) -> np.ndarray:
    """Return which groups are eligible as reference: those with a rate that are not too small."""
    sizes = np.asarray(sizes, np.float64)
    return (sizes >= SMALL_SHARE * sizes.sum()) & np.isfinite(np.asarray(rates, np.float64))


def reference_of(rates: ArrayLike, sizes: ArrayLike) -> int:
    """Return the index of the eligible reference group with the highest rate."""
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
    """Return intervals of (hits / n) / (of_hits / of_n), independent samples (Miettinen, Nurminen 1985).

    For clustered samples, `inflation` is the variance relative to independent samples, with `df` degrees of
    freedom. The bounds are NaN if a group is empty or has no degree of freedom.
    """
    x, m, y, k, spread, df = np.broadcast_arrays(
        *(np.asarray(values, np.float64) for values in (hits, n, of_hits, of_n, inflation, df))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        quantile = scipy.stats.t.ppf((1 + level) / 2, np.where(df > 0, df, np.nan))
        limit = quantile**2 * spread * (m + k) / (m + k - 1)
        middle = np.clip(np.log((x / m) / (y / k)), -_FARTHEST, _FARTHEST)
    is_defined = (m > 0) & (k > 0) & np.isfinite(limit)

    def search(far: np.ndarray) -> np.ndarray:
        """Find the ratio on the side of `far` at which the score statistic reaches the limit."""
        near = middle
        for _ in range(_STEPS):
            between = (near + far) / 2
            is_inside = _score_statistic(x, m, y, k, np.exp(between)) <= limit
            near, far = np.where(is_inside, between, near), np.where(is_inside, far, between)
        return np.exp(far)

    low = np.where(x == 0, 0.0, search(np.full(x.shape, -_FARTHEST)))
    high = np.where(y == 0, np.inf, search(np.full(x.shape, _FARTHEST)))
    return np.where(is_defined, low, np.nan), np.where(is_defined, high, np.nan)


def _score_statistic(
    x: np.ndarray, m: np.ndarray, y: np.ndarray, k: np.ndarray, ratio: np.ndarray
) -> np.ndarray:
    """Return the score statistic (chi-squared, 1 degree) of x of m and y of k under a ratio of rates."""
    total = ratio * (m + y) + x + k
    root = np.sqrt(np.maximum(total**2 - 4 * ratio * (m + k) * (x + y), 0.0))
    p = np.minimum(2 * ratio * (x + y) / (total + root), np.minimum(1.0, ratio))
    return _squared_distance(x, m, p) + _squared_distance(y, k, p / ratio)


def _squared_distance(hits: np.ndarray, n: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the squared distance of a count from its expectation, in units of its variance."""
    distance = (hits - n * p) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance > 0, distance / (n * p * (1 - p)), 0.0)


def difference_interval(
    hits: int, n: int, of_hits: int, of_n: int, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of hits / n - of_hits / of_n for independent samples (Newcombe 1998)."""
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
    """Return the verdict of the four-fifths rule on a ratio, and whether the interval leaves doubt."""
    if not np.isfinite([ratio, low]).all() or math.isnan(high):
        return UNTOLD
    if ratio < FOUR_FIFTHS:
        text, doubt, is_clear = CLEARLY_BELOW, "but the interval reaches them", high < FOUR_FIFTHS
    else:
        text, doubt, is_clear = "four fifths or more", "but the interval reaches below", low >= FOUR_FIFTHS
    return text if is_clear else f"{text}, {doubt}"
