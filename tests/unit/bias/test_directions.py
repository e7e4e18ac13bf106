"""The bias axis, and words projected onto it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.bias.directions import bias_axis, project_targets
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from naive import bias as naive


def weat(s, t, a, b):
    sets = [np.array(ids, dtype=np.int64) for ids in (s, t, a, b)]
    return WeatIndices("test", *sets, set_names=("s", "t", "a", "b"), lost={})


WEAT = weat([0, 1, 2], [3, 4], [5, 6, 7], [8, 9, 10, 11])


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_axis_is_the_first_principal_component_of_centred_pairs(seed, dimension):
    vectors = np.random.default_rng(seed).normal(size=(12, dimension)) + 0.3
    axis = bias_axis(vectors, WEAT)
    np.testing.assert_allclose(axis, naive.bias_axis(vectors, WEAT.A, WEAT.B), atol=1e-6)
    assert axis @ axis == pytest.approx(1)


def test_swapping_the_attributes_turns_the_axis():
    vectors = np.random.default_rng(0).normal(size=(12, 5))
    turned = weat(WEAT.S, WEAT.T, WEAT.B, WEAT.A)
    np.testing.assert_allclose(bias_axis(vectors, turned), -bias_axis(vectors, WEAT))


def test_two_opposite_groups_give_the_axis_between_them():
    vectors = np.zeros((12, 3))
    vectors[:, 1] = 1.0
    vectors[WEAT.A, 0], vectors[WEAT.B, 0] = 2.0, -2.0
    vectors[WEAT.S, 0], vectors[WEAT.T, 0] = 1.0, -1.0
    np.testing.assert_allclose(bias_axis(vectors, WEAT), [1, 0, 0], atol=1e-12)
    half = 1 / np.sqrt(2)
    np.testing.assert_allclose(project_targets(vectors, WEAT), [half, half, half, -half, -half])


@given(st.integers(0, 10_000))
def test_projections_are_cosines_that_neither_lengths_nor_rotations_change(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(12, 4)) + 0.5
    found = project_targets(vectors, WEAT)
    axis = naive.bias_axis(vectors, WEAT.A, WEAT.B)
    np.testing.assert_allclose(found, [naive.cosine(vectors[i], axis) for i in range(5)], atol=1e-6)
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    changed = vectors * rng.uniform(0.5, 2, (12, 1)) @ rotation
    np.testing.assert_allclose(project_targets(changed, WEAT), found, atol=1e-6)


@pytest.mark.parametrize(("word", "value"), [(0, 0.0), (5, np.nan), (11, np.inf)])
def test_words_without_direction_are_refused(word, value):
    vectors = np.random.default_rng(0).normal(size=(12, 3))
    vectors[word] = value
    with pytest.raises(InputError, match=f"test: the vector of word id {word} .*zero or not finite"):
        project_targets(vectors, WEAT)


def test_attributes_that_do_not_differ_have_no_axis():
    with pytest.raises(InputError, match="test: all attribute words have one vector"):
        bias_axis(np.ones((12, 3)), WEAT)
