"""Rates of groups compared: the four-fifths rule, and intervals of ratios and differences of two rates."""

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike

from biaslab.core.stats import LEVEL

FOUR_FIFTHS = 0.8
"""The least ratio to the highest rate by the US guidelines on employee selection (29 CFR 1607.4 D, 1978)."""
SMALL_SHARE = 0.02
"""The least share of all that a group must have to be the one that others are compared with, as there."""


def reference_of(rates: ArrayLike, sizes: ArrayLike) -> int:
    """Return the group with the highest rate, of those that are not too small."""
    rates, sizes = np.asarray(rates, np.float64), np.asarray(sizes, np.float64)
    usable = (sizes >= SMALL_SHARE * sizes.sum()) & np.isfinite(rates)
    return int(np.argmax(np.where(usable, rates, -1.0)))


def ratio_interval(hits: ArrayLike, n: ArrayLike, of_hits: int, of_n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return intervals of hits / n over of_hits / of_n, independent samples (Walter 1975).

    Without hits the ratio is 0, which the half that is added to every count would leave out.
    """
    a, b, c, d = (np.asarray(x, np.float64) + 0.5 for x in (hits, n, of_hits, of_n))
    middle = np.log(a / b) - np.log(c / d)
    half = scipy.stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(1 / a - 1 / b + 1 / c - 1 / d)
    low = np.where(np.asarray(hits) == 0, 0.0, np.exp(middle - half))
    return low, np.exp(middle + half)


def difference_interval(hits: int, n: int, of_hits: int, of_n: int) -> tuple[float, float]:
    """Return the interval of hits / n minus of_hits / of_n, of independent samples (Newcombe 1998)."""
    if not n or not of_n:
        return math.nan, math.nan
    p, q = hits / n, of_hits / of_n
    (low, high), (of_low, of_high) = (
        scipy.stats.binomtest(int(k), int(m)).proportion_ci(LEVEL, method="wilson")
        for k, m in ((hits, n), (of_hits, of_n))
    )
    down, up = math.hypot(p - low, of_high - q), math.hypot(high - p, q - of_low)
    return p - q - down, p - q + up


def verdict(ratio: float, low: float, high: float) -> str:
    """Say what the four-fifths rule makes of a ratio, and whether chance leaves that open."""
    if ratio < FOUR_FIFTHS:
        text, doubt, is_clear = "below four fifths", "but the interval reaches them", high < FOUR_FIFTHS
    else:
        text, doubt, is_clear = "four fifths or more", "but the interval reaches below", low >= FOUR_FIFTHS
    return text if is_clear else f"{text}, {doubt}"
