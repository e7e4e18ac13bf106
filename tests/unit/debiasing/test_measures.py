"""Direct and indirect bias, and words along the bias direction."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.debiasing.measures import direct_bias, indirect_bias, mean_similarity, pair_bias, project_words
from debiasing_data import unit_vectors
from naive import debiasing as naive
from refusals import refused


def some_basis(seed, k=1, d=5):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0].T


@given(st.integers(0, 10_000), st.sampled_from([0.5, 1.0, 2.0]), st.integers(2, 12))
def test_direct_bias_and_mean_similarity_are_those_of_all_words_and_pairs(seed, c, n):
    vectors, basis = unit_vectors(seed, n, 5), some_basis(seed + 1)
    assert direct_bias(vectors * 3, basis, c) == pytest.approx(naive.direct_bias(vectors, basis[0], c))
    assert mean_similarity(vectors) == pytest.approx(naive.mean_similarity(vectors), abs=1e-12)


def test_strict_direct_bias_counts_the_words_that_overlap():
    vectors = np.array([[0.0, 1.0], [1e-9, 1.0], [0.1, 1.0], [1.0, 0.0]])
    assert direct_bias(vectors, np.array([[1.0, 0.0]]), 0) == 0.5


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_indirect_bias_is_the_formula_of_the_appendix(seed, k):
    vectors, basis = unit_vectors(seed, 12, 5), some_basis(seed + 1, k)
    found = indirect_bias(vectors[:-1], vectors[-1], basis)
    expected = [naive.indirect_bias(w, vectors[-1], basis) for w in vectors[:-1]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_indirect_bias_is_undefined_for_orthogonal_words_and_within_the_subspace():
    basis = np.array([[1.0, 0.0, 0.0]])
    assert math.isnan(indirect_bias(np.array([0.0, 1, 0]), np.array([0.0, 0, 1]), basis))
    assert math.isnan(indirect_bias(np.array([1.0, 0, 0]), np.array([1.0, 0, 1]), basis))


def test_pair_bias_is_the_mean_difference_of_similarities():
    w, x, y = unit_vectors(1, 12, 5), unit_vectors(2, 3, 5), unit_vectors(3, 3, 5)
    expected = np.mean([abs(a @ x[p] - a @ y[p]) for a in w for p in range(3)])
    assert pair_bias(w, x, y) == pytest.approx(expected)
    assert pair_bias(w, x, x) == 0


def test_words_are_sorted_by_their_cosine_with_the_direction():
    vectors = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])
    table = project_words(vectors, ["a", "b", "c", "d"], [3, 0, 1, 2], np.array([5.0, 0]))
    assert table["word"].tolist() == ["a", "b", "d", "c"]
    assert table["projection"].tolist() == [1, 0, 0, -1]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (direct_bias, (np.empty((0, 3)), np.eye(3)[:1]), "direct bias is given no words"),
        (direct_bias, (np.eye(3), np.eye(3)[:1], -1), "give 0 or more"),
        (project_words, (np.eye(3), list("abc"), [0], np.zeros(3)), "direction to project on is zero"),
    ],
)
def test_bad_input_is_refused(function, arguments, message):
    with refused(message):
        function(*arguments)
