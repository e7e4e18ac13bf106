"""Ratios of two rates and their intervals."""

import math

import numpy as np
import pytest
import scipy.stats

from biaslab.core.rates import difference_interval, ratio_interval, verdict
from naive import group_comparisons as naive

LIMIT = scipy.stats.chi2.ppf(0.95, 1)


@pytest.mark.parametrize(
    ("x", "m", "y", "k"), [(12, 31, 1, 1), (4, 10, 8, 12), (31, 31, 1, 1), (3, 7, 6, 6), (4, 40, 9, 30)]
)
def test_the_interval_is_that_of_a_grid(x, m, y, k):
    low, high = ratio_interval(x, m, y, k)
    assert (low, high) == pytest.approx(naive.ratio_interval(x, m, y, k, LIMIT), rel=0.01)


def test_a_ratio_lies_in_its_interval_also_where_nobody_was_chosen():
    hits, n = np.array([0, 0, 1, 12, 25]), np.array([11, 1000, 31, 40, 25])
    low, high = ratio_interval(hits, n, 109, 343)
    ratios = hits / n / (109 / 343)
    assert (low <= ratios).all()
    assert (ratios <= high).all()
    assert low[:2].tolist() == [0, 0]
    assert (low[2:] > 0).all()
    assert high[1] < high[0]  # more that were not chosen tell more


def test_no_candidates_have_no_interval_and_a_rate_of_zero_bounds_no_ratio():
    assert np.isnan(ratio_interval([0, 3], [0, 5], 2, [4, 0])).all()
    assert ratio_interval(3, 5, 0, 4)[1] == np.inf


def test_higher_levels_and_clusters_make_intervals_wider():
    low, high = ratio_interval(12, 31, 20, 40)
    for how in ({"level": 0.99}, {"inflation": 2.0}, {"df": 5}):
        wide = ratio_interval(12, 31, 20, 40, **how)
        assert wide[0] < low
        assert wide[1] > high
        assert np.isnan(ratio_interval(12, 31, 20, 40, df=0)).all()
    assert difference_interval(12, 31, 20, 40, 0.99)[0] < difference_interval(12, 31, 20, 40)[0]


@pytest.mark.parametrize(
    ("ratio", "low", "high", "expected"),
    [
        (math.nan, 0, math.nan, "cannot be told"),
        (0.5, math.nan, math.nan, "cannot be told"),
        (0.9, math.nan, 1.2, "cannot be told"),
        (math.inf, 0.9, math.inf, "cannot be told"),
        (0.5, 0.4, 0.7, "below four fifths"),
        (0.5, 0.2, 0.9, "below four fifths, but the interval reaches them"),
        (0.9, 0.85, 1.2, "four fifths or more"),
        (0.9, 0.7, math.inf, "four fifths or more, but the interval reaches below"),
    ],
)
def test_what_is_missing_cannot_be_told(ratio, low, high, expected):
    assert verdict(ratio, low, high) == expected
