import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.text._recurrent_kernels import BLOCK, find_prefixes, sigmoid, tanh
from biaslab.text.recurrent import SHARE, Recurrent, initial_recurrent, load_recurrent
from biaslab.text.words import Texts
from naive import recurrent as naive
from recurrent_data import random_recurrent, random_texts, torch_twin, weights_of

KINDS = "lstm", "gru"
SHAPES = [(10, 3, 6), (3, 1, 2)]  # hidden units, layers, numbers of a vector


def expected_logits(network, texts):
    return [naive.logits(network.kind, *weights_of(network), network.vectors[row]) for row in texts]


@pytest.mark.parametrize(("function", "exact"), [(tanh, np.tanh), (sigmoid, lambda x: 1 / (1 + np.exp(-x)))])
def test_activations_are_near_the_functions(function, exact):
    x = np.concatenate([np.linspace(-20, 20, 20001), [0.0, 1e-8, -1e-8, 8.5, -8.5, 3e38, -3e38]])
    found = np.array([function(v) for v in x.astype(np.float32)])
    assert np.abs(found - exact(x.astype(np.float32).clip(-50, 50).astype(float))).max() < 3e-7


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_logits_equal_the_cells_number_by_number(kind, shape):
    network, texts = random_recurrent(kind, 1, *shape), random_texts(2, BLOCK + 5)
    np.testing.assert_allclose(network.logits(texts), expected_logits(network, texts), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_equal_finite_differences(kind, shape):
    network, texts = random_recurrent(kind, 3, *shape), random_texts(4, 7, longest=5)
    weights, labels = weights_of(network), np.arange(7) % 2
    gradients = network.gradients(texts, labels)
    assert gradients.shape == (len(texts.ids), shape[2])
    for i, row in enumerate(texts):
        x = network.vectors[row].astype(float)
        expected = naive.slopes(
            lambda x=x, i=i: naive.cross_entropy(kind, *weights, x, labels[i]), x, step=1e-5
        )
        found = gradients[texts.offsets[i] : texts.offsets[i + 1]].ravel()
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=3e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_logits_and_gradients_equal_torch(kind):
    network, texts = random_recurrent(kind, 5, d=50), random_texts(6, 80, longest=25)
    torch, twin, W_out, b_out = torch_twin(network)
    labels = np.random.default_rng(7).integers(0, 2, 80)
    logits, gradients = network.logits(texts), network.gradients(texts, labels)
    for i, row in enumerate(texts):
        if len(row):
            x = torch.tensor(network.vectors[row]).double().requires_grad_()
            z = twin(x)[0][-1] @ W_out.T + b_out
            torch.nn.functional.cross_entropy(z[None], torch.tensor(labels[i : i + 1])).backward()
            np.testing.assert_allclose(logits[i], z.detach(), atol=2e-5)
            found = gradients[texts.offsets[i] : texts.offsets[i + 1]]
            np.testing.assert_allclose(found, x.grad, rtol=1e-3, atol=3e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_does_not_depend_on_its_batch_or_on_threads(kind):
    network, texts = random_recurrent(kind, 8, d=50), random_texts(9, 2 * SHARE // 10, longest=24)
    assert len(texts.ids) >= 2 * SHARE
    labels = np.arange(len(texts)) % 2
    results = []
    for threads in (1, 2):
        set_threads(threads)
        again = Recurrent(kind, network.vectors, network.layers, network.W_out, network.b_out)
        results.append((again.probabilities(texts), again.gradients(texts, labels)))
    for a, b in zip(*results, strict=True):
        assert a.tobytes() == b.tobytes()
    shuffled = np.random.default_rng(10).permutation(len(texts))
    probabilities, gradients = results[0]
    for rows in (shuffled[:1], shuffled[1:30], shuffled[30:300]):
        part = texts.take(rows)
        assert network.probabilities(part).tobytes() == probabilities[rows].tobytes()
        expected = [gradients[texts.offsets[i] : texts.offsets[i + 1]] for i in rows]
        assert network.gradients(part, labels[rows]).tobytes() == np.concatenate(expected).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_variants_of_a_text_are_what_they_are_alone(kind):
    """Texts that share first words, or all, with others before them; one word at a time is replaced."""
    network, rng, rows = random_recurrent(kind, 30), np.random.default_rng(31), []
    for text in random_texts(32, 30, longest=15):
        for position in rng.integers(0, max(1, len(text)), 2):
            for word in rng.integers(0, 40, 5):
                rows.append(text.copy())
                rows[-1][position : position + 1] = word
        rows += [text[:3], text, text]
    texts = Texts.of(rows)
    counts = np.empty((2, len(texts)), np.int64)
    assert find_prefixes(texts.ids, texts.offsets, *counts, np.empty(len(texts.ids), np.int64)) > 20
    assert (counts[0] == texts.lengths).sum() > 20
    assert ((counts[0] > 0) & (counts[0] < texts.lengths)).sum() > 50
    alone = np.concatenate([network.logits(texts.take([i])) for i in range(len(texts))])
    assert network.logits(texts).tobytes() == alone.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_text_has_the_logits_of_zero_states(kind):
    network = random_recurrent(kind, 11)
    texts = Texts.of([[], [3, 1], []])
    assert network.logits(texts)[0].tobytes() == network.b_out.tobytes()
    assert network.gradients(texts, np.array([1, 0, 1])).shape == (2, 6)
    alone = Texts.of([[], []])
    assert network.logits(alone).tobytes() == np.tile(network.b_out, 2).tobytes()
    assert network.gradients(alone, np.array([0, 1])).shape == (0, 6)
    assert network.probabilities(Texts.of([])).shape == (0, 2)


def test_probabilities_are_the_softmax_even_of_huge_logits():
    network, texts = random_recurrent("lstm", 12), random_texts(13, 50)
    exponentials = np.exp(np.array(expected_logits(network, texts)))
    expected = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(network.probabilities(texts), expected, atol=1e-5)
    huge = network.with_weights(network.layers, 1e4 * network.W_out, network.b_out)
    p = huge.probabilities(texts)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-6)
    sure = p.min(axis=1) == 0
    assert sure.any()
    labels = p.argmax(axis=1)
    assert np.isfinite(huge.gradients(texts, labels)).all()


def test_gradients_of_sure_texts_keep_their_digits():
    """Where the label has probability 1 in float32, the gradient is still that of the other's probability."""
    network, texts = random_recurrent("gru", 14), random_texts(15, 20)
    sure = network.with_weights(network.layers, network.W_out, np.array([30.0, 0.0]))
    labels = np.zeros(20, int)
    assert (sure.probabilities(texts)[:, 0] == 1).all()
    small = sure.gradients(texts, labels)
    z = np.array(expected_logits(sure, texts))
    ratio = (1 / (1 + np.exp(z[:, 1] - z[:, 0]))) / (1 / (1 + np.exp(z[:, 0] - z[:, 1])))
    other = sure.gradients(texts, 1 - labels) / np.repeat(ratio, texts.lengths)[:, None]
    np.testing.assert_allclose(small, -other, rtol=1e-4, atol=1e-19)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_network_is_the_same(kind, tmp_path):
    network, texts = random_recurrent(kind, 17), random_texts(18, 30)
    network.save(tmp_path / "n.npz")
    again = load_recurrent(tmp_path / "n.npz", network.vectors)
    assert again.kind == kind
    assert again.logits(texts).tobytes() == network.logits(texts).tobytes()


def test_initial_weights_are_drawn_as_torch_draws_them():
    vectors = np.ones((4, 50))
    network = initial_recurrent("lstm", vectors, 1)
    values = np.concatenate([a.ravel() for layer in network.layers for a in layer])
    assert len(values) == 40 * (50 + 10 + 2) + 2 * 40 * (10 + 10 + 2)
    assert np.abs(values).max() <= np.float32(10**-0.5)
    assert np.std(values) == pytest.approx(10**-0.5 / 3**0.5, rel=0.05)
    again, other = initial_recurrent("lstm", vectors, 1), initial_recurrent("lstm", vectors, 2)
    assert np.array_equal(network.layers[2][1], again.layers[2][1])
    assert not np.array_equal(network.layers[2][1], other.layers[2][1])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda arrays: arrays.pop("b_hh_1"), "a recurrent network has the arrays .* train the network"),
        (lambda arrays: arrays.clear(), ".*has the arrays W_ih_0"),
        (lambda arrays: arrays.update(W_hh_0=np.ones(3)), "layer 0 has weights"),
        (lambda arrays: arrays.update(b_ih_2=np.full(40, np.nan)), "a weight .* is not finite; train"),
    ],
)
def test_wrong_files_are_refused(tmp_path, change, problem):
    network, path = random_recurrent("lstm", 19), tmp_path / "n.npz"
    network.save(path)
    with pytest.raises(InputError, match=r"n\.npz: layer 0 has weights .* reads 5 numbers .* use the"):
        load_recurrent(path, network.vectors[:, :5])
    arrays = dict(np.load(path))
    change(arrays)
    np.savez(path, **arrays)
    with pytest.raises(InputError, match=rf"n\.npz: {problem}"):
        load_recurrent(path, network.vectors)


def test_wrong_networks_and_texts_are_refused():
    network = random_recurrent("gru", 20)
    vectors, layers, W_out, b_out = network.vectors, network.layers, network.W_out, network.b_out
    two = Texts.of([[1], [2]])
    for make, problem in (
        (lambda: Recurrent("lstm", vectors, layers, W_out, b_out), "layer 0 has weights"),
        (lambda: Recurrent("gru", np.full((4, 6), np.inf), layers, W_out, b_out), "all numbers finite"),
        (lambda: Recurrent("gru", vectors, layers, np.ones((3, 10)), np.ones(3)), "has two logits"),
        (lambda: Recurrent("gru", vectors, [], W_out, b_out), "at least one layer"),
        (lambda: network.probabilities(Texts.of([[1, 40]])), "there are 40 vectors; encode texts with the"),
        (lambda: network.gradients(two, np.array([0, 2])), "a label is 2; write 0 or 1"),
        (lambda: network.gradients(two, np.array([0])), "pass one label per text"),
    ):
        with pytest.raises(InputError, match=problem):
            make()
