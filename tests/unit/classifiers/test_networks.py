from functools import partial

import numpy as np
import pytest

from biaslab.classifiers.networks import SHARE, Network, load_network, save_network
from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from fairness_data import random_network, small_domain
from naive import classifiers as naive
from naive.recurrent import slopes

SIZES = [(5, 8, 6, 2), (5, 2), (5, 7, 3), (5, 64, 32, 16, 8, 4, 2)]


@pytest.mark.parametrize("sizes", SIZES)
def test_logits_equal_unit_by_unit_sums(sizes):
    network = random_network(1, sizes)
    X = small_domain().draw(70, np.random.default_rng(2))
    expected = [naive.network_logits(network.weights, network.biases, x) for x in X]
    np.testing.assert_allclose(network.logits(X), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("sizes", SIZES)
def test_input_gradients_equal_finite_differences(sizes):
    network = random_network(3, sizes)
    X = small_domain().draw(40, np.random.default_rng(4))
    labels = np.arange(40) % network.n_classes
    gradients = network.input_gradients(X, labels)
    for x, label, gradient in zip(X.astype(float), labels, gradients, strict=True):
        loss = partial(naive.cross_entropy, network.weights, network.biases, x, label)
        assert gradient == pytest.approx(slopes(loss, x, step=1e-6), rel=2e-3, abs=2e-5)


def test_samples_do_not_depend_on_their_batch_or_on_threads():
    network = random_network(5)
    n = 2 * SHARE + 45
    X = small_domain().draw(n, np.random.default_rng(6))
    labels = network.labels(X)
    results = []
    for threads in (1, 2):
        set_threads(threads)
        results.append((network.logits(X), network.input_gradients(X, labels)))
    single = [network.logits(X[i : i + 1]) for i in range(0, n, 400)]
    single_gradients = [network.input_gradients(X[i : i + 1], labels[i : i + 1]) for i in range(0, n, 400)]
    assert np.array_equal(results[0][0], results[1][0])
    assert np.array_equal(results[0][1], results[1][1])
    assert np.array_equal(np.concatenate(single), results[0][0][::400])
    assert np.array_equal(np.concatenate(single_gradients), results[0][1][::400])


def test_probabilities_sum_to_one_where_logits_are_huge():
    network = random_network(7, scale=100.0)
    p = network.probabilities(small_domain().draw(50, np.random.default_rng(8)))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)


def test_saved_network_is_the_same(tmp_path):
    network = random_network(9)
    save_network(tmp_path / "n.npz", network)
    again = load_network(tmp_path / "n.npz")
    X = small_domain().draw(50, np.random.default_rng(10))
    assert np.array_equal(network.logits(X), again.logits(X))
    assert (again.n_attributes, again.n_classes) == (5, 2)


W, B = [np.ones((3, 4)), np.ones((4, 2))], [np.ones(4), np.ones(2)]


@pytest.mark.parametrize(
    ("weights", "biases", "message"),
    [
        ([W[0], np.ones((5, 2))], B, "layer 1: weights"),
        (W, [B[0], np.array([0, np.nan])], "not finite"),
        ([np.ones((3, 1))], [np.ones(1)], "at least two"),
        ([], [], "at least one layer"),
        (W, B, "expects 3 attributes, the samples have 5"),
    ],
)
def test_a_wrong_network_is_refused(weights, biases, message):
    with pytest.raises(InputError, match=message):
        Network(weights, biases).labels(np.ones((2, 5), np.int32))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [({"bias": B[0]}, r"n\.npz: expected the arrays"), ({"b0": np.ones(3)}, r"n\.npz: layer 0")],
)
def test_a_wrong_file_is_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "n.npz", W0=W[0], **arrays)
    with pytest.raises(InputError, match=message):
        load_network(tmp_path / "n.npz")
