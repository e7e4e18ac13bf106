"""Test differences between methods, paired over seeds.

The paper reports means and standard deviations over ten seeds, without tests. Methods with the same seed
share their data and initial weights, so this module tests the differences within a seed.
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

_ROUNDING = 1e-12  # relative to the largest value: smaller variation counts as equal


class Difference(NamedTuple):
    """A mean difference over seeds, its 95% confidence interval and its two-sided p-value."""

    n_seeds: int
    mean_difference: float
    ci_low: float
    ci_high: float
    p_value: float
    n_higher: int  # seeds with the higher value


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Difference:
    """Return the paired t-test of values against a baseline's values, one value a seed.

    Pairs with a NaN are left out. Interval and p-value are NaN for fewer than two pairs. They are also NaN if
    all differences are equal, as for deterministic methods: without variation over seeds there is no test.
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
    """Return the differences (`Difference`) of all methods from the baseline, on every set and measure.

    The rows of the baseline itself are the null comparison: every second seed against the seed before, which
    differ by chance only.
    """
    methods = metrics["method"].unique()
    if baseline not in methods:
        raise InputError(f"baseline '{baseline}' has no results; run it first{suggest(baseline, methods)}")
    keys = ["method", "set", "seed"]
    duplicates = metrics[metrics.duplicated(keys)]
    if len(duplicates):
        names = ", ".join(f"{key} {duplicates.iloc[0][key]}" for key in keys)
        raise InputError(f"there are two rows of metrics for {names}; keep one")
    by_seed = metrics.set_index(keys)[list(measures)].unstack("seed")
    rows = [
        (method, baseline, name_of_set, measure, *difference)
        for method in methods
        for name_of_set in metrics["set"].unique()
        for measure, difference in _differences(by_seed, method, baseline, name_of_set, measures)
        if difference.n_seeds
    ]
    return pd.DataFrame(rows, columns=["method", "baseline", "set", "measure", *Difference._fields])


def _differences(
    by_seed: pd.DataFrame, method: str, baseline: str, texts: str, measures: Sequence[str]
) -> list[tuple[str, Difference]]:
    """Return the differences on one set in every measure; [] if a method was not measured on the set."""
    if not {(method, texts), (baseline, texts)} <= set(by_seed.index):
        return []
    own, other = by_seed.loc[(method, texts)], by_seed.loc[(baseline, texts)]
    if method == baseline:
        n = 2 * (len(own[measures[0]]) // 2)
        return [(name, paired_difference(own[name][1:n:2], own[name][:n:2])) for name in measures]
    return [(name, paired_difference(own[name], other[name])) for name in measures]
