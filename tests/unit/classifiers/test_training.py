import numpy as np
import pytest

from biaslab.classifiers import _training_kernels
from biaslab.classifiers import training as training_module
from biaslab.classifiers.networks import Network
from biaslab.classifiers.training import (
    BETA1,
    BETA2,
    EPSILON,
    HIDDEN,
    Standardisation,
    Training,
    initial_network,
    train,
)
from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from fairness_data import random_network, small_domain
from naive import classifiers as naive

SIZES = [(5, 8, 6, 2), (5, 3), (5, *HIDDEN, 2)]


def labelled(n, seed):
    """Samples whose label is whether the income exceeds the age."""
    X = small_domain().draw(n, np.random.default_rng(seed))
    return X, (X[:, 0] > X[:, 2]).astype(np.int64)


@pytest.mark.parametrize("sizes", SIZES)
def test_weight_gradients_equal_finite_differences(sizes):
    network = random_network(1, sizes)
    rng = np.random.default_rng(2)
    X = (small_domain().draw(15, rng) / 4).astype(np.float32)
    y = rng.integers(0, sizes[-1], 15)
    packed_sizes, weights, biases = (a.copy() for a in network.packed)
    means = tuple(np.zeros_like(a) for a in (weights, weights, biases, biases))
    packed = (packed_sizes, weights, biases, means)
    adam = (0.01, BETA1, BETA2, EPSILON)
    _training_kernels.train_batches(X, y, np.arange(15), 15, sizes[-1], *packed, 0, *adam)
    gradients = [mean / np.float32(1 - BETA1) for mean in means[::2]]  # after one step
    layers = [[w.astype(float) for w in network.weights], [b.astype(float) for b in network.biases]]
    first_w = first_b = 0
    for layer, w in enumerate(layers[0]):
        n_in, n_out = packed_sizes[layer : layer + 2]
        by_weight = gradients[0][first_w : first_w + n_in * n_out].reshape(n_out, n_in)
        by_bias = gradients[1][first_b : first_b + n_out]
        assert not by_weight[w.shape[1] :].any()
        assert not by_weight[:, w.shape[0] :].any()
        assert not by_bias[w.shape[1] :].any()
        for _ in range(3):
            i, j = rng.integers(0, w.shape)
            for array, place, found in ((w, (i, j), by_weight[j, i]), (layers[1][layer], j, by_bias[j])):
                expected = naive.slope_of_mean_cross_entropy(*layers, X, y, array, place, step=1e-6)
                assert found == pytest.approx(expected, rel=2e-3, abs=2e-6)
        first_w, first_b = first_w + n_in * n_out, first_b + n_out


def test_steps_of_adam_equal_those_by_hand():
    rng = np.random.default_rng(3)
    start = rng.normal(size=7)
    gradients = rng.normal(size=(5, 7)) * 10.0 ** rng.integers(-6, 3, 7)
    expected = naive.adam(start, gradients, rate=0.01, beta1=BETA1, beta2=BETA2, epsilon=EPSILON)
    parameters, means, squares = start.astype(np.float32), np.zeros(7, np.float32), np.zeros(7, np.float32)
    for step, g in enumerate(gradients.astype(np.float32), start=1):
        rate = np.float32(0.01 * np.sqrt(1 - BETA2**step) / (1 - BETA1**step))
        constants = (np.float32(v) for v in (BETA1, BETA2, EPSILON))
        _training_kernels.adam_step(parameters, g, means, squares, rate, *constants)
    np.testing.assert_allclose(parameters, expected, rtol=1e-5)


def test_batches_equal_steps_one_by_one():
    """Three steps, the last of fewer samples, against finite differences and Adam in double precision."""
    network = random_network(4, (5, 4, 2))
    rng = np.random.default_rng(5)
    X = (small_domain().draw(20, rng) / 4).astype(np.float32)
    y, order = rng.integers(0, 2, 20), np.array([3, 1, 4, 1, 5, 9, 2, 6, 10, 3, 15])
    training = Training(network, batch=4)
    training.run(X, y, order[:8], 0.01)
    training.run(X, y, order[8:], 0.01)
    expected = naive.train_by_adam(
        network.weights, network.biases, X, y, [order[:4], order[4:8], order[8:]], rate=0.01, step=1e-6
    )
    for found, layers in zip((training.network.weights, training.network.biases), expected, strict=True):
        for a, b in zip(found, layers, strict=True):
            np.testing.assert_allclose(a, b, atol=2e-4)


def test_training_learns_and_repeats_byte_for_byte():
    X, y = labelled(1500, 6)
    networks = []
    for threads in (1, 2):
        set_threads(threads)
        networks.append(train(X, y, 2, epochs=10, seed=7))
    assert networks[0].accuracy(X, y) > 0.97
    for a, b in zip(*(n.weights + n.biases for n in networks), strict=True):
        assert a.tobytes() == b.tobytes()
    one, other = (train(X, y, 2, epochs=1, seed=seed) for seed in (7, 8))
    assert not np.array_equal(other.weights[0], one.weights[0])


def test_training_does_not_depend_on_units_and_origins_of_attributes():
    X, y = labelled(2000, 9)
    scale = np.array([1000, 1, 50, 1, 7])
    far = train((X * scale + 300).astype(np.int32), y, 2, epochs=8, seed=7)
    assert far.accuracy((X * scale + 300).astype(np.int32), y) > 0.97


def test_folding_moves_no_label():
    X, _ = labelled(500, 13)
    X[:, 1] = 2  # an attribute of one value
    standard, network = Standardisation.of(X), random_network(14)
    inputs = standard.inputs(X)
    np.testing.assert_allclose(inputs.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(inputs.std(axis=0), [1, 0, 1, 1, 1], atol=1e-6)
    unfolded = standard.unfold(network)
    expected = [naive.network_logits(unfolded.weights, unfolded.biases, x) for x in inputs[:50]]
    np.testing.assert_allclose(network.logits(X[:50]), expected, atol=1e-4)
    np.testing.assert_allclose(standard.fold(unfolded).logits(X), network.logits(X), atol=1e-4)


def test_initial_weights_into_a_unit_have_length_one():
    network = initial_network(13, 2, np.random.default_rng(15))
    assert [w.shape for w in network.weights] == [(13, 64), (64, 32), (32, 16), (16, 8), (8, 4), (4, 2)]
    for w, b in zip(network.weights, network.biases, strict=True):
        np.testing.assert_allclose((w**2).sum(axis=0), 1, rtol=1e-5)
        assert not b.any()


def test_dead_networks_are_replaced(monkeypatch):
    """The first two initial networks are dead: no unit of the first layer ever answers."""
    X, y = labelled(500, 17)
    dead = Network([np.zeros((5, 3)), np.ones((3, 2))], [np.full(3, -1.0), np.zeros(2)])
    given = []

    def initial(n_attributes, n_classes, rng):
        given.append(rng)
        return dead if len(given) < 3 else initial_network(n_attributes, n_classes, rng)

    monkeypatch.setattr(training_module, "initial_network", initial)
    assert train(X, y, 2, epochs=10, seed=1).accuracy(X, y) > 0.9
    assert len(given) == 3
    assert len({float(rng.random()) for rng in given}) == 3
    train(X, np.zeros(500, int), 2, epochs=1, seed=1)  # one label is right here
    assert len(given) == 4


@pytest.mark.parametrize(
    ("n", "n_labels", "n_classes", "message"),
    [
        (20, 19, 2, "one label per sample, and at least one"),
        (0, 0, 2, "one label per sample, and at least one"),
        (20, 20, 1, "labels are 0 to 1; those of 1 classes are 0 to 0"),
    ],
)
def test_data_that_do_not_fit_are_refused(n, n_labels, n_classes, message):
    X, y = labelled(20, 16)
    with pytest.raises(InputError, match=message):
        train(X[:n], y[:n_labels], n_classes, epochs=1, seed=1)
