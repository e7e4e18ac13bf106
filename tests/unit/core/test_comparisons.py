"""Comparisons of several groups: the test against all permutations, false alarms, least differences."""

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from numpy.testing import assert_allclose

from biaslab.core.comparisons import GroupTest, compare_groups, pair_level, ratio_intervals
from biaslab.core.rates import ratio_interval
from naive import group_comparisons as naive


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
