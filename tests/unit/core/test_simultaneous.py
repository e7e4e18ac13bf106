"""Least differences are told four times in five: drawn again and again at just that difference."""

import numpy as np
import pytest

from biaslab.core.simultaneous import (
    find_largest_difference,
    find_least_gap,
    find_least_mean,
    find_least_rate,
)
from biaslab.core.stats import mean_interval

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
