"""Effect size, its gradient and its permutation test."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.bias.weat import (
    differential_associations,
    effect_size,
    effect_size_gradient,
    largest_effect_size,
    permutation_p_value,
)
from naive import bias as naive
from properties import examples
from refusals import refused
from unit.bias.test_measures import cases, indices, sets_of

RTOL = 1e-9


def test_effect_size_by_hand():
    # Associations: cosines 1, 0 of S and 0, -1 of T with A, their negatives with B: g = 2, 0, 0, -2.
    vectors = np.array([[2.0, 0], [0, 3], [0, -1], [-5, 0], [1, 0], [4, 0], [-1, 0], [-2, 0]])
    weat = indices([0, 1], [2, 3], [4, 5], [6, 7])
    np.testing.assert_allclose(differential_associations(vectors, weat), [2, 0, 0, -2], atol=1e-15)
    assert effect_size(vectors, weat) == pytest.approx(2 / math.sqrt(8 / 3))


@pytest.mark.parametrize(
    ("sizes", "largest"), [((2, 2), 1.7321), ((4, 4), 1.8708), ((8, 8), 1.9365), ((24, 2), 3.6799)]
)
def test_no_effect_size_is_above_that_of_equal_associations_within_the_sets(sizes, largest):
    n_first, n_second = sizes
    assert largest_effect_size(n_first, n_second) == pytest.approx(largest, abs=1e-4)
    targets = np.repeat([[1.0, 0], [0, 1]], sizes, axis=0)
    vectors = np.concatenate([targets, [[1, 0], [2, 0], [0, 1], [0, 3]]])
    n = n_first + n_second
    weat = indices(range(n_first), range(n_first, n), (n, n + 1), (n + 2, n + 3))
    assert effect_size(vectors, weat) == pytest.approx(largest_effect_size(n_first, n_second))
    near = vectors + np.random.default_rng(1).normal(scale=0.1, size=vectors.shape)
    assert effect_size(near, weat) < largest_effect_size(n_first, n_second)


@pytest.mark.parametrize("scale", [1, 3, 0.1])
def test_what_32_bits_round_is_no_effect(scale):
    rng = np.random.default_rng(5)
    exact = rng.normal(size=(16, 50))
    exact[:8, 0] = 0  # targets that are orthogonal to the one difference of the attributes
    exact[8:12] = exact[12:16]
    exact[8:12, 0], exact[12:16, 0] = 1, -1
    turn = np.linalg.qr(rng.normal(size=(50, 50)))[0]  # no coordinate is 0 after it
    exact = exact @ turn
    weat = indices(range(4), range(4, 8), range(8, 12), range(12, 16))
    assert math.isnan(effect_size(exact, weat))
    rounded = (scale * exact).astype(np.float32)
    unit = (rounded / np.linalg.norm(rounded, axis=1, keepdims=True)).astype(np.float32)
    for vectors in (rounded, unit):
        assert np.ptp(differential_associations(vectors, weat)) > 1e-9
        assert math.isnan(effect_size(vectors, weat))
        assert np.isnan(effect_size_gradient(vectors, weat)).all()
        assert permutation_p_value(vectors, weat, 1000, rng).p_value == 1
    unit[:4] += np.float32(1e-5) * turn[0]  # ten times what is taken for rounding
    assert effect_size(unit, weat) > 1


@given(cases())
def test_the_exact_p_value_is_the_share_of_partitions(case):
    vectors, weat = case[0], indices(*case[1])
    n_partitions = math.comb(len(weat.S) + len(weat.T), len(weat.S))
    result = permutation_p_value(vectors, weat, n_partitions, np.random.default_rng(0))
    assert result.exact
    assert result.n_permutations == n_partitions
    assert result.p_value == pytest.approx(naive.permutation_p_value(vectors, *sets_of(weat)), rel=1e-12)


def test_ties_count_as_reached():
    rng = np.random.default_rng(3)
    targets, attributes = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    # S and T have equal associations, up to rounding
    vectors = np.concatenate([targets, targets * 3, attributes])
    weat = indices(range(4), range(4, 8), (8, 9), (10, 11))
    result = permutation_p_value(vectors, weat, 1000, rng)
    assert result.p_value == pytest.approx(naive.permutation_p_value(vectors, *sets_of(weat)))
    assert result.p_value > 0.5


def test_the_largest_effect_has_the_smallest_p_value():
    angles = np.concatenate([np.linspace(0, 1, 8), np.linspace(2, 3, 8), [0, 0.1, 3, 3.1]])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weat = indices(range(8), range(8, 16), (16, 17), (18, 19))
    assert permutation_p_value(vectors, weat, 12870, np.random.default_rng(0)).p_value == 1 / 12870
    estimated = permutation_p_value(vectors, weat, 12869, np.random.default_rng(0))
    assert not estimated.exact
    assert estimated.n_permutations == 12869
    assert 1 / 12870 <= estimated.p_value < 6 / 12870


@examples(5)
@given(st.integers(0, 1000))
def test_random_partitions_estimate_the_exact_p_value(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(24, 6))
    weat = indices(range(5), range(5, 12), range(12, 18), range(18, 24))
    exact = permutation_p_value(vectors, weat, 792, rng).p_value
    estimate, repeated = (permutation_p_value(vectors, weat, 791, np.random.default_rng(5)) for _ in range(2))
    assert estimate == repeated
    assert estimate.p_value == pytest.approx(exact, abs=5 * math.sqrt(0.25 / 791))


def test_no_permutations_are_refused():
    vectors = np.random.default_rng(0).normal(size=(8, 3))
    with refused("permutations: 0"):
        permutation_p_value(vectors, indices((0, 1), (2, 3), (4, 5), (6, 7)), 0, np.random.default_rng(0))
