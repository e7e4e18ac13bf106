"""Tests, fits and intervals of small samples, and random streams."""

import math
import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.rng import stream
from biaslab.core.stats import (
    fit_columns,
    is_below_chance,
    mean_difference,
    mean_interval,
    rank_correlation,
    sd_interval,
    share_interval,
    welch,
)
from naive import bias as naive

RTOL = 1e-8


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


seeds = st.integers(0, 2**32 - 1)


@given(seeds, st.integers(2, 12), st.integers(2, 12))
def test_welch_is_the_textbook_formula(seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, rng.uniform(0.1, 5), n), rng.normal(1, rng.uniform(0.1, 5), m)
    t, p = naive.welch(a.tolist(), b.tolist())
    assert welch(a, b) == pytest.approx((t, p), rel=RTOL, abs=1e-9)
    assert welch(b, a) == pytest.approx((-t, p), rel=RTOL, abs=1e-9)
    assert welch(a, b) == pytest.approx(tuple(scipy.stats.ttest_ind(a, b, equal_var=False)), rel=RTOL)


def test_welch_with_one_constant_sample():
    a, b = [0.1, 0.1, 0.1], [0.2, 0.3, 0.5]
    t, p = welch(a, b)
    one_sample = scipy.stats.ttest_1samp(b, 0.1)
    assert (-t, p) == pytest.approx((one_sample.statistic, one_sample.pvalue))


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_mean_intervals_are_students(level):
    sample = np.random.default_rng(1).normal(3, 2, size=4)
    expected = scipy.stats.ttest_1samp(sample, 0).confidence_interval(level)
    assert mean_interval(sample, level) == pytest.approx(tuple(expected))


FIT = ("slope", "intercept", "r2", "r2_ci_low", "r2_ci_high", "slope_ci_low", "slope_ci_high")


def fit(x, y):
    columns = fit_columns(x, y, np.random.default_rng(7))
    assert set(columns) == set(FIT)
    return tuple(columns[name] for name in FIT)


@pytest.mark.parametrize(
    ("function", "arguments", "expected"),
    [
        (welch, ([1], [1, 2]), (math.nan, math.nan)),
        (welch, ([1, 2], []), (math.nan, math.nan)),
        (welch, ([0.1] * 3, [0.1] * 3), (math.nan, math.nan)),
        (welch, ([0.1] * 3, [0.2] * 3), (math.nan, math.nan)),
        (mean_interval, ([1.0],), (math.nan, math.nan)),
        (mean_interval, ([0.1] * 3,), (0.1, 0.1)),
        (sd_interval, ([1.0],), (math.nan,) * 3),
        (sd_interval, ([0.1] * 3,), (0, 0, 0)),
        (share_interval, (0, 0), (math.nan, math.nan)),
        (mean_difference, ([], [1.0, 2.0]), (*[math.nan] * 3, math.inf)),
        (mean_difference, ([3.0], [1.0, 2.0]), (1.5, math.nan, math.nan, math.inf)),
        (fit, ([1.0], [2.0]), (math.nan,) * 7),
        (fit, ([0.1] * 3, [1.0, 2.0, 3.0]), (math.nan,) * 7),
        (fit, ([1.0, 2.0, 3.0], [0.1] * 3), (0, 0.1, *[math.nan] * 5)),
        (fit, ([1.0, 2.0], [3.0, 5.0]), (2, 1, *[math.nan] * 5)),
        (rank_correlation, ([1.0], [2.0]), math.nan),
    ],
)
def test_what_too_little_cannot_tell_is_nan(function, arguments, expected):
    assert function(*arguments) == pytest.approx(expected, rel=1e-15, nan_ok=True)


def test_what_differs_by_rounding_alone_is_constant():
    assert mean_interval([0.3, 0.1 * 3, 0.3]) == pytest.approx((0.3, 0.3), rel=1e-15)
    low, high = mean_interval([0.3, 0.1 * 3, 0.3])
    assert low == high
    assert np.isnan(welch([0.3, 0.1 * 3], [0.5, 0.5])).all()
    low, high = mean_interval([1.0, 1.0 + 1e-12])
    assert low < high


def test_sd_intervals_cover_the_standard_deviation():
    samples = np.random.default_rng(2).normal(3, 2, size=(2000, 5))
    found = np.array([sd_interval(sample) for sample in samples])
    np.testing.assert_allclose(found[:, 0], samples.std(axis=1, ddof=1))
    assert ((found[:, 1] <= 2) & (found[:, 2] >= 2)).mean() == pytest.approx(0.95, abs=0.02)


@given(st.integers(0, 12), st.integers(1, 12), st.sampled_from([0.5, 0.95]))
def test_share_interval_is_clopper_and_pearsons(hits, n, level):
    hits, tail = min(hits, n), (1 - level) / 2
    low = scipy.stats.beta.ppf(tail, hits, n - hits + 1) if hits else 0
    high = scipy.stats.beta.ppf(1 - tail, hits + 1, n - hits) if hits < n else 1
    assert share_interval(hits, n, level) == pytest.approx((low, high), abs=1e-9)


@given(seeds, st.integers(2, 12), st.integers(2, 12))
def test_mean_difference_has_welchs_interval(seed, n, m):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, rng.uniform(0.1, 5), n), rng.normal(1, rng.uniform(0.1, 5), m)
    expected = scipy.stats.ttest_ind(a, b, equal_var=False).confidence_interval()
    assert mean_difference(a, b)[:3] == pytest.approx((a.mean() - b.mean(), *expected), rel=RTOL)


@given(seeds, st.integers(3, 30), st.floats(0.1, 10))
def test_linear_fit_is_least_squares(seed, n, noise):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = 3 * x - 1 + noise * rng.normal(size=n)
    slope, intercept, r2, *_ = fit(x, y)
    assert slope == pytest.approx(naive.slope(x.tolist(), y.tolist()), rel=RTOL)
    assert r2 == pytest.approx(naive.r_squared(x.tolist(), y.tolist()), rel=RTOL, abs=1e-9)
    reference = scipy.stats.linregress(x, y)
    expected = (reference.slope, reference.intercept, reference.rvalue**2)
    assert (slope, intercept, r2) == pytest.approx(expected, rel=RTOL, abs=1e-9)


def test_bootstrap_intervals_are_percentiles_of_resampled_fits():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(2, 4))  # so few points that some resamples repeat one of them
    y[1] = y[0]
    fits = []
    for chosen in np.random.default_rng(7).integers(4, size=(2000, 4)):
        a, b = x[chosen].tolist(), y[chosen].tolist()
        if len(set(a)) > 1 and len(set(b)) > 1:
            fits.append((naive.r_squared(a, b), naive.slope(a, b)))
    assert len(fits) < 2000
    r2_low, slope_low = np.percentile(fits, 2.5, axis=0)
    r2_high, slope_high = np.percentile(fits, 97.5, axis=0)
    assert fit(x, y)[3:] == pytest.approx((r2_low, r2_high, slope_low, slope_high))


@given(seeds, st.integers(2, 12))
def test_rank_correlation_is_scipys(seed, n):
    x, y = np.random.default_rng(seed).integers(0, 5, (2, n)).astype(float)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert math.isnan(rank_correlation(x, y))
    else:
        assert rank_correlation(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_agreement_below_chance(k):
    rng = np.random.default_rng(5)
    truth = rng.integers(0, k, 400)
    found = np.where(rng.random(400) < 0.3, truth, rng.integers(0, k, 400))
    assert is_below_chance(
        (found + 1) % k if k == 2 else np.where(found == truth, (found + 1) % k, found), truth
    )
    assert not is_below_chance(found, truth)
    assert not is_below_chance(np.zeros(400, int), truth)  # says the same of all
    assert not is_below_chance([0], [1])
    by_luck = [is_below_chance(rng.permutation(found), truth) for _ in range(1000)]
    assert 0 < sum(by_luck) < 25


def test_streams_are_equal_where_their_names_are():
    names = [(1, "train", 3), (2, "train", 3), (1, "train", 4), (1, "train"), (1, "draw", 3), (1, 3, "train")]
    assert len({stream(*name).random() for name in names}) == len(names)
    assert np.array_equal(stream(1, "train", 3).random(5), stream(1, "train", 3).random(5))
