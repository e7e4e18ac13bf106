"""The conventions of the measures, and the worked example of the slides."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.ranking import measures
from refusals import refused

WORKED = np.repeat([0, 1], [20, 80])  # 20 men and 80 women in the top 100, of 32,000 men and 48,000 women
WORKED_SHARES = [0.4, 0.6]


def test_worked_example_with_natural_logarithms():
    skews = measures.skew(WORKED, WORKED_SHARES, 100)
    assert_allclose(skews, [math.log(0.5), math.log(4 / 3)], rtol=1e-14)


def test_skew_of_absent_and_of_unwanted_values():
    assert measures.skew([0, 0], [0.5, 0.5], 2).tolist() == [math.log(2), -math.inf]
    assert measures.skew([0, 1], [1.0, 0.0], 2)[1] == math.inf
    assert measures.skew([0, 0], [1.0, 0.0], 2).tolist() == [0.0, 0.0]


def test_ndcg_by_hand():
    gain, ideal = 1.0 + 2.0 / math.log2(3), 2.0 + 1.0 / math.log2(3)
    assert_allclose(measures.ndcg([1.0, 2.0], [1.0, 2.0], 2), gain / ideal, rtol=1e-14)
    assert measures.ndcg([1.0], [1.0, 2.0], 1) == 0.5  # the best candidate was left out
    assert measures.ndcg([0.0, 0.0], [0.0, 0.0], 2) == 1.0
    assert math.isnan(measures.ndcg([-1.0, 2.0], [-1.0, 2.0], 2))


def test_single_measures_are_those_of_measure():
    rng = np.random.default_rng(1)
    scores, attributes, desired = rng.random(40), rng.integers(0, 3, 40), [0.2, 0.3, 0.5]
    order = rng.permutation(40)[:25]
    values = attributes[order]
    for k in (1, 7, 25, 40):
        found = measures.measure(scores, attributes, desired, order, k)
        skews = measures.skew(values, desired, k)
        assert (found.min_skew, found.max_skew) == (skews.min(), skews.max())
        assert found.infeasible_index == measures.infeasible_index(values, desired, k)
        assert found.ndkl == measures.ndkl(values, desired, k)
        assert found.ndcg == measures.ndcg(scores[order], scores, k)


@pytest.mark.parametrize(
    ("message", "function", "arguments"),
    [
        ("ranking is empty", measures.measure, ([1.0], [0], [1.0], np.empty(0, np.int64), 1)),
        ("ranking is empty", measures.ndcg, ([], [], 1)),
        ("k is 0", measures.skew, ([0, 1], [0.5, 0.5], 0)),
        ("list is empty", measures.ndkl, ([], [0.5, 0.5], 1)),
        ("value 2 has no desired share", measures.infeasible_index, ([0, 2], [0.5, 0.5], 2)),
    ],
)
def test_bad_input(message, function, arguments):
    with refused(message):
        function(*arguments)
