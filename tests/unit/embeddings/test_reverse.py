from dataclasses import replace

import numpy as np
import pytest

from biaslab.core.rng import stream
from biaslab.embeddings import reverse
from biaslab.embeddings.glove import GloveParameters, train, weighting
from naive import embeddings as naive
from unit.embeddings.test_glove import literal_start, small_x

PARAMETERS = GloveParameters(dimension=3, epochs=3, x_max=20.0)
ORACLE_RTOL = 2e-3  # what the training met is float32, the oracle's differences are of float64
STEP = 1e-5


def measured(w):
    """Something measured in the word vectors: a number that no rotation leaves alone."""
    weights = np.cos(np.arange(w.size)).reshape(w.shape)
    return float(np.sum(weights * w) + np.sum(w.astype(float) ** 2)), weights + 2 * w.astype(float)


def differentiate(x, parameters=PARAMETERS, seed=3, **given):
    return reverse.differentiate(x, parameters, stream(seed), lambda e: measured(e.W)[1], **given)


def by_count(found, x, parameters):
    """The derivatives by X_ij, of those by f(X_ij) and f(X_ij) log X_ij."""
    values = x.counts / x.unit
    f = weighting(values, parameters.x_max, parameters.alpha)
    slope = np.where(values < parameters.x_max, parameters.alpha * f / values, 0)
    return found.by_weight * slope + found.by_product * (slope * np.log(values) + f / values)


def literal_training(order, start, parameters):
    w, u, b, c = (array.copy() for array in start)
    sums = {"w": np.ones_like(w), "u": np.ones_like(u), "b": np.ones_like(b), "c": np.ones_like(c)}
    for _ in range(parameters.epochs):
        naive.glove_epoch(
            order, w, u, b, c, sums, parameters.x_max, parameters.alpha, parameters.learning_rate
        )
    return measured(w)[0]


@pytest.mark.parametrize(("x_max", "largest"), [(20.0, 1.0), (1.0, 1.0), (20.0, 1e50)])
def test_derivatives_equal_differences_of_literal_trainings(x_max, largest):
    x, parameters = small_x(n_words=6, n_tokens=300), replace(PARAMETERS, x_max=x_max, epochs=2)
    # log 1e50 = 115: the gradients of the biases of that row are clipped at first
    x = replace(x, counts=x.counts * np.where(x.rows() == 0, largest, 1.0))
    order, start = literal_start(x, parameters, 3)
    expected = []
    for place in zip(x.rows().tolist(), x.indices.tolist(), strict=True):
        moved = [[(i, j, v * (1 + s * STEP * ((i, j) == place))) for i, j, v in order] for s in (1, -1)]
        more, less = (literal_training(of, start, parameters) for of in moved)
        expected.append((more - less) / (2 * STEP))
    found = by_count(differentiate(x, parameters), x, parameters) * x.counts / x.unit
    np.testing.assert_allclose(found, expected, rtol=ORACLE_RTOL, atol=ORACLE_RTOL * np.abs(expected).max())


def test_a_document_that_fades_changes_what_is_measured_as_predicted():
    x, seed = small_x(), 5
    share = np.random.default_rng(2).random(len(x.counts)) * 0.5  # of each count, that of one document
    found = differentiate(x, seed=seed)
    predicted = by_count(found, x, PARAMETERS) @ (share * x.counts / x.unit)
    errors = []
    for step in (0.4, 0.1, 0.025):
        faded = replace(x, counts=x.counts * (1 - step * share))
        lost = (
            measured(train(x, PARAMETERS, stream(seed)).W)[0]
            - measured(train(faded, PARAMETERS, stream(seed)).W)[0]
        )
        errors.append(abs(lost / step / predicted - 1))
    assert errors[0] > 2 * errors[1] > 4 * errors[2], errors
    assert errors[2] < 0.01, errors


def test_it_is_the_very_training_and_memory_and_threads_change_no_bit():
    x, epochs = small_x(), []
    few = differentiate(x, memory=0.0, threads=2)
    many = differentiate(x, memory=100.0, progress=lambda: epochs.append(1))
    assert len(epochs) == PARAMETERS.epochs
    trained = train(x, PARAMETERS, stream(3))
    for name in ("W", "U", "b", "c"):
        np.testing.assert_array_equal(getattr(many.embedding, name), getattr(trained, name))
    for name in ("by_weight", "by_product"):
        np.testing.assert_array_equal(getattr(few, name), getattr(many, name))
    assert many.trained <= 3 < few.trained


@pytest.mark.parametrize("slots", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("length", [2, 3, 17, 100])
def test_a_split_is_inside_the_chain(length, slots):
    assert 1 <= reverse._split(length, slots) <= length - 1
