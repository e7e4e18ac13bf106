"""Statistics of small samples. Undefined values are NaN, never an error or a warning."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy  # imports its submodules lazily
from numpy.typing import ArrayLike

LEVEL = 0.95  # the default confidence level of all intervals
TAILS = (1 - LEVEL) / 2, (1 + LEVEL) / 2  # the quantiles that bound the central 95%
SIGNIFICANT = 0.05  # the family-wise error rate of the tests of a set of groups
POWER = 0.8  # the power at which a smallest detectable difference is detected
N_RESAMPLES = 2000  # number of bootstrap resamples

ROUNDING = 1e-14
"""Sums and differences up to this share of their operands count as rounding errors (about 45 ulp)."""

_UNLIKELY = 0.01


class Estimate(NamedTuple):
    """A number, its 95% interval (NaN: none) and the interval's Student degrees of freedom."""

    value: float
    low: float = math.nan
    high: float = math.nan
    df: float = math.inf


def welch(a: ArrayLike, b: ArrayLike) -> tuple[float, float]:
    """Return Welch's t statistic, positive if the mean of `a` is larger, and its two-sided p-value."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if len(a) < 2 or len(b) < 2:
        return math.nan, math.nan
    first, second = _summary(a), _summary(b)
    if first[1] == second[1] == 0:
        return math.nan, math.nan
    result = scipy.stats.ttest_ind_from_stats(*first, *second, equal_var=False)
    return float(result.statistic), float(result.pvalue)


def is_rounding(number: float, scale: float) -> bool:
    """Return whether a sum or difference of numbers as large as `scale` is 0 except for rounding."""
    return bool(abs(number) <= ROUNDING * scale < math.inf)


def mean_interval(x: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Return a mean's interval by Student's t: NaN for fewer than two values, zero width for equal values."""
    x = np.asarray(x, dtype=np.float64)
    if len(x) < 2:
        return math.nan, math.nan
    mean, sd, n = _summary(x)
    half = scipy.stats.t.ppf((1 + level) / 2, n - 1) * sd / math.sqrt(n)
    return float(mean - half), float(mean + half)


def sd_interval(x: ArrayLike) -> tuple[float, float, float]:
    """Return the sample standard deviation (divisor n - 1) and its confidence interval by chi-square."""
    x = np.asarray(x, dtype=np.float64)
    if len(x) < 2:
        return math.nan, math.nan, math.nan
    _, sd, n = _summary(x)
    low, high = (
        float(sd * math.sqrt((n - 1) / scipy.stats.chi2.ppf(quantile, n - 1)))
        for quantile in ((1 + LEVEL) / 2, (1 - LEVEL) / 2)
    )
    return float(sd), low, high


def share_interval(hits: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return Clopper and Pearson's exact interval of the share of `hits` in `n` independent trials."""
    if n == 0:
        return math.nan, math.nan
    low, high = scipy.stats.binomtest(hits, n).proportion_ci(level, method="exact")
    return float(low), float(high)


def holm(p_values: ArrayLike) -> np.ndarray:
    """Return p-values corrected for multiple testing by Holm; NaN stays NaN and does not count as a test."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)[: np.isfinite(p).sum()]
    corrected = np.full(len(p), np.nan)
    steps = np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1))
    corrected[order] = np.minimum(steps, 1.0)
    return corrected


def central_interval(values: np.ndarray) -> tuple[float, float]:
    """Return the bounds of the central 95% of the finite values, e.g. of resamples."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return math.nan, math.nan
    low, high = np.quantile(finite, TAILS).tolist()
    return low, high


def mean_difference(a: ArrayLike, b: ArrayLike) -> Estimate:
    """Return the mean of one sample minus that of another, with Welch's 95% confidence interval."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if not len(a) or not len(b):
        return Estimate(math.nan)
    return _contrast(float(a.mean() - b.mean()), [a, b], [1.0, 1.0])


def percent_change(after: ArrayLike, before: ArrayLike) -> Estimate:
    """Return the change of a mean in percent of the mean before, of independent samples.

    The 95% interval is by the delta method, with Welch's and Satterthwaite's degrees of freedom.
    """
    after, before = np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64)
    if not len(after) or not len(before) or is_rounding(before.mean(), np.abs(before).max()):
        return Estimate(math.nan)
    base = before.mean()
    change = float(100 * (after.mean() / base - 1))
    return _contrast(change, [after, before], [100 / base, 100 * after.mean() / base**2])


def fit_columns(x: ArrayLike, y: ArrayLike, rng: np.random.Generator) -> dict[str, float]:
    """Fit y to x by ordinary least squares; return the columns of a table.

    The intervals of r² (the squared Pearson correlation) and slope are percentiles over resampled points,
    without resamples of constant x or y.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    slope = intercept = r2 = math.nan
    r2_ends = slope_ends = (math.nan, math.nan)
    if len(x) > 1:
        slope, r2 = map(float, _slopes(x, y))
        intercept = float(y.mean() - slope * x.mean())
    if len(x) < 3:
        r2 = math.nan
    if not math.isnan(r2):
        resamples = rng.integers(len(x), size=(N_RESAMPLES, len(x)))
        slopes, r2s = _slopes(x[resamples], y[resamples])
        valid = np.isfinite(r2s)
        r2_ends, slope_ends = (np.quantile(values[valid], TAILS).tolist() for values in (r2s, slopes))
    return {
        "r2": r2,
        "r2_ci_low": r2_ends[0],
        "r2_ci_high": r2_ends[1],
        "slope": slope,
        "slope_ci_low": slope_ends[0],
        "slope_ci_high": slope_ends[1],
        "intercept": intercept,
    }


def rank_correlation(x: ArrayLike, y: ArrayLike) -> float:
    """Return Spearman's correlation with mean ranks for ties; NaN for fewer than two points or a constant."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))[0, 1])


def standard_ranks(values: np.ndarray) -> np.ndarray:
    """Return the ranks of every row, scaled to mean 0 and length 1; NaN for a constant row.

    The inner product of two rows is Spearman's correlation.
    """
    ranks = scipy.stats.rankdata(values, axis=-1)
    ranks -= ranks.mean(axis=-1, keepdims=True)
    length = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, length, out=np.full_like(ranks, math.nan), where=length > 0)


def is_below_chance(first: ArrayLike, second: ArrayLike) -> bool:
    """Return whether two labellings (labels from 0) of the same items agree less often than by chance.

    The test shuffles the labels of one labelling: one-sided, normal approximation, level 1%. A constant
    labelling is uninformative, and the result is False.
    """
    first, second = np.asarray(first, np.int64), np.asarray(second, np.int64)
    n = len(first)
    if n < 2:
        return False
    k = int(max(first.max(), second.max())) + 1
    a, b = (np.bincount(labels, minlength=k) / n for labels in (first, second))
    centred = np.eye(k) - a[None, :] - b[:, None] + a @ b
    variance = n * n / (n - 1) * float(a @ centred**2 @ b)
    excess = float((first == second).sum()) - n * float(a @ b)
    return variance > 1e-9 and excess < scipy.stats.norm.ppf(_UNLIKELY) * math.sqrt(variance)


def p_value(value: float, low: float, high: float, df: float = math.inf) -> float:
    """Return the two-sided p-value of a number against zero, implied by its interval by Student's t.

    The interval should be symmetric about the number; only half of its width is used.
    """
    half = (high - low) / 2
    if not half > 0:
        return math.nan
    t = abs(value) / half * scipy.stats.t.ppf((1 + LEVEL) / 2, df)
    return float(2 * scipy.stats.t.sf(t, df))


def _contrast(value: float, samples: Sequence[np.ndarray], scales: Sequence[float]) -> Estimate:
    """Return `value`, a sum of scaled means of independent samples with any variances, and its interval.

    The interval is by Student's t with Welch's and Satterthwaite's degrees of freedom.
    """
    if min(map(len, samples)) < 2:
        return Estimate(value)
    parts = [(scale * _summary(s)[1]) ** 2 / len(s) for scale, s in zip(scales, samples, strict=True)]
    if sum(parts) == 0:
        return Estimate(value, value, value, math.inf)
    df = sum(parts) ** 2 / sum(p**2 / (len(s) - 1) for p, s in zip(parts, samples, strict=True))
    half = float(scipy.stats.t.ppf((1 + LEVEL) / 2, df) * math.sqrt(sum(parts)))
    return Estimate(value, value - half, value + half, float(df))


def _summary(x: np.ndarray) -> tuple[float, float, int]:
    """Return mean, sample standard deviation (0 if constant except for rounding) and size of a sample."""
    spread = np.ptp(x)
    varies = spread > 0 and not is_rounding(spread, np.abs(x).max())
    return x.mean(), x.std(ddof=1) if varies else 0.0, len(x)


def _slopes(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return least-squares slope and squared correlation along the last axis, NaN where undefined."""
    dx = x - x.mean(axis=-1, keepdims=True)
    dy = y - y.mean(axis=-1, keepdims=True)
    sxx = np.where(np.ptp(x, axis=-1) > 0, np.sum(dx * dx, axis=-1), math.nan)
    syy = np.where(np.ptp(y, axis=-1) > 0, np.sum(dy * dy, axis=-1), math.nan)
    sxy = np.sum(dx * dy, axis=-1)
    return sxy / sxx, (sxy / sxx) * (sxy / syy)
