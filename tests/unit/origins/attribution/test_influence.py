"""Influence, newton and gradient, on WEAT and on every other measure of bias."""

from dataclasses import replace

import numba
import numpy as np
import pytest

from biaslab.bias.measures import MEASURES
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import without_documents
from biaslab.origins.attribution import influence
from biaslab.origins.attribution.influence import differential_bias
from naive import bias as naive_bias
from naive import embeddings as naive_embeddings
from naive import origins as naive_origins

N_WORDS, D, WINDOW, ALPHA = 50, 5, 6, 0.75
X_MAX = 19.87  # no count is this, where the weighting has a kink
RTOL = 1e-7
ORACLES = {name: getattr(naive_bias, "effect_size" if name == "weat" else name) for name in MEASURES}
CASES = [(name, {"c": 2.0} if name == "direct_bias" else {}, oracle) for name, oracle in ORACLES.items()]
each_measure = pytest.mark.parametrize(("name", "parameters", "oracle"), CASES, ids=list(MEASURES))
SETS = [np.array(ids, np.int64) for ids in ((3, 30, 12), (7, 41), (0, 22), (1, 35, 9))]
WEAT = WeatIndices("test", *SETS)


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 60, 300))]).astype(np.int64)
    tokens = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, N_WORDS - 1)
    tokens = np.where(rng.random(offsets[-1]) < 0.5, rng.integers(0, N_WORDS, offsets[-1]), tokens)
    return tokens.astype(np.int32), offsets


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, WINDOW)


@pytest.fixture(scope="module")
def embedding(x):
    epochs = 2 if numba.config.DISABLE_JIT else 15  # formulas need no good embedding, and Python is slow
    e = train(x, GloveParameters(D, epochs, X_MAX, ALPHA), stream(0))
    return {name: getattr(e, name).astype(np.float64) for name in ("W", "U", "b", "c")}


@pytest.fixture(scope="module")
def rows(x):
    return influence.weat_rows(x, np.unique(np.concatenate(SETS)), X_MAX, ALPHA)


@pytest.fixture(scope="module")
def removals(rows, corpus):
    return influence.removals_of_documents(rows, *corpus)


def dense(counts):
    matrix = np.zeros((counts.n_words, counts.n_words))
    matrix[counts.rows(), counts.indices] = counts.counts / counts.unit
    return matrix


def by_oracle(oracle, parameters):
    return lambda w: oracle(w, *(ids.tolist() for ids in SETS), **parameters)


EFFECT_SIZE = by_oracle(naive_bias.effect_size, {})


def bias_moved(vector, perturbed, x, embedding, measure=EFFECT_SIZE):
    """The bias with each word of the test moved by `vector`, one of the oracle's estimators."""
    words = np.unique(np.concatenate(SETS))
    return naive_origins.moved_bias(measure, vector, dense(x), perturbed, embedding, words, X_MAX, ALPHA)


@each_measure
def test_steps_equal_the_dense_formulas(name, parameters, oracle, x, corpus, embedding, rows, removals):
    weat = replace(WEAT, measure=name, parameters=parameters)
    measure = by_oracle(oracle, parameters)
    result = differential_bias(rows, removals, weat, embedding)
    assert result.baseline == pytest.approx(measure(embedding["W"]), rel=1e-9)
    assert removals.n_units > influence._UNITS_AT_A_TIME  # so that more than one part is seen
    touched = np.diff(removals.entry_starts)
    assert touched.min() < D <= touched.max()
    for document in (*range(0, removals.n_units, 23), removals.n_units - 1):
        perturbed = dense(without_documents(x, *corpus, np.array([document])))
        for k, vector in ((0, naive_origins.influence_vector), (1, naive_origins.newton_vector)):
            expected = result.baseline - bias_moved(vector, perturbed, x, embedding, measure)
            assert result.values[document, k] == pytest.approx(expected, rel=RTOL, abs=RTOL)


@each_measure
def test_gradient_equals_finite_differences_of_newton(
    name, parameters, oracle, x, corpus, embedding, rows, removals
):
    weat = replace(WEAT, measure=name, parameters=parameters)
    measure, before, step = by_oracle(oracle, parameters), dense(x), 1e-6
    result = differential_bias(rows, removals, weat, embedding)
    for document in range(0, removals.n_units, 30):
        removed = before - dense(without_documents(x, *corpus, np.array([document])))
        removed[before == 0] = 0
        less, more = (
            bias_moved(naive_origins.newton_vector, before + sign * step * removed, x, embedding, measure)
            for sign in (-1, 1)
        )
        assert result.values[document, 2] == pytest.approx((more - less) / (2 * step), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", MEASURES)
def test_threads_and_documents_without_words_of_the_test_change_nothing(name, embedding, rows, removals):
    weat = replace(WEAT, measure=name)
    one, two = (differential_bias(rows, removals, weat, embedding, threads=n).values for n in (1, 2))
    assert np.array_equal(one, two)
    untouched = np.diff(removals.unit_starts) == 0
    assert untouched.any()
    assert not one[untouched].any()
    assert one[~untouched].all()


def test_attributes_with_one_vector_have_no_effect_size(embedding, rows, removals):
    same = {**embedding, "W": embedding["W"].copy()}
    same["W"][np.concatenate([WEAT.A, WEAT.B])] = np.eye(D)[0]
    result = differential_bias(rows, removals, WEAT, same)
    assert np.isnan([result.baseline, *result.values.ravel()]).all()


@pytest.mark.parametrize("name", ["ripa", "same", "direct_bias"])
def test_a_measure_that_is_undefined_is_refused(name, embedding, rows, removals):
    same = {**embedding, "W": embedding["W"].copy()}
    same["W"][np.concatenate(SETS[2:])] = same["W"][0]
    weat = replace(WEAT, measure=name)
    for estimate in (
        lambda: differential_bias(rows, removals, weat, same),
        lambda: influence.local_loss(rows, weat, same, 0.0, None),
    ):
        with pytest.raises(InputError, match=f"test: {name} is undefined: .*; use other words") as error:
            estimate()
        assert "\n" not in str(error.value)


def test_removals_are_what_the_documents_contribute(rows, removals, corpus):
    tokens, offsets = corpus
    for document in range(0, removals.n_units, 7):
        counts = naive_embeddings.cooccurrence(
            [tokens[offsets[document] : offsets[document + 1]].tolist()], WINDOW
        )
        expected = {key: value for key, value in counts.items() if key[0] in rows.words}
        found = {}
        for pair in range(removals.unit_starts[document], removals.unit_starts[document + 1]):
            for e in range(removals.entry_starts[pair], removals.entry_starts[pair + 1]):
                place = removals.places[e]
                assert rows.rows[place] == removals.slots[pair]
                key = int(rows.words[removals.slots[pair]]), int(rows.columns[place])
                found[key] = removals.counts[e] / rows.unit
        assert found.keys() == expected.keys()
        assert all(found[key] == pytest.approx(float(expected[key]), rel=1e-12) for key in found)


def test_sets_are_removed_as_sets(x, corpus, embedding, rows, removals):
    sets = [np.array([3, 8, 20, 33]), np.array([5]), np.empty(0, np.int64), np.arange(0, 60)]
    whole = influence.removals_of_sets(rows, removals, sets)
    result = differential_bias(rows, whole, WEAT, embedding)
    alone = differential_bias(rows, removals, WEAT, embedding)
    assert np.array_equal(result.values[1], alone.values[5])
    assert np.array_equal(result.values[2], np.zeros(3))
    for k, documents in enumerate(sets):
        perturbed = without_documents(x, *corpus, documents)
        for e, vector in ((0, naive_origins.influence_vector), (1, naive_origins.newton_vector)):
            expected = result.baseline - bias_moved(vector, dense(perturbed), x, embedding)
            assert result.values[k, e] == pytest.approx(expected, rel=1e-8, abs=1e-8)
    summed = alone.values[sets[0]].sum(axis=0)
    assert result.values[0, 2] == pytest.approx(summed[2], rel=1e-12)
    assert abs(result.values[0, 0] - summed[0]) > 1e-6


def test_gradient_and_hessian_of_the_loss_equal_finite_differences_and_newton_ends_at_the_minimum(
    x, corpus, embedding
):
    row = dense(x)[3]
    arguments = embedding["U"], embedding["b"][3], embedding["c"], X_MAX, ALPHA
    w = embedding["W"][3]
    gradient = naive_origins.pointwise_gradient(row, w, *arguments)
    hessian = naive_origins.row_hessian(row, embedding["U"], X_MAX, ALPHA)
    for d in range(D):
        step = np.zeros(D)
        step[d] = 1e-5
        up, down = (naive_origins.pointwise_loss(row, w + s * step, *arguments) for s in (1, -1))
        assert gradient[d] == pytest.approx((up - down) / 2e-5, rel=1e-6)
        up, down = (naive_origins.pointwise_gradient(row, w + s * step, *arguments) for s in (1, -1))
        np.testing.assert_allclose(hessian[d], (up - down) / 2e-5, rtol=1e-6, atol=1e-6)
    after = dense(without_documents(x, *corpus, np.arange(20)))[3]
    minimum, moved = (naive_origins.least_squares_vector(r, *arguments) for r in (row, after))
    step = naive_origins.newton_vector(row, after, minimum, *arguments)
    np.testing.assert_allclose(step, moved, rtol=1e-6)
    assert not np.allclose(step, minimum, rtol=1e-3)


def test_damping_is_added_to_the_hessian(embedding, rows, removals):
    free, damped, frozen = (
        differential_bias(rows, removals, WEAT, embedding, d).values for d in (0, 5.0, 1e12)
    )
    assert not np.allclose(free, damped)
    assert np.abs(frozen).max() < 1e-6


def test_singular_hessian_names_the_word():
    tokens = np.array([0, 1, 2, 3, 4, 5, 6, 7] * 3, np.int32)
    x = cooccurrence.count(tokens, np.array([0, 24], np.int64), 8, 1)
    weat = WeatIndices("test", *np.arange(8).reshape(4, 2))
    e = train(x, GloveParameters(6, 2), stream(0))
    embedding = {name: getattr(e, name) for name in ("W", "U", "b", "c")}
    rows = influence.weat_rows(x, np.arange(8), 100.0, 0.75)
    removals = influence.removals_of_documents(rows, tokens, np.array([0, 24], np.int64))
    problem = r"word 'zero' is singular: the word has 2 contexts for 6 dimensions.*damping"
    with pytest.raises(InputError, match=problem):
        differential_bias(rows, removals, weat, embedding, words=["zero", *"abcdefg"])
    assert np.isfinite(differential_bias(rows, removals, weat, embedding, damping=1e-3).values).all()


def test_newton_falls_back_where_nothing_is_left(embedding, rows, removals):
    """Without any document no context is left, so no Hessian at X~ can be inverted."""
    everything = influence.removals_of_sets(rows, removals, [np.arange(removals.n_units)])
    result = differential_bias(rows, everything, WEAT, embedding)
    assert result.fallbacks.tolist() == [len(rows.words)]
    assert result.values[0, 1] == result.values[0, 0]
