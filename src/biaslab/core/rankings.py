"""How far two rankings of the same items agree: over all items, and at their ends."""

import numpy as np

from biaslab.core.stats import rank_correlation

TOP = (10, 30, 100)
"""Items at an end of a ranking whose overlap is measured."""


def agreement(a: np.ndarray, b: np.ndarray, ends: tuple[str, str]) -> dict[tuple[str, str, int], float]:
    """Return rank correlation and overlaps of two rankings of n items by the numbers `a` and `b`, (n,).

    Equal values are in the order of the items. The result is by measure, end and top: ``("spearman", "",
    0)``, and ``("overlap", end, top)``, the share of the `top` items at one of `ends` (that of the largest
    values, that of the smallest) that both have there, for every `top` of ``TOP`` that is at most half of all
    items.
    """
    found = {("spearman", "", 0): rank_correlation(a, b)}
    first, second = np.argsort(a, kind="stable"), np.argsort(b, kind="stable")
    for top in TOP:
        if 2 * top <= len(a):
            for end, part in zip(ends, (slice(-top, None), slice(top)), strict=True):
                shared = np.intersect1d(first[part], second[part])
                found["overlap", end, top] = len(shared) / top
    return found
