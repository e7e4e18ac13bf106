"""Every measure of bias, against its oracle, with its gradient, and where it is undefined; the bias axis."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.bias.directions import bias_axis, project_targets
from biaslab.bias.measures import MEASURES, PARAMETERS, measure_bias, measure_gradient
from biaslab.bias.weat import weat_words
from biaslab.bias.word_sets import WeatIndices
from naive import bias as naive
from refusals import refused

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
    return WeatIndices("test", *ids, {}, measure, parameters or {})


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
        with refused(r"test: the vector of word id 5 \(line 7 of the vocabulary\)"):
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


@given(st.integers(0, 10_000))
def test_projections_are_cosines_with_the_axis(seed):
    vectors = np.random.default_rng(seed).normal(size=(12, 4)) + 0.5
    found = project_targets(vectors, WEAT)
    axis = naive.bias_axis(vectors, WEAT.A, WEAT.B)
    np.testing.assert_allclose(found, [naive.cosine(vectors[i], axis) for i in range(5)], atol=1e-6)


def test_attributes_that_do_not_differ_have_no_axis():
    with refused("test: all attribute words have the same vector"):
        bias_axis(np.ones((12, 3)), WEAT)
