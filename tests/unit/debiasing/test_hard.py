"""Neutralize and equalize: the paper's formulas, and what they promise."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.debiasing.hard import equalize, hard_debias, neutralize
from biaslab.debiasing.subspace import find_subspace
from debiasing_data import unit_vectors
from naive import bias as naive_bias
from naive import debiasing as naive
from refusals import refused

WORDS = [f"word{i}" for i in range(30)]
SETS = [[0, 1], [2, 3, 4], [5, 6]]
NEUTRAL = list(range(10, 28))


def embedding(seed, k, d=8):
    vectors = unit_vectors(seed, 30, d, 0.3)
    return vectors, find_subspace(vectors, SETS, k).basis


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_hard_debiasing_is_that_of_the_paper(seed, k):
    vectors, basis = embedding(seed, k)
    debiased = hard_debias(vectors, WORDS, basis, NEUTRAL, SETS)
    np.testing.assert_allclose(debiased, naive.hard_debias(vectors, basis, NEUTRAL, SETS), atol=1e-7)


def test_several_groups_are_debiased_as_by_wefe():
    """Manzini et al. 2019: sets of three words, a subspace of two dimensions."""
    file = Path(__file__).parents[2] / "equal_measures.tsv"
    equal = pd.read_csv(file, sep="\t", comment="#").set_index("measure")["value"]
    vectors = np.random.default_rng(2019).normal(size=(20, 8))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    basis = find_subspace(unit, [(0, 1, 2), (3, 4, 5)], 2).basis
    words = [f"w{row}" for row in range(20)]
    debiased = hard_debias(unit, words, basis, range(6, 20), [(6, 7, 8), (9, 10, 11)])
    groups, attributes = range(9), [range(12, 16), range(16, 20)]
    before, found = (naive_bias.mac(v, groups, attributes) for v in (vectors, debiased))
    assert found == pytest.approx(equal["MAC of three groups after multiclass hard debiasing"], abs=1e-10)
    assert abs(found - before) > 1e-3


def test_a_word_of_a_set_is_not_neutral_and_a_set_twice_counts_once():
    vectors, basis = embedding(6, 1)
    expected = hard_debias(vectors, WORDS, basis, NEUTRAL, SETS)
    found = hard_debias(vectors, WORDS, basis, [*NEUTRAL, 0, 3], [*SETS, [1, 0]])
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[0, 1], [1, 2]], "'word1' is in more than one equality set"),
        ([[3]], "'word3' has fewer than two words"),
        ([[3, 3]], "'word3' has fewer than two words"),
    ],
)
def test_bad_sets_are_refused(sets, message):
    vectors, basis = embedding(7, 1)
    with refused(message):
        hard_debias(vectors, WORDS, basis, NEUTRAL, sets)


def test_a_neutral_word_within_the_subspace_is_refused():
    vectors = np.array([[0.0, 1.0], [1.0, 0.0]])
    with refused("'b' lies within the bias subspace"):
        neutralize(vectors, np.array([[1.0, 0.0]]), ["a", "b"])


def test_a_set_without_difference_in_the_subspace_is_refused():
    vectors = np.array([[0.6, 0.8, 0.0], [0.6, 0.0, 0.8]])
    with refused("'a' is in the middle of its equality set"):
        equalize(vectors, np.array([[1.0, 0.0, 0.0]]), ["a", "b"])
