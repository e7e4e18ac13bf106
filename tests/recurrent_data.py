"""Random recurrent networks and texts for tests."""

import numpy as np
import pytest

from biaslab.text.recurrent import GATES, Recurrent
from biaslab.text.words import Texts

N_WORDS = 40


def random_recurrent(kind, seed, hidden=10, depth=3, d=6, n_words=N_WORDS, scale=0.7):
    """A network whose gates are neither all open nor all closed."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.normal(0, scale, shape)

    rows = GATES[kind] * hidden
    layers = [
        (draw(rows, width), draw(rows, hidden), draw(rows), draw(rows))
        for width in (d, *[hidden] * (depth - 1))
    ]
    return Recurrent(kind, rng.normal(size=(n_words, d)), layers, draw(2, hidden), draw(2))


def random_texts(seed, n, longest=9, n_words=N_WORDS):
    """Texts of 0 to `longest` words."""
    rng = np.random.default_rng(seed)
    return Texts.of([rng.integers(0, n_words, rng.integers(0, longest + 1)) for _ in range(n)])


def weights_of(network):
    """All weights of a network, as float64 and in order: layers, W_out, b_out."""
    layers = [tuple(a.astype(float) for a in layer) for layer in network.layers]
    return layers, network.W_out.astype(float), network.b_out.astype(float)


def torch_twin(network):
    """The same network in torch, in double precision."""
    torch = pytest.importorskip("torch")
    cls = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[network.kind]
    twin = cls(network.vectors.shape[1], network.hidden, len(network.layers)).double()
    for i, layer in enumerate(network.layers):
        names = (f"weight_ih_l{i}", f"weight_hh_l{i}", f"bias_ih_l{i}", f"bias_hh_l{i}")
        for name, array in zip(names, layer, strict=True):
            getattr(twin, name).data = torch.tensor(array).double()
    W_out, b_out = (torch.tensor(a).double().requires_grad_() for a in (network.W_out, network.b_out))
    return torch, twin, W_out, b_out
