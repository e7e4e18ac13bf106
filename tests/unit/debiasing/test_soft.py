"""Soft debiasing: the paper's objective, its gradient, and its minimum against a semidefinite program."""

import clarabel
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from biaslab.debiasing.soft import gram_matrices, objective, soft_debias, solve_path
from biaslab.debiasing.subspace import find_subspace
from naive import debiasing as naive
from properties import examples
from refusals import refused

SETS = [[0, 1], [2, 3, 4], [5, 6]]


def embedding(seed, n=30, d=5, k=1, mean=0.3):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n, d)) + mean * rng.normal(size=d)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, find_subspace(vectors, SETS, k).basis, list(range(7, n))


def random_symmetric(seed, d):
    matrix = np.random.default_rng(seed).normal(size=(d, d))
    return matrix + matrix.T


def semidefinite_program(vectors, basis, neutral, penalty):
    """Minimise the objective over the cone by an interior-point method.

    The unknowns are the upper triangle of X - I, column by column, with √2 before entries off the diagonal.
    """
    d = vectors.shape[1]
    columns, rows = np.tril_indices(d)  # column by column: (0, 0), (0, 1), (1, 1), ...
    N, W = vectors[neutral], vectors
    units = np.zeros((len(rows), d, d))
    weight = np.where(rows == columns, 1.0, np.sqrt(0.5))
    units[np.arange(len(rows)), rows, columns] = units[np.arange(len(rows)), columns, rows] = weight
    effects = [
        np.concatenate([(W @ E @ W.T).ravel(), np.sqrt(penalty) * (N @ E @ basis.T).ravel()]) for E in units
    ]
    A = np.stack(effects, axis=1)
    identity = (rows == columns).astype(float)
    at_identity = np.concatenate([np.zeros(W.shape[0] ** 2), np.sqrt(penalty) * (N @ basis.T).ravel()])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    scale = np.linalg.norm(A.T @ A)
    solver = clarabel.DefaultSolver(
        scipy.sparse.csc_matrix(np.triu(A.T @ A) / scale),
        A.T @ at_identity / scale,
        scipy.sparse.csc_matrix(-np.eye(len(rows))),
        identity,
        [clarabel.PSDTriangleConeT(d)],
        settings,
    )
    return np.eye(d) + np.tensordot(solver.solve().x, units, axes=1)


@given(st.integers(0, 10_000), st.integers(1, 3), st.sampled_from([0.0, 0.2, 30.0]))
@examples(20)
def test_objective_is_the_sum_over_words_and_pairs(seed, k, penalty):
    vectors, basis, neutral = embedding(seed, n=12, k=k)
    X = random_symmetric(seed, 5)
    found = objective(X, gram_matrices(vectors, basis, neutral), penalty)
    assert found == pytest.approx(naive.soft_objective(X, vectors, basis, neutral, penalty))


@given(st.integers(0, 10_000), st.integers(1, 3))
def test_gradient_is_that_of_finite_differences(seed, k):
    vectors, basis, neutral = embedding(seed, k=k)
    grams = gram_matrices(vectors, basis, neutral)
    X, direction = random_symmetric(seed, 5), random_symmetric(seed + 1, 5)
    step = 1e-3 * direction  # the objective is quadratic: the central difference has no error of its own
    difference = (objective(X + step, grams, 5.0) - objective(X - step, grams, 5.0)) / 2e-3
    assert np.sum(naive.soft_gradient(X, grams, 5.0) * direction) == pytest.approx(
        difference, rel=1e-6, abs=1e-6
    )


FREE = [({"seed": d, "d": d, "k": k}, 99, p) for d in (3, 8) for k in (1, 2) for p in (0.2, 5.0, 1000.0)]
ENDS = ((11, 1, 3), (50, 1, 1), (32, 2, 3), (56, 2, 1))
IN_CONE = [({"seed": seed, "k": k, "mean": 2.0}, n_neutral, 100.0) for seed, k, n_neutral in ENDS]


@pytest.mark.parametrize(("drawn", "n_neutral", "penalty"), FREE + IN_CONE)
def test_minimum_is_that_of_the_semidefinite_program(drawn, n_neutral, penalty):
    vectors, basis, neutral = embedding(**drawn)
    neutral = neutral[:n_neutral]
    (solution,) = solve_path(gram_matrices(vectors, basis, neutral), [penalty])
    X = solution.transform @ solution.transform
    expected = semidefinite_program(vectors, basis, neutral, penalty)
    np.testing.assert_allclose(X, expected, atol=1e-6)
    objective = naive.soft_objective(expected, vectors, basis, neutral, penalty)
    assert solution.objective == pytest.approx(objective, abs=1e-6)
    assert solution.gradient < 1e-6
    assert solution.constrained == (solution.least_eigenvalue < -1e-3) == (n_neutral < 99)


def test_gradient_vanishes_in_300_dimensions():
    vectors, basis, neutral = embedding(0, n=1000, d=300)
    grams = gram_matrices(vectors.astype(np.float32), basis, neutral)
    for solution in solve_path(grams, [0.2, 50.0]):
        X = solution.transform @ solution.transform
        at_start = np.linalg.norm(naive.soft_gradient(np.eye(300), grams, solution.penalty))
        assert np.linalg.norm(naive.soft_gradient(X, grams, solution.penalty)) < 1e-6 * at_start
        assert solution.gradient < 1e-6


@pytest.mark.parametrize("mean", [0.3, 2.0])
def test_a_path_gives_what_single_solutions_give(mean):
    vectors, basis, neutral = embedding(56, mean=mean)
    grams = gram_matrices(vectors, basis, neutral[:3])
    penalties = [0.0, 1.0, 100.0, 1000.0]
    path = solve_path(grams, penalties)
    for penalty, found in zip(penalties, path, strict=True):
        (alone,) = solve_path(grams, [penalty])
        np.testing.assert_allclose(found.transform, alone.transform, atol=1e-6)
        assert (found.penalty, found.constrained) == (penalty, alone.constrained)
    np.testing.assert_allclose(path[0].transform, np.eye(5), atol=1e-12)


def test_words_that_span_less_than_the_space_keep_the_rest():
    vectors, basis, neutral = embedding(1, d=4)
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(9, 9)))[0][:4]
    (flat,) = solve_path(gram_matrices(vectors, basis, neutral), [10.0])
    (within,) = solve_path(gram_matrices(vectors @ rotation, basis @ rotation, neutral), [10.0])
    rest = np.eye(9) - rotation.T @ rotation
    np.testing.assert_allclose(within.transform, rotation.T @ flat.transform @ rotation + rest, atol=1e-8)


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda grams: solve_path(grams, [1.0, -0.1]), "give a finite number of at least 0"),
        (lambda grams: solve_path(grams, [np.nan]), "give a finite number of at least 0"),
        (lambda _: gram_matrices(*embedding(0)[:2], []), "given no neutral word"),
        (lambda _: soft_debias(np.eye(2), np.diag([1.0, 0.0])), "nothing of the word in row 1"),
    ],
)
def test_what_cannot_be_solved_is_refused(call, problem):
    with refused(problem):
        call(gram_matrices(*embedding(0)))
