"""Every measure of bias, against its oracle, with its gradient, and where it is undefined; the bias axis."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.bias.directions import bias_axis, project_targets
from biaslab.bias.measures import MEASURES, PARAMETERS, Axis, measure_bias, measure_gradient
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from naive import bias as naive

RTOL = 1e-8
ORACLES = {
    "weat": naive.effect_size,
    "ripa": naive.ripa,
    "ect": naive.ect,
    "same": naive.same,
    "direct_bias": naive.direct_bias,
}
CASES = [(name, {}) for name in ORACLES] + [("direct_bias", {"c": c}) for c in (0.5, 2.0, 3)]


def test_every_measure_has_an_oracle():
    assert set(ORACLES) == set(MEASURES)
    assert {name for name, own in PARAMETERS.items() if own} == {name for name, given in CASES if given}


def indices(S, T, A, B, measure="weat", parameters=None):
    ids = (np.array(words, dtype=np.int64) for words in (S, T, A, B))
    return WeatIndices("test", *ids, ("s", "t", "a", "b"), {}, measure, parameters or {})


def sets_of(weat):
    return tuple(words.tolist() for words in (weat.S, weat.T, weat.A, weat.B))


@st.composite
def cases(draw):
    """Random vectors of random lengths, and a test on some of them; targets may be attributes too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [draw(st.integers(2, 5)) for _ in range(4)]
    n = sum(sizes)
    targets, attributes = rng.permutation(n), rng.permutation(n)
    S, T = targets[: sizes[0]], targets[sizes[0] : sizes[0] + sizes[1]]
    A, B = attributes[: sizes[2]], attributes[sizes[2] : sizes[2] + sizes[3]]
    vectors = rng.normal(size=(n, draw(st.integers(3, 8)))) * rng.uniform(0.1, 10, (n, 1))
    return vectors, (S, T, A, B)


@pytest.mark.parametrize(("name", "parameters"), CASES)
@given(test=cases())
def test_a_measure_equals_its_oracle(name, parameters, test):
    vectors, sets = test
    weat = indices(*sets, name, parameters)
    expected = ORACLES[name](vectors, *sets_of(weat), **parameters)
    assert measure_bias(vectors, weat) == pytest.approx(expected, rel=RTOL, abs=1e-10)


@pytest.mark.parametrize(("name", "parameters"), CASES)
@pytest.mark.parametrize("seed", range(5))
def test_a_gradient_equals_finite_differences(name, parameters, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(14, 6)) * rng.uniform(0.3, 3, (14, 1))
    weat = indices((0, 1, 2), (3, 4), (5, 6, 0), (7, 8), name, parameters)  # word 0 is in S and in A
    gradient = measure_gradient(vectors, weat)
    words = weat_words(weat)
    assert gradient.shape == (len(words), 6)
    step = 1e-6
    for row, word in enumerate(words):
        for d in range(6):
            change = np.zeros_like(vectors)
            change[word, d] = step
            up, down = (measure_bias(vectors + sign * change, weat) for sign in (1, -1))
            assert gradient[row, d] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7)


@given(cases())
def test_the_axis_is_that_of_the_differences(test):
    vectors, sets = test
    weat = indices(*sets)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    axis = Axis(unit[weat.A], unit[weat.B]).direction
    np.testing.assert_allclose(axis, bias_axis(vectors, weat), atol=1e-6)


# By hand, in the plane: A on the first axis, B opposite, so that b, g and h point along (1, 0).
PLANE = np.array([[3.0, 4], [0, 2], [-1, 0], [4, -3], [2, 0], [1, 0], [-2, 0], [-3, 0]])


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("ripa", {}, (3 + 0) / 2 - (-1 + 4) / 2),  # components along b, lengths kept
        ("same", {}, (0.6 + 0 + 1 + 0.8) / 4),  # sizes of cosines
        ("direct_bias", {}, (0.6 + 0 + 1 + 0.8) / 4),
        ("direct_bias", {"c": 2}, (0.36 + 0 + 1 + 0.64) / 4),
        ("ect", {}, -1),  # cosines with opposite means
    ],
)
def test_by_hand(name, parameters, expected):
    weat = indices((0, 1), (2, 3), (4, 5), (6, 7), name, parameters)
    assert measure_bias(PLANE, weat) == pytest.approx(expected, abs=1e-12)


def test_one_pair_gives_the_relation_vector_of_the_pair():
    """With one difference, b is (x - y) / |x - y|; two words of one vector each stand for one pair."""
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(8, 5))
    vectors[5], vectors[7] = vectors[4], vectors[6]
    b = (vectors[4] - vectors[6]) / np.linalg.norm(vectors[4] - vectors[6])
    expected = (vectors[:2] @ b).mean() - (vectors[2:4] @ b).mean()
    assert measure_bias(vectors, indices((0, 1), (2, 3), (4, 5), (6, 7), "ripa")) == pytest.approx(expected)


@pytest.mark.parametrize("name", MEASURES)
@given(test=cases(), seed=st.integers(0, 1000))
def test_rotations_do_not_matter_and_lengths_only_where_they_are_kept(name, test, seed):
    vectors, sets = test
    weat = indices(*sets, name)
    rotation, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(vectors.shape[1],) * 2))
    before = measure_bias(vectors, weat)
    assert measure_bias(vectors @ rotation, weat) == pytest.approx(before, rel=1e-6, abs=1e-8)
    scaled = measure_bias(3 * vectors, weat)
    assert scaled == pytest.approx(before * (3 if name == "ripa" else 1), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if measure.undefined])
def test_attributes_of_one_vector_leave_every_measure_undefined(name):
    vectors = np.random.default_rng(0).normal(size=(8, 4))
    weat = indices((0, 1), (2, 3), (4, 5), (6, 7), name)
    if name == "ect":  # equal groups order the words alike; what it cannot bear are groups that cancel
        vectors[5] = -vectors[4]
    else:
        vectors[4:] = vectors[4]
    assert math.isnan(measure_bias(vectors, weat))
    assert np.isnan(measure_gradient(vectors, weat)).all()


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("function", [measure_bias, measure_gradient, project_targets])
def test_a_vector_without_a_cosine_is_refused(name, function):
    vectors = np.random.default_rng(0).normal(size=(10, 3))
    weat = indices((0, 1), (2, 3), (4, 5), (6, 7), name)
    for value in (0, math.inf, math.nan):
        vectors[5] = value
        with pytest.raises(InputError, match=r"test: the vector of word id 5 \(line 7 of the vocabulary\)"):
            function(vectors, weat)
    vectors[[5, 9]] = vectors[[9, 5]]  # not a word of the test any more
    assert np.isfinite(function(vectors, weat)).all()


# --- the axis

WEAT = indices([0, 1, 2], [3, 4], [5, 6, 7], [8, 9, 10, 11])


@given(st.integers(0, 10_000), st.integers(2, 20))
def test_axis_is_the_first_principal_component_of_centred_pairs(seed, dimension):
    vectors = np.random.default_rng(seed).normal(size=(12, dimension)) + 0.3
    axis = bias_axis(vectors, WEAT)
    np.testing.assert_allclose(axis, naive.bias_axis(vectors, WEAT.A, WEAT.B), atol=1e-6)
    assert axis @ axis == pytest.approx(1)


def test_swapping_the_attributes_turns_the_axis():
    vectors = np.random.default_rng(0).normal(size=(12, 5))
    turned = indices(WEAT.S, WEAT.T, WEAT.B, WEAT.A)
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


def test_attributes_that_do_not_differ_have_no_axis():
    with pytest.raises(InputError, match="test: all attribute words have one vector"):
        bias_axis(np.ones((12, 3)), WEAT)
