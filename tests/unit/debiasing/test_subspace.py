"""The bias subspace of defining sets, and the variance that random pairs would explain."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.rng import stream
from biaslab.debiasing.subspace import find_subspace, project, random_pair_shares, random_unit_shares
from debiasing_data import unit_vectors
from naive import debiasing as naive
from refusals import refused

SETS = [[0, 1], [2, 3, 4], [5, 6], [7, 8, 9, 10]]


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_subspace_is_that_of_the_leading_eigenvectors(seed, k):
    vectors = unit_vectors(seed, 40, 6, 0.2)
    subspace = find_subspace(vectors, SETS, k)
    values, directions = np.linalg.eigh(naive.subspace_matrix(vectors, SETS))
    np.testing.assert_allclose(subspace.basis @ subspace.basis.T, np.eye(k), atol=1e-12)
    for row, direction in zip(subspace.basis, directions.T[::-1][:k], strict=True):
        assert abs(row @ direction) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(subspace.shares, values[::-1] / values.sum(), atol=1e-12)


def test_subspace_points_to_the_first_words():
    vectors = unit_vectors(1, 40, 6, 0.2)
    turned = [rows[::-1] for rows in SETS[:1] + SETS[2:3]]
    forward = find_subspace(vectors, [SETS[0], SETS[2]]).basis
    np.testing.assert_allclose(find_subspace(vectors, turned).basis, -forward)
    assert (vectors[[0, 5]] - vectors[[1, 6]]).sum(axis=0) @ forward[0] > 0


@given(st.integers(0, 10_000))
def test_projection_is_the_sum_over_the_basis(seed):
    vectors = unit_vectors(seed, 40, 6, 0.2)
    basis = find_subspace(vectors, SETS, 2).basis
    np.testing.assert_allclose(project(vectors, basis), [naive.onto(v, basis) for v in vectors], atol=1e-12)


def test_random_pairs_explain_variance_evenly_and_the_same_for_one_seed():
    vectors = unit_vectors(4, 200, 50, 0.2)
    shares = random_pair_shares(vectors, 10, 50, stream(1, "random pairs"))
    assert shares["mean"].sum() == pytest.approx(1)
    assert (shares["ci_low"] <= shares["mean"]).all()
    assert (shares["mean"] <= shares["ci_high"]).all()
    assert shares["mean"][0] < 0.3
    assert shares.equals(random_pair_shares(vectors, 10, 50, stream(1, "random pairs")))


@pytest.mark.parametrize(("n", "d"), [(10, 300), (4, 3)])
def test_random_unit_vectors_have_the_shares_of_their_second_moments(n, d):
    normal = stream(1, "units").normal(size=(n, d))
    expected = naive.unit_shares(normal / np.linalg.norm(normal, axis=1, keepdims=True))
    found = random_unit_shares(n, d, 1, stream(1, "units"))
    np.testing.assert_allclose(found["mean"], expected, atol=1e-12)
    many = random_unit_shares(n, d, 200, stream(2, "units"))
    assert len(many) == min(n, d)
    assert many["mean"].sum() == pytest.approx(1)
    assert (many["ci_low"] < many["mean"]).all()
    assert (many["mean"] < many["ci_high"]).all()


@pytest.mark.parametrize(
    ("sets", "k", "message"),
    [
        ([], 1, "no defining set"),
        ([[0, 1], [2]], 1, "defining set 2 has 1 word"),
        ([[0, 1]], 2, "differ in only 1 dimensions"),
        ([[0, 0]], 1, "differ in only 0 dimensions"),
        ([[0, 1]], 0, "at least one"),
    ],
)
def test_bad_sets_are_refused(sets, k, message):
    with refused(message):
        find_subspace(unit_vectors(0, 40, 6, 0.2), sets, k)
    with refused("need 20 words, but the embedding has 19"):
        random_pair_shares(unit_vectors(0, 19, 6, 0.2), 10, 5, stream(1))
