"""The search for infeasible rankings: its model against the algorithms themselves, and what it finds."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from biaslab.ranking import feasibility
from biaslab.ranking.algorithms import rerank
from biaslab.ranking.feasibility import FAIR, distributions, search, search_all
from biaslab.ranking.measures import infeasible_index
from refusals import refused


def shares(numerators):
    return np.array(numerators) / sum(numerators)


def test_distributions_are_all_multisets_of_fractions_with_their_least_denominator():
    for n_values, b in itertools.product((2, 3, 4), (4, 5, 6, 8)):
        expected = {
            tuple(sorted(p))
            for p in itertools.product(range(1, b), repeat=n_values)
            if sum(p) == b and math.lcm(*(Fraction(n, b).denominator for n in p)) == b
        }
        found = list(distributions(n_values, b))
        assert set(found) == expected
        assert len(found) == len(expected)


@pytest.mark.parametrize("algorithm", FAIR[:3])
def test_rankings_take_the_values_that_the_search_follows(algorithm):
    rng = np.random.default_rng(2)
    for numerators in [(1, 2), (1, 1, 3), (2, 3, 5), (1, 1, 2, 2), (1, 2, 3, 4, 5)]:
        for _ in range(20):
            m, k = len(numerators), 2 * sum(numerators)
            attributes = np.repeat(np.arange(m), k)
            order = rerank(rng.random(m * k), attributes, shares(numerators), k, algorithm)
            counts = [0] * m
            for place, value in enumerate(attributes[order], start=1):
                assert value in feasibility.qualified_values(tuple(counts), place, numerators, algorithm)
                counts[value] += 1


def test_lists_of_det_const_sort_are_among_those_that_the_search_follows(monkeypatch):
    numerators = (2, 3, 4)
    b = sum(numerators)
    checked = set()
    original = feasibility.first_infeasible

    def check(placed, numerators):
        checked.add(tuple(value for value, _ in placed))
        return original(placed, numerators)

    monkeypatch.setattr(feasibility, "first_infeasible", check)
    monkeypatch.setattr(feasibility, "n_fixed", lambda placed: 0)  # keep whole lists apart
    assert search(numerators, "det_const_sort").violation == ()
    rng = np.random.default_rng(3)
    attributes = np.repeat(np.arange(3), b)
    for k in range(1, b + 1):
        known = {values[:k] for values in checked if len(values) >= k}
        for _ in range(200):
            order = rerank(rng.random(3 * b), attributes, shares(numerators), k, "det_const_sort")
            assert tuple(attributes[order].tolist()) in known


def witness(ranking, n_values):
    """Return candidates whose scores fall in the order of the places; every value has worse ones, too."""
    n = len(ranking)
    attributes = np.concatenate([ranking, np.repeat(np.arange(n_values), n)])
    return np.concatenate([np.linspace(1, 0.5, n), np.zeros(n * n_values)]), attributes


def test_det_greedy_is_feasible_up_to_three_values_and_fails_from_four_on():
    failing = search_all("det_greedy", 5, 10).set_index("n_values")["n_infeasible"]
    assert failing[2] == failing[3] == 0
    assert failing[4] > 0
    assert failing[5] > 0


def test_a_violation_is_a_ranking_of_the_algorithm_whose_last_prefix_is_the_first_infeasible_one():
    shares_of = [p for b in range(4, 9) for p in distributions(4, b)]
    found = {p: search(p, "det_greedy").violation for p in shares_of}
    assert next(p for p in shares_of if found[p]) == (1, 1, 2, 2)
    assert len(found[1, 1, 2, 2]) == 3
    for numerators, ranking in found.items():
        if ranking:
            k = len(ranking)
            scores, attributes = witness(ranking, 4)
            values = attributes[rerank(scores, attributes, shares(numerators), k, "det_greedy")]
            assert tuple(values.tolist()) == ranking
            assert infeasible_index(values, shares(numerators), k) == 1


@pytest.mark.parametrize(
    ("algorithm", "limit"), [("det_cons", 12), ("det_relaxed", 12), ("det_const_sort", 9)]
)
def test_the_others_are_feasible_for_all_small_distributions_and_all_scores(algorithm, limit):
    summary = search_all(algorithm, 4, limit)
    assert summary["n_infeasible"].tolist() == [0, 0, 0]
    assert summary["n_distributions"].tolist() == [
        sum(len(list(distributions(m, b))) for b in range(m, limit + 1)) for m in (2, 3, 4)
    ]


def test_search_sees_a_list_that_moves_a_candidate_too_far_back(monkeypatch):
    """With last places one too late, DetConstSort is infeasible; the search must find it."""
    original = feasibility.insert_all
    monkeypatch.setattr(feasibility, "insert_all", lambda placed, order, k: original(placed, order, k + 1))
    violation = search((1, 2, 3), "det_const_sort").violation
    assert violation
    assert infeasible_index(violation, shares((1, 2, 3)), len(violation)) == 1


def test_nothing_to_search_is_bad_input():
    with refused("no shares of 4 values have denominators up to 3"):
        search_all("det_cons", 4, 3)
