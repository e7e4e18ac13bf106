"""Ratios of two rates and their intervals."""

import numpy as np
import pytest

from biaslab.core.rates import ratio_interval


def test_a_ratio_lies_in_its_interval_also_where_nobody_was_chosen():
    hits, n = np.array([0, 0, 1, 12, 25]), np.array([11, 1000, 31, 40, 25])
    low, high = ratio_interval(hits, n, 109, 343)
    ratios = hits / n / (109 / 343)
    assert (low <= ratios).all()
    assert (ratios <= high).all()
    assert low[:2].tolist() == [0, 0]
    assert (low[2:] > 0).all()
    assert high[1] < high[0]  # more that were not chosen tell more


def test_the_interval_is_walters():
    """Worked out by hand: (4.5 / 10.5) / (8.5 / 12.5), and 1.96 times the standard error of its logarithm."""
    low, high = ratio_interval([4], [10], 8, 12)
    middle, error = np.log(4.5 / 10.5 / (8.5 / 12.5)), np.sqrt(1 / 4.5 - 1 / 10.5 + 1 / 8.5 - 1 / 12.5)
    assert low[0] == pytest.approx(np.exp(middle - 1.959964 * error), rel=1e-6)
    assert high[0] == pytest.approx(np.exp(middle + 1.959964 * error), rel=1e-6)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    draw, n = np.random.default_rng(3), 4000
    hits, others = draw.binomial(60, 0.2, n), draw.binomial(80, 0.4, n)
    bounds = np.array([ratio_interval([a], [60], b, 80) for a, b in zip(hits, others, strict=True)])[:, :, 0]
    assert 0.93 < np.mean((bounds[:, 0] <= 0.5) & (bounds[:, 1] >= 0.5)) < 0.97
