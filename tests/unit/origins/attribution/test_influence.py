import numba
import numpy as np
import pytest

from biaslab.bias.weat import effect_size
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

N_WORDS, D, X_MAX, ALPHA = 60, 6, 20.0, 0.75
RTOL_DENSE = 1e-8


def ids(*numbers):
    return np.array(numbers, np.int64)


WEAT = WeatIndices("test", ids(3, 30), ids(7, 41), ids(0, 22), ids(1, 35), ("S", "T", "A", "B"), {})


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    lengths = rng.integers(0, 60, 150)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tokens = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, N_WORDS - 1)
    tokens = np.where(rng.random(offsets[-1]) < 0.4, rng.integers(0, N_WORDS, offsets[-1]), tokens)
    return tokens.astype(np.int32), offsets


@pytest.fixture(scope="module")
def x(corpus):
    return cooccurrence.count(*corpus, N_WORDS, 8)


@pytest.fixture(scope="module")
def embedding(x):
    epochs = 2 if numba.config.DISABLE_JIT else 15  # formulas need no good embedding, and Python is slow
    e = train(x, GloveParameters(D, epochs, X_MAX, ALPHA), stream(0))
    return {name: getattr(e, name).astype(np.float64) for name in ("W", "U", "b", "c")}


@pytest.fixture(scope="module")
def rows(x):
    return influence.weat_rows(x, np.unique(np.concatenate([WEAT.S, WEAT.T, WEAT.A, WEAT.B])), X_MAX, ALPHA)


@pytest.fixture(scope="module")
def removals(rows, corpus):
    return influence.removals_of_documents(rows, *corpus)


def dense(counts):
    matrix = np.zeros((counts.n_words, counts.n_words))
    matrix[counts.rows(), counts.indices] = counts.counts / counts.unit
    return matrix


def perturbed_bias(vector, x, perturbed, embedding):
    """B(w~) with each word of the test moved by `vector`, one of the oracle's estimators."""
    W = embedding["W"].copy()
    before, after = dense(x), perturbed if isinstance(perturbed, np.ndarray) else dense(perturbed)
    for i in np.unique(np.concatenate([WEAT.S, WEAT.T, WEAT.A, WEAT.B])):
        if not np.array_equal(before[i], after[i]):
            W[i] = vector(
                before[i], after[i], W[i], embedding["U"], embedding["b"][i], embedding["c"], X_MAX, ALPHA
            )
    return naive_bias.effect_size(W, WEAT.S, WEAT.T, WEAT.A, WEAT.B)


def test_removals_are_what_the_documents_contribute(rows, removals, corpus):
    tokens, offsets = corpus
    for document in range(0, removals.n_units, 7):
        counts = naive_embeddings.cooccurrence(
            [tokens[offsets[document] : offsets[document + 1]].tolist()], 8
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
    sets = [ids(3, 8, 20, 33), ids(5), ids(), np.arange(0, 60)]
    whole = influence.removals_of_sets(rows, removals, sets)
    result = differential_bias(rows, whole, WEAT, embedding)
    alone = differential_bias(rows, removals, WEAT, embedding)
    assert np.array_equal(result.values[1], alone.values[5])
    assert np.array_equal(result.values[2], np.zeros(3))
    for k, documents in enumerate(sets):
        perturbed = without_documents(x, *corpus, documents)
        for e, vector in ((0, naive_origins.influence_vector), (1, naive_origins.newton_vector)):
            expected = result.baseline - perturbed_bias(vector, x, perturbed, embedding)
            assert result.values[k, e] == pytest.approx(expected, rel=RTOL_DENSE, abs=RTOL_DENSE)
    summed = alone.values[sets[0]].sum(axis=0)
    assert result.values[0, 2] == pytest.approx(summed[2], rel=1e-12)
    assert abs(result.values[0, 0] - summed[0]) > 1e-6


def test_newton_is_the_weighted_least_squares_solution(x, corpus, embedding, rows, removals):
    """When the vectors minimise their rows' losses, newton's step ends at the perturbed minimum."""
    at_minimum = {name: values.copy() for name, values in embedding.items()}
    before = dense(x)

    def solve(row, i):
        return naive_origins.least_squares_vector(
            row, embedding["U"], embedding["b"][i], embedding["c"], X_MAX, ALPHA
        )

    for i in rows.words:
        at_minimum["W"][i] = solve(before[i], i)
    result = differential_bias(rows, removals, WEAT, at_minimum)
    for document in range(0, removals.n_units, 10):
        after = dense(without_documents(x, *corpus, ids(document)))
        W = at_minimum["W"].copy()
        for i in rows.words:
            W[i] = solve(after[i], i)
        expected = effect_size(at_minimum["W"], WEAT) - effect_size(W, WEAT)
        assert result.values[document, 1] == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_bias_gradient_equals_finite_differences(x, embedding, rows):
    gradient = influence.bias_gradient(rows, WEAT, embedding)
    before = dense(x)
    for place in range(0, len(gradient), 17):
        i, j = rows.words[rows.rows[place]], rows.columns[place]
        if abs(before[i, j] - X_MAX) < 1e-3:  # the weighting has a kink at x_max
            continue
        step = 1e-6 * before[i, j]
        change = np.zeros_like(before)
        change[i, j] = step
        less, more = (
            perturbed_bias(naive_origins.newton_vector, x, before + sign * change, embedding)
            for sign in (-1, 1)
        )
        assert gradient[place] == pytest.approx((more - less) / (2 * step), rel=1e-4, abs=1e-8)


def test_gradient_and_hessian_of_the_loss_equal_finite_differences(x, embedding):
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


def test_damping_is_added_to_the_hessian(embedding, rows, removals):
    free, damped, frozen = (
        differential_bias(rows, removals, WEAT, embedding, d).values for d in (0, 5.0, 1e12)
    )
    assert not np.allclose(free, damped)
    assert np.abs(frozen).max() < 1e-6


def test_singular_hessian_names_the_word():
    tokens = np.array([0, 1, 2, 3, 4, 5, 6, 7] * 3, np.int32)
    x = cooccurrence.count(tokens, np.array([0, 24], np.int64), 8, 1)
    weat = WeatIndices("test", ids(0, 1), ids(2, 3), ids(4, 5), ids(6, 7), ("S", "T", "A", "B"), {})
    e = train(x, GloveParameters(6, 2), stream(0))
    embedding = {name: getattr(e, name) for name in ("W", "U", "b", "c")}
    rows = influence.weat_rows(x, np.arange(8), 100.0, 0.75)
    removals = influence.removals_of_documents(rows, tokens, np.array([0, 24], np.int64))
    with pytest.raises(InputError, match=r"word 'zero' is singular: 2 contexts for 6 dimensions.*damping"):
        differential_bias(rows, removals, weat, embedding, words=["zero", *"abcdefg"])
    assert np.isfinite(differential_bias(rows, removals, weat, embedding, damping=1e-3).values).all()


def test_newton_falls_back_where_nothing_is_left(embedding, rows, removals):
    """Without any document no context is left, so no Hessian at X~ can be inverted."""
    everything = influence.removals_of_sets(rows, removals, [np.arange(removals.n_units)])
    result = differential_bias(rows, everything, WEAT, embedding)
    assert result.fallbacks.tolist() == [len(rows.words)]
    assert result.values[0, 1] == result.values[0, 0]


def test_attributes_with_one_vector_have_no_differential_bias(embedding, rows, removals):
    """Where the attributes do not differ, B is 0 / 0."""
    same = {**embedding, "W": embedding["W"].copy()}
    same["W"][np.concatenate([WEAT.A, WEAT.B])] = np.eye(D)[0]
    result = differential_bias(rows, removals, WEAT, same)
    assert np.isnan(result.baseline)
    assert np.isnan(result.values).all()
