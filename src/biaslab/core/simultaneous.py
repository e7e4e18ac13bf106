"""Simultaneous inference on many differences of means: permutation test and levels of intervals."""

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from biaslab.core.stats import LEVEL, POWER, SIGNIFICANT

MIN_MEMBERS = 2  # minimum number of rows of a group; smaller groups have no result

N_PERMUTATIONS = 999
_ROUNDING = 1e-9
_PRECISION = 1e-4
_RARE = 1e-6
_BLOCK = 200_000  # rows of permutations in memory


class LargestDifference(NamedTuple):
    """A test of many differences of means, with p-values corrected for all of them."""

    p_values: np.ndarray  # (k, m), of each group and column; NaN if a group or the reference is empty
    critical: float  # greater standardized differences have p-values of at most 5%


def find_largest_difference(
    values: ArrayLike, members: ArrayLike, reference: ArrayLike | None, rng: np.random.Generator
) -> LargestDifference:
    """Test by permutations of the rows whether the mean of any group differs from a reference.

    `values` (n,) or (n, m) are numbers of each row, `members` (n, k) the rows of groups, which may overlap,
    and `reference` (n,) its rows, by default all rows outside the group.

    Single-step maxT (Westfall and Young 1993): the p-value of a group is the share of permutations in which
    the greatest standardized difference of any group and column is at least as large. The smallest p-value
    tests whether there is any difference, and the family-wise error rate is at most 5%.
    """
    values, members = np.asarray(values, np.float64), np.asarray(members, np.float64)
    values = values.reshape(len(values), -1)
    p_values = np.full((members.shape[1], values.shape[1]), np.nan)
    others = 1 - members if reference is None else np.asarray(reference, np.float64)[:, None]
    others = np.broadcast_to(others, members.shape)
    is_usable = members.any(axis=0) & others.any(axis=0)
    if not is_usable.any() or len(values) < 2:
        return LargestDifference(p_values, math.nan)
    mine, theirs = members[:, is_usable], others[:, is_usable]
    weights = (mine / mine.sum(axis=0) - theirs / theirs.sum(axis=0)).T
    spread = np.sqrt((weights**2).sum(axis=1))[:, None] * values.std(axis=0, ddof=1)

    def statistics(rows: np.ndarray) -> np.ndarray:
        gaps = np.abs(weights @ rows)
        return np.divide(gaps, spread, out=np.zeros_like(gaps), where=spread > _ROUNDING)

    greatest = np.empty(0)
    while len(greatest) < N_PERMUTATIONS:
        n_drawn = min(max(1, _BLOCK // len(values)), N_PERMUTATIONS - len(greatest))
        order = rng.permuted(np.tile(np.arange(len(values)), (n_drawn, 1)), axis=1)
        greatest = np.append(greatest, statistics(values[order]).max(axis=(1, 2)))
    greatest = np.sort(greatest)
    n_greater = N_PERMUTATIONS - np.searchsorted(greatest, statistics(values) - _ROUNDING)
    p_values[is_usable] = (1 + n_greater) / (1 + N_PERMUTATIONS)
    n_chance = math.floor(SIGNIFICANT * (1 + N_PERMUTATIONS) + _ROUNDING)  # as large at p = 5%
    return LargestDifference(p_values, float(greatest[-n_chance]))


def find_least_mean(x: ArrayLike, level: float = LEVEL) -> float:
    """Return the smallest mean of values with the variance of `x` that Student's t detects (power 80%)."""
    x = np.asarray(x, np.float64)
    n = len(x)
    if n < 2:
        return math.nan
    limit = scipy.stats.t.ppf((1 + level) / 2, n - 1)
    low, high = 0.0, limit + 5.0
    while high - low > _PRECISION:
        middle = (low + high) / 2
        power = scipy.stats.nct.sf(limit, n - 1, middle)
        low, high = (low, middle) if power >= POWER else (middle, high)
    return float(high * x.std(ddof=1) / math.sqrt(n))


def find_least_rate(n: int, of_n: int, rate: float, n_all: int, critical: float, level: float) -> float:
    """Return the smallest excess of a group's rate over a reference that is detected with a power of 80%.

    The group has `n` rows, the reference `of_n`, and all rows outside the group have a rate of `rate`. A
    difference is detected if its standardized value exceeds `critical` (`find_largest_difference`) and its
    Newcombe interval of this `level` is above 0; at a level of 0 the first condition suffices. The result is
    NaN if the power at a rate of 1 is lower, and for a group of fewer than `MIN_MEMBERS` rows.
    """
    if n < MIN_MEMBERS or not of_n or not math.isfinite(critical):
        return math.nan
    of_hits, of_chances = _likely_counts(of_n, rate)
    z = scipy.stats.norm.ppf((1 + level) / 2)
    of_up = _wilson(of_hits, of_n, z) - of_hits / of_n

    def power(excess: float) -> float:
        hits, chances = _likely_counts(n, min(rate + excess, 1.0))
        hits = hits[:, None]
        gap, mean = hits / n - of_hits / of_n, (hits + of_hits + rate * (n_all - n - of_n)) / n_all
        spread = np.sqrt(mean * (1 - mean) * n_all / max(n_all - 1, 1) * (1 / n + 1 / of_n))
        down = np.hypot(hits / n - _wilson(hits, n, -z), of_up)
        is_detected = (gap > critical * spread + _ROUNDING) & (gap > down)
        return float(chances @ is_detected @ of_chances)

    low, high = 0.0, 1 - rate
    if power(high) < POWER:
        return math.nan
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if power(middle) >= POWER else (middle, high)
    return high


def find_least_gap(x: ArrayLike, of_x: ArrayLike, values: ArrayLike, critical: float) -> float:
    """Return the smallest difference of the means of `x` and `of_x` that is detected with a power of 80%.

    A difference is detected if its standardized value exceeds `critical` (`find_largest_difference`). Means
    are assumed normal with constant spread of all `values`. NaN for too few values or no spread.
    """
    x, of_x, values = (np.asarray(array, np.float64) for array in (x, of_x, values))
    n, of_n, n_all = len(x), len(of_x), len(values)
    if min(n, of_n) < MIN_MEMBERS or not math.isfinite(critical) or not values.std() > 0:
        return math.nan
    shares, between = 1 / n + 1 / of_n, n * (n_all - n) / (n_all * (n_all - 1))
    error = scipy.stats.norm.ppf(POWER) * math.sqrt(x.var(ddof=1) / n + of_x.var(ddof=1) / of_n)
    within = max(values.var(ddof=1) - between * (x.mean() - of_x.mean()) ** 2, 0.0)

    def excess(gap: float) -> float:
        return gap - critical * math.sqrt((within + between * gap**2) * shares) - error

    largest = float(np.ptp(values))
    if excess(largest) < 0:
        return math.nan
    return float(scipy.optimize.brentq(excess, 0.0, largest)) if excess(0.0) < 0 else 0.0


def level_of_each(n: int) -> float:
    """Return the level of each of n simultaneous intervals (Bonferroni)."""
    return 1 - (1 - LEVEL) / max(n, 1)


def _likely_counts(n: int, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the hits of n trials that cover nearly the entire probability, and the probability of each."""
    count = scipy.stats.binom(n, rate)
    counts = np.arange(count.ppf(_RARE), count.ppf(1 - _RARE) + 1)
    return counts, count.pmf(counts)


def _wilson(hits: np.ndarray, n: int, z: float) -> np.ndarray:
    return (hits + z * z / 2 + z * np.sqrt(hits * (n - hits) / n + z * z / 4)) / (n + z * z)
