"""The rankings against their oracles, their ties, exhausted values and bad input."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from biaslab.ranking.algorithms import ALGORITHMS, rerank, rerank_report
from biaslab.ranking.measures import measure
from biaslab.ranking.targets import targets
from naive import ranking as naive
from refusals import refused

N_CASES = 4000  # lists; each is ranked by the four algorithms and by score


def random_list(rng):
    """Draw a small list with ties, shares of zero and one, empty values and values that run out."""
    m, n = int(rng.integers(1, 5)), int(rng.integers(1, 11))
    weights = rng.integers(0, 5, m)
    weights[rng.integers(m)] += 1
    desired = [Fraction(int(w), int(weights.sum())) for w in weights]
    scores = rng.integers(0, 6, n) / 4 if rng.random() < 0.5 else rng.random(n)
    return scores, rng.integers(0, m, n), desired, int(rng.integers(1, 13))


@pytest.mark.slow
def test_orders_and_measures_are_those_of_the_oracles():
    rng = np.random.default_rng(4)
    seen = set()
    for case in range(N_CASES):
        scores, attributes, desired, k = random_list(rng)
        shares = np.array(desired, float)
        as_lists = scores.tolist(), attributes.tolist()
        for algorithm in ALGORITHMS:
            order, n_exhausted = naive.rank_fairly(*as_lists, desired, k, algorithm)
            ours = rerank_report(scores, attributes, shares, k, algorithm)
            assert ours.order.tolist() == order
            assert ours.n_exhausted == n_exhausted
            seen.add((algorithm, n_exhausted > 0, k > len(scores)))
            if case % 10 == 0:
                expected = naive.ranking_measures(*as_lists, desired, order)
                found = measure(scores, attributes, shares, ours.order, k)
                assert found[:2] == expected[:2]
                assert_allclose(found[2:], expected[2:], rtol=1e-12, atol=1e-12)
    assert len(seen) == 4 * 4 + 2  # the ranking by score is never exhausted


def test_targets_of_all_small_rationals_are_exact():
    for denominator in range(1, 41):
        for numerator in range(denominator // 2 + 1):
            p = Fraction(numerator, denominator)
            floors, ceilings = targets([float(p), float(1 - p)], 400)
            k = np.arange(1, 401)
            for column, n in enumerate((numerator, denominator - numerator)):
                assert_array_equal(floors[:, column], k * n // denominator)
                assert_array_equal(ceilings[:, column], -(-k * n // denominator))


def test_targets_where_float_products_are_wrong():
    assert 3 * 0.1 > 0.3  # so that ceil(3 x 0.1 x 10) is 4 without a tolerance
    floors, ceilings = targets([0.1 * 3, 0.7], 10)
    assert floors[-1].tolist() == ceilings[-1].tolist() == [3, 7]
    floors, _ = targets([0.29, 0.71], 100)
    assert int(100 * 0.29) == 28
    assert floors[-1].tolist() == [29, 71]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_list_larger_than_any_table_of_counts_ends(algorithm):
    rng = np.random.default_rng(0)
    scores, attributes = rng.random(20_000), rng.integers(0, 3, 20_000)
    order = rerank(scores, attributes, [1e-12, 0.3, 0.7 - 1e-12], 20_000, algorithm)
    assert_array_equal(np.sort(order), np.arange(20_000))


BAD = {
    "sum to 0.9": {"desired": [0.5, 0.4]},
    "share of value 1 is -0.5": {"desired": [1.5, -0.5]},
    "share of value 0 is nan": {"desired": [np.nan, 1.0]},
    "share of value 1 is inf": {"desired": [0.5, np.inf]},
    "has no values": {"desired": []},
    "candidate 1: the score is nan": {"scores": [1.0, np.nan, 2.0]},
    "candidate 0: the score is inf": {"scores": [np.inf, 1.0, 2.0]},
    "candidate 2: attribute value 2 has no": {"attributes": [0, 1, 2]},
    "candidate 0: attribute value -1 has no": {"attributes": [-1, 1, 1]},
    "attributes have the type float64": {"attributes": [0.0, 1.0, 1.0]},
    r"attributes \(2,\); give one score": {"attributes": [0, 1]},
    "k is 0": {"k": 0},
    "k is -3": {"k": -3},
    "list is empty": {"scores": [], "attributes": []},
    "did you mean 'det_greedy'": {"algorithm": "det_gredy"},
}


@pytest.mark.parametrize("message", BAD)
def test_bad_input_is_one_clear_line(message):
    good = {
        "scores": [3.0, 2.0, 1.0],
        "attributes": [0, 1, 1],
        "desired": [0.5, 0.5],
        "k": 2,
        "algorithm": "det_cons",
    }
    assert rerank(**good).tolist() == [0, 1]
    with refused(message):
        rerank(**{**good, **BAD[message]})


@pytest.mark.parametrize("algorithm", ALGORITHMS[1:])
def test_value_that_runs_out_leaves_its_places_to_the_best_of_the_others(algorithm):
    scores = np.array([0.1, 0.9, 0.8, 0.7, 0.6, 0.5])
    attributes = np.array([0, 1, 1, 1, 2, 2])
    ours = rerank_report(scores, attributes, [1, 0, 0], 6, algorithm)
    assert ours.order.tolist()[:1] == [0] or algorithm == "det_const_sort"
    assert sorted(ours.order.tolist()) == [0, 1, 2, 3, 4, 5]
    assert ours.n_exhausted == 5
