"""Differences between methods, paired over seeds.

The paper prints means and standard deviations over ten seeds and tests no difference. Methods share a seed's
data and initial weights, so the differences within a seed are what is tested.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError, suggest
from biaslab.core.stats import mean_interval
from biaslab.hate_speech.metrics import MEASURES

_ROUNDING = 1e-12  # of the largest value: differences that vary less are equal


class Difference(NamedTuple):
    """A mean difference over seeds, its 95% confidence interval and its two-sided p-value."""

    n_seeds: int
    mean_difference: float
    ci_low: float
    ci_high: float
    p_value: float
    n_higher: int  # seeds with the higher value


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Difference:
    """Return by how much values, one a seed, are higher than a baseline's, by the paired t-test.

    Pairs with a NaN are left out. Interval and p-value are NaN for fewer than two pairs and when all
    differences are equal: what does not vary over seeds, as between methods without chance, cannot be tested
    by them.
    """
    pairs = np.array([values, baseline], dtype=np.float64)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    differences = pairs[0] - pairs[1]
    n = len(differences)
    if not n:
        return Difference(0, math.nan, math.nan, math.nan, math.nan, 0)
    mean, n_higher = float(differences.mean()), int((differences > 0).sum())
    if n < 2 or np.ptp(differences) <= _ROUNDING * np.abs(pairs).max():
        return Difference(n, mean, math.nan, math.nan, math.nan, n_higher)
    p_value = float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)
    return Difference(n, mean, *mean_interval(differences), p_value, n_higher)


def paired_differences(
    metrics: pd.DataFrame, baseline: str, measures: Sequence[str] = MEASURES
) -> pd.DataFrame:
    """Return the differences (`Difference`) of all methods from one, on every set, in every measure.

    The rows of the baseline itself are the null: its every second seed against the one before, which differ
    by chance alone.
    """
    methods = metrics["method"].unique()
    if baseline not in methods:
        raise InputError(f"baseline '{baseline}' has no results; run it as well{suggest(baseline, methods)}")
    keys = ["method", "set", "seed"]
    twice = metrics[metrics.duplicated(keys)]
    if len(twice):
        names = ", ".join(f"{key} {twice.iloc[0][key]}" for key in keys)
        raise InputError(f"two rows of metrics for {names}; leave one")
    by_seed = metrics.set_index(keys)[list(measures)].unstack("seed")
    rows = [
        (method, baseline, texts, name, *difference)
        for method in methods
        for texts in metrics["set"].unique()
        for name, difference in _differences(by_seed, method, baseline, texts, measures)
        if difference.n_seeds
    ]
    return pd.DataFrame(rows, columns=["method", "baseline", "set", "measure", *Difference._fields])


def _differences(
    by_seed: pd.DataFrame, method: str, baseline: str, texts: str, measures: Sequence[str]
) -> list[tuple[str, Difference]]:
    """Return the differences on one set in every measure; none where a method was not measured on it."""
    if not {(method, texts), (baseline, texts)} <= set(by_seed.index):
        return []
    one, other = by_seed.loc[(method, texts)], by_seed.loc[(baseline, texts)]
    if method == baseline:
        n = 2 * (len(one[measures[0]]) // 2)
        return [(name, paired_difference(one[name][1:n:2], one[name][:n:2])) for name in measures]
    return [(name, paired_difference(one[name], other[name])) for name in measures]
