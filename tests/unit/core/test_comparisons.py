"""Comparisons of groups: permutation tests, false alarms, intervals of rates, and least differences."""

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from numpy.testing import assert_allclose

from biaslab.core.comparisons import GroupTest, compare_groups, pair_level, ratio_intervals
from biaslab.core.rates import difference_interval, ratio_interval, verdict
from biaslab.core.simultaneous import (
    find_largest_difference,
    find_least_gap,
    find_least_mean,
    find_least_rate,
)
from biaslab.core.stats import mean_interval
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


def made(lists):
    groups = sorted({g for members, _ in lists for g in members})
    hits = [[sum(h for g, h in zip(*of, strict=True) if g == group) for group in groups] for of in lists]
    return np.array(hits), np.array([[of[0].count(group) for group in groups] for of in lists])


@pytest.mark.parametrize(
    ("lists", "ties"),
    [
        ([("aaabbbcc", [1, 1, 1, 0, 0, 0, 1, 0])], ()),
        ([("aaabb", [1, 1, 0, 0, 0]), ("aabb", [1, 0, 0, 0]), ("abb", [1, 0, 0])], ()),
        ([("aabbc", [1, 1, 0, 0, 0]), ("abc", [1, 0, 0])], ()),
        ([("aaabbbcc", [1, 1, 0.5, 0.5, 0, 0, 0, 0])], ([2], [0.5])),  # which have shares of a hit
    ],
)
def test_p_values_are_those_of_all_permutations(lists, ties):
    lists = [(list(members), hits) for members, hits in lists]
    p_values = compare_groups(*made(lists), *ties).p_values
    assert p_values == pytest.approx(list(naive.p_values(lists).values()), abs=0.03)


def without_ties(n, places):
    """Return the test of lists with so many candidates of each group, and with so many places each."""
    nothing = np.zeros(len(n))
    return GroupTest(n, np.full(len(n), places), nothing.astype(np.int64), nothing)


@pytest.mark.parametrize(("n_groups", "n_lists", "size"), [(2, 1, 15), (12, 60, 4), (3, 8, 10)])
def test_equal_groups_differ_in_5_of_100_files_at_most(n_groups, n_lists, size):
    rng, n = np.random.default_rng(4), np.full((n_lists, n_groups), size)
    places = n_groups * size // 4
    test = without_ties(n, places)
    hits = rng.multivariate_hypergeometric(n[0], places, (2000, n_lists))
    assert np.mean(test.p_values(hits).min(axis=1) <= 0.05) < 0.065


def test_lists_that_prefer_a_group_each_their_own_give_no_false_alarm():
    """In each list some groups have much better chances, by a fair draw: over lists all are alike."""
    rng, n = np.random.default_rng(5), np.full((12, 4), 20)
    test = without_ties(n, 20)
    favour = np.repeat(rng.normal(0, 0.8, (1000, 12, 4)), 20, axis=2)
    top = np.argpartition(-(rng.gumbel(size=favour.shape) + favour), 20, axis=2)[:, :, :20] // 20
    hits = np.stack([(top == v).sum(axis=2) for v in range(4)], axis=2)
    assert np.mean(test.p_values(hits).min(axis=1) <= 0.05) < 0.065


@pytest.mark.parametrize(("n", "places", "v"), [([31, 60], 30, 0), ([6, 10, 12], 7, 1)])
def test_a_least_difference_is_seen_four_times_in_five(n, places, v):
    n_lists, mine, size = 15 if len(n) == 3 else 1, n[v], sum(n)
    test = without_ties(np.tile(n, (n_lists, 1)), places)
    rate = test.least_rates(test.expected)[0][v]
    fisher = scipy.stats.nchypergeom_fisher
    odds = scipy.optimize.brentq(lambda w: fisher.mean(size, mine, places, w) / mine - rate, 1e-4, 1)
    rng = np.random.default_rng(6)
    hits = np.zeros((4000, n_lists, len(n)), np.int64)
    hits[..., v] = fisher.rvs(size, mine, places, odds, size=hits.shape[:2], random_state=rng)
    first, *last = (w for w in range(len(n)) if w != v)
    left = places - hits[..., v]
    hits[..., first] = rng.hypergeometric(n[first], size - mine - n[first], left) if last else left
    for w in last:
        hits[..., w] = left - hits[..., first]
    assert np.mean(test.p_values(hits)[:, v] <= 0.05) == pytest.approx(0.8, abs=0.02)


def test_small_groups_are_too_few_and_none_disappears():
    found = compare_groups([40, 1, 0, 0, 30], [100, 1, 4, 200, 90])
    assert found.is_too_few.tolist() == [False, True, True, False, False]
    assert np.isfinite(found.p_values).all()
    assert found.p_value == found.p_values[3] == pytest.approx(1 / 10000)
    assert found.other_rates[0] > found.least_rates[0]
    assert np.isnan(compare_groups([0, 0], [5, 5]).p_value)  # nobody chosen: nothing can differ
    assert np.isnan(compare_groups([5, 5, 0], [5, 5, 0]).p_values).all()
    assert np.isnan(compare_groups([2, 5, 0], [5, 8, 0]).p_values).tolist() == [False, False, True]


def test_many_lists_are_compared_without_permutations():
    rng = np.random.default_rng(7)
    hits = rng.multivariate_hypergeometric([5, 4, 3, 2], 4, 9000)
    n = np.tile([5, 4, 3, 2], (9000, 1))
    found = compare_groups(hits, n)
    assert 0.01 < found.p_value <= 1
    assert (found.other_rates - found.least_rates < 0.03).all()
    hits[:2000] = [1, 1, 1, 1]
    assert compare_groups(hits, n).p_value < 1e-6


def test_simultaneous_intervals_count_the_pairs():
    hits, n = [12, 20, 3], [40, 45, 20]
    assert pair_level(3) == pytest.approx(1 - 0.05 / 3)
    assert pair_level(12, 1) == pytest.approx(1 - 0.05 / 11)
    assert pair_level(4, 2) == pytest.approx(1 - 0.05 / 5)
    assert_allclose(ratio_intervals(hits, n, 1)[0], ratio_interval(12, 40, 20, 45, 1 - 0.05 / 3))
    named = ratio_intervals(hits, n, 1, is_named=True)
    assert_allclose(named[2], ratio_interval(3, 20, 20, 45, 1 - 0.05 / 2))


def test_intervals_of_lists_have_the_variance_over_lists():
    n = np.full((20, 2), 10)
    alike, apart = np.tile([4, 5], (20, 1)), np.tile([[0, 9], [8, 1]], (10, 1))
    assert np.diff(ratio_intervals(apart, n, 1)[0]) > 3 * np.diff(ratio_intervals(alike, n, 1)[0])
    n[1:, 0] = 0
    assert np.isnan(ratio_intervals(np.minimum(alike, n), n, 1)[0]).all()  # a single list has the group


N_FILES = 250
LOW, HIGH = 0.72, 0.88  # three standard errors of 250 files


def groups(*sizes):
    """Return which rows each group has; the first is the reference, which has its own rows."""
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    return of_row[:, None] == np.arange(len(sizes))


@pytest.mark.parametrize(("sizes", "rate"), [((60, 30, 45), 0.1), ((120, 40, 40, 40), 0.3)])
def test_a_least_rate_is_told_four_times_in_five(sizes, rate):
    members, rng = groups(*sizes), np.random.default_rng(1)
    calm = rng.random(len(members)) < rate
    critical = find_largest_difference(calm, members[:, 1:], members[:, 0], rng).critical
    gap = find_least_rate(sizes[1], sizes[0], rate, len(members), critical, 0.0)
    n_told = 0
    for _ in range(N_FILES):
        values = rng.random(len(members)) < np.where(members[:, 1], rate + gap, rate)
        p_values = find_largest_difference(values, members[:, 1:], members[:, 0], rng).p_values
        n_told += p_values[0, 0] <= 0.05
    assert LOW < n_told / N_FILES < HIGH


def test_a_least_gap_is_told_four_times_in_five():
    members, rng = groups(40, 25, 30), np.random.default_rng(2)
    n_told = 0
    for _ in range(N_FILES):
        values = rng.beta(2, 1, len(members))
        test = find_largest_difference(values, members[:, 1:], members[:, 0], rng)
        gap = find_least_gap(values[members[:, 1]], values[members[:, 0]], values, test.critical)
        values = rng.beta(2, 1, len(members)) - gap * members[:, 1]
        p_values = find_largest_difference(values, members[:, 1:], members[:, 0], rng).p_values
        n_told += p_values[0, 0] <= 0.05
    assert LOW < n_told / N_FILES < HIGH


@pytest.mark.parametrize("n", [5, 200])
def test_a_least_mean_is_told_four_times_in_five(n):
    rng, n_told = np.random.default_rng(3), 0
    scale = find_least_mean(np.tile([-1.0, 1.0], n)[:n]) / np.tile([-1.0, 1.0], n)[:n].std(ddof=1)
    for _ in range(N_FILES):
        low, high = mean_interval(rng.normal(scale, 1, n))
        n_told += low > 0 or high < 0
    assert LOW < n_told / N_FILES < HIGH


def test_too_few_rows_tell_nothing():
    assert np.isnan(find_least_gap([0.5], [0.1, 0.4, 0.3], [0.5, 0.1, 0.4, 0.3], 2.0))
    assert np.isnan(find_least_gap([0.5, 0.5], [0.5, 0.5], [0.5, 0.5, 0.5, 0.5], 2.0))
    assert np.isnan(find_least_mean([0.5]))
    assert np.isnan(find_least_rate(2, 3, 0.5, 5, 3.0, 0.0))
