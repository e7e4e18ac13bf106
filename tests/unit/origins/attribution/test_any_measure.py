"""Influence, newton and gradient on every measure of bias, from nothing but its value and its gradient."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.bias.measures import MEASURES
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.glove import GloveParameters, train
from biaslab.embeddings.retraining import without_documents
from biaslab.origins.attribution import influence, moved_words
from biaslab.origins.attribution.influence import differential_bias
from naive import bias as naive_bias
from naive import origins as naive_origins

N_WORDS, D, ALPHA = 50, 5, 0.75
X_MAX = 19.87  # no count is this, where the weighting has a kink
RTOL = 1e-7
CASES = [
    ("ripa", {}, naive_bias.ripa),
    ("ect", {}, naive_bias.ect),
    ("same", {}, naive_bias.same),
    ("direct_bias", {"c": 2.0}, naive_bias.direct_bias),
    ("weat", {}, naive_bias.effect_size),
]
SETS = [np.array(ids, np.int64) for ids in ((3, 30, 12), (7, 41), (0, 22), (1, 35, 9))]
WEAT = WeatIndices("test", *SETS, ("S", "T", "A", "B"), {})


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 60, 300))]).astype(np.int64)
    tokens = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, N_WORDS - 1)
    tokens = np.where(rng.random(offsets[-1]) < 0.5, rng.integers(0, N_WORDS, offsets[-1]), tokens)
    return tokens.astype(np.int32), offsets


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, 6)


@pytest.fixture(scope="module")
def embedding(x):
    e = train(x, GloveParameters(D, 15, X_MAX, ALPHA), stream(0))
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


def test_every_measure_is_tried():
    assert {name for name, _, _ in CASES} == set(MEASURES)


@pytest.mark.parametrize(("name", "parameters", "oracle"), CASES, ids=[name for name, _, _ in CASES])
def test_steps_equal_the_dense_formulas(name, parameters, oracle, x, corpus, embedding, rows, removals):
    weat = replace(WEAT, measure=name, parameters=parameters)
    measure = by_oracle(oracle, parameters)
    result = differential_bias(rows, removals, weat, embedding)
    assert result.baseline == pytest.approx(measure(embedding["W"]), rel=1e-9)
    assert removals.n_units > moved_words._UNITS_AT_A_TIME  # so that more than one part is seen
    touched = np.diff(removals.entry_starts)
    assert touched.min() < D <= touched.max()
    for document in (*range(0, removals.n_units, 23), removals.n_units - 1):
        perturbed = dense(without_documents(x, *corpus, np.array([document])))
        for k, vector in ((0, naive_origins.influence_vector), (1, naive_origins.newton_vector)):
            after = naive_origins.moved_bias(
                measure, vector, dense(x), perturbed, embedding, rows.words, X_MAX, ALPHA
            )
            expected = result.baseline - after
            assert result.values[document, k] == pytest.approx(expected, rel=RTOL, abs=RTOL)


@pytest.mark.parametrize(("name", "parameters", "oracle"), CASES, ids=[name for name, _, _ in CASES])
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
            naive_origins.moved_bias(
                measure,
                naive_origins.newton_vector,
                before,
                before + sign * step * removed,
                embedding,
                rows.words,
                X_MAX,
                ALPHA,
            )
            for sign in (-1, 1)
        )
        assert result.values[document, 2] == pytest.approx((more - less) / (2 * step), rel=1e-4, abs=1e-6)


def test_the_compiled_effect_size_equals_its_measure(embedding, rows, removals, monkeypatch):
    """What the loop over the units compiles for WEAT is what value and gradient alone give."""
    compiled = differential_bias(rows, removals, WEAT, embedding)
    monkeypatch.setattr(moved_words, "by_effect_size", moved_words.by_measure)
    evaluated = differential_bias(rows, removals, WEAT, embedding)
    np.testing.assert_allclose(evaluated.values, compiled.values, rtol=1e-9, atol=1e-12)
    assert np.array_equal(evaluated.values[:, 2], compiled.values[:, 2])
    assert np.array_equal(evaluated.fallbacks, compiled.fallbacks)


@pytest.mark.parametrize("name", MEASURES)
def test_threads_do_not_change_a_bit(name, embedding, rows, removals):
    weat = replace(WEAT, measure=name)
    one, two = (differential_bias(rows, removals, weat, embedding, threads=n) for n in (1, 2))
    assert np.array_equal(one.values, two.values)


@pytest.mark.parametrize("name", MEASURES)
def test_documents_without_words_of_the_test_change_nothing(name, embedding, rows, removals):
    untouched = np.diff(removals.unit_starts) == 0
    assert untouched.any()
    result = differential_bias(rows, removals, replace(WEAT, measure=name), embedding)
    assert not result.values[untouched].any()
    assert result.values[~untouched].all()


@pytest.mark.parametrize("name", ["ripa", "same", "direct_bias"])
def test_a_measure_that_is_undefined_is_refused(name, embedding, rows, removals):
    same = {**embedding, "W": embedding["W"].copy()}
    same["W"][np.concatenate(SETS[2:])] = same["W"][0]
    weat = replace(WEAT, measure=name)
    for estimate in (
        lambda: differential_bias(rows, removals, weat, same),
        lambda: influence.bias_gradient(rows, weat, same),
    ):
        with pytest.raises(InputError, match=f"test: {name} is undefined: .*; use other words") as error:
            estimate()
        assert "\n" not in str(error.value)
