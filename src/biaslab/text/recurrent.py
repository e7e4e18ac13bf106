"""Recurrent classifiers of texts: an LSTM or GRU, and a layer of two logits (Zhang et al. 2021, Section 5.1).

The LSTM is that of Hochreiter and Schmidhuber (1997) with forget gates (Gers et al. 2000), the GRU that of
Cho et al. (2014). Weights and order of gates follow ``torch.nn.LSTM`` and ``torch.nn.GRU``:

LSTM: i, f, g, o of W_ih x_t + b_ih + W_hh h_{t-1} + b_hh; i, f, o = σ(.), g = tanh(.);
c_t = f ⊙ c_{t-1} + i ⊙ g; h_t = o ⊙ tanh(c_t).

GRU: r, z = σ(.) of the same sums; n = tanh(W_in x_t + b_in + r ⊙ (W_hn h_{t-1} + b_hn));
h_t = (1 - z) ⊙ n + z ⊙ h_{t-1}.

The kernels need a different order of gates, and hidden units and vectors padded with zeros (`pack`).
"""

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import softmax

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.core.jit import at_most_threads
from biaslab.core.rng import stream
from biaslab.text import _recurrent_kernels as kernels
from biaslab.text._recurrent_kernels import TILE, Parameters
from biaslab.text.words import Texts

GATES = {"lstm": 4, "gru": 3}
_ORDERS = {"lstm": ((0, 1, 3, 2), (0, 1, 3, 2)), "gru": ((2, 0, 1), (0, 1, 2))}
"""Torch's gate number of each row of gates in the kernels, for input weights and for state weights."""

Layer = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""W_ih, W_hh, b_ih and b_hh of a layer in torch's layout."""
HIDDEN, DEPTH = 10, 3  # number of units of a layer, and number of layers, in the paper's networks
SHARE = 8192  # minimum number of words for each thread
_LAYER = "W_ih", "W_hh", "b_ih", "b_hh"


class Recurrent:
    """A recurrent classifier of texts, "lstm" or "gru"; a `models.TextModel`.

    `vectors`, (V, d), has the vector of each word, stored as float32. `layers`, from first to last, are
    (W_ih, W_hh, b_ih, b_hh) in torch's layout: (G H, d or H), (G H, H), (G H,), (G H,); G is 4 for an LSTM
    and 3 for a GRU. `W_out`, (2, H), and `b_out` map the last layer's state after the last word (zero for an
    empty text) to the logits.
    """

    def __init__(
        self, kind: str, vectors: np.ndarray, layers: Sequence[Layer], W_out: np.ndarray, b_out: np.ndarray
    ) -> None:
        self.kind = kind
        self.vectors = np.ascontiguousarray(vectors, np.float32)
        self.layers = [tuple(np.ascontiguousarray(a, np.float32) for a in layer) for layer in layers]
        self.W_out, self.b_out = (
            np.ascontiguousarray(W_out, np.float32),
            np.ascontiguousarray(b_out, np.float32),
        )
        _check(self)

    @property
    def hidden(self) -> int:
        """Number of units of a layer, H."""
        return self.W_out.shape[1]

    def with_weights(self, layers: Sequence[Layer], W_out: np.ndarray, b_out: np.ndarray) -> "Recurrent":
        """Return a network of the same type and vectors with other weights; errors as for this class."""
        return Recurrent(self.kind, self.vectors, layers, W_out, b_out)

    @cached_property
    def _kernel_arguments(self) -> tuple[kernels.Parameters, int, np.ndarray]:
        """Parameters, shift, and the table of every word's contribution to the first layer's gates."""
        parameters, _ = pack(self)
        shift = gate_shift(self.kind, parameters)
        table = np.empty((len(self.vectors), 4 * parameters.out.shape[1]), np.float32)
        with at_most_threads(max(1, len(self.vectors) // SHARE)):
            kernels.fill_table(parameters, shift, self.vectors, table)
        return parameters, shift, table

    def logits(self, texts: Texts) -> np.ndarray:
        """Return the outputs before the softmax, (n, 2) float32, of n texts.

        A prefix that a text shares with an earlier text is read once, so place variants of a text next to
        each other.
        """
        check_words(texts, self.vectors)
        out = np.empty((len(texts), 2), np.float32)
        skips, starts = np.empty(len(texts), np.int64), np.empty(len(texts), np.int64)
        saves = np.empty(len(texts.ids), np.int64)
        n_rows = kernels.find_prefixes(texts.ids, texts.offsets, skips, starts, saves)
        by_length = np.argsort(texts.lengths - skips, kind="stable")
        with at_most_threads(max(1, len(texts.ids) // SHARE)):
            parameters, shift, table = self._kernel_arguments
            n_layers, _, n_units = parameters.states.shape
            prefixes = skips, starts, saves, np.empty((n_rows, 2, n_layers, n_units), np.float32)
            for is_read in (starts < 0, starts >= 0):
                order = by_length[is_read[by_length]]
                kernels.recurrent_logits(
                    parameters, shift, table, texts.ids, texts.offsets, *prefixes, order, out
                )
        return out

    def probabilities(self, texts: Texts) -> np.ndarray:
        """Return the softmax of the logits, (n, 2) float32; see `models.TextModel`."""
        return softmax(self.logits(texts), axis=1)

    def gradients(self, texts: Texts, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy, (m, d) float32; see `models.TextModel`."""
        check_words(texts, self.vectors)
        labels = checked_labels(texts, labels)
        out = np.empty((len(texts.ids), self.vectors.shape[1]), np.float32)
        order = np.argsort(texts.lengths, kind="stable")
        with at_most_threads(max(1, len(texts.ids) // SHARE)):
            kernels.recurrent_gradients(*self._kernel_arguments, texts.ids, texts.offsets, order, labels, out)
        return out

    def save(self, path: str | os.PathLike) -> None:
        """Write the weights (.npz), without the vectors."""
        arrays = {
            f"{name}_{i}": array
            for i, layer in enumerate(self.layers)
            for name, array in zip(_LAYER, layer, strict=True)
        }
        write_npz(path, **arrays, W_out=self.W_out, b_out=self.b_out)


def load_recurrent(path: str | os.PathLike, vectors: np.ndarray) -> Recurrent:
    """Read a network that `Recurrent.save` wrote, for `vectors`; infer its type from the shapes of arrays."""
    arrays = read_npz(path)
    n_layers = sum(name.startswith("W_ih_") for name in arrays)
    expected = {f"{name}_{i}" for name in _LAYER for i in range(n_layers)} | {"W_out", "b_out"}
    if not n_layers or set(arrays) != expected:
        raise InputError(
            f"{path}: a recurrent network has the arrays W_ih_0, W_hh_0, b_ih_0, b_hh_0, …, W_out, b_out, "
            f"not {', '.join(sorted(arrays))}; train the network again"
        )
    rows, hidden = arrays["W_hh_0"].shape if arrays["W_hh_0"].ndim == 2 else (0, 1)
    kind = next((kind for kind, n in GATES.items() if rows == n * hidden), "lstm")
    layers = [tuple(arrays[f"{name}_{i}"] for name in _LAYER) for i in range(n_layers)]
    try:
        return Recurrent(kind, vectors, layers, arrays["W_out"], arrays["b_out"])
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def initial_recurrent(
    kind: str, vectors: np.ndarray, seed: int, hidden: int = HIDDEN, depth: int = DEPTH
) -> Recurrent:
    """Return an untrained network, all weights uniform in ±1/√H as torch draws them."""
    rng, rows = stream(seed, "initial recurrent network", kind), GATES[kind] * hidden

    def draw(*shape: int) -> np.ndarray:
        return rng.uniform(-(hidden**-0.5), hidden**-0.5, shape)

    widths = [np.shape(vectors)[1], *[hidden] * (depth - 1)]
    layers = [(draw(rows, width), draw(rows, hidden), draw(rows), draw(rows)) for width in widths]
    return Recurrent(kind, vectors, layers, draw(2, hidden), draw(2))


def pack(network: Recurrent) -> tuple[Parameters, np.ndarray]:
    """Return all weights in the kernels' layout, as views of a flat array, and the array, (p,) float32."""
    depth, sizes = len(network.layers), (network.hidden, network.vectors.shape[1])
    n, d = (-(-size // TILE) * TILE for size in sizes)  # padded
    rows = GATES[network.kind] * n
    shapes = (rows, d), (depth - 1, rows, n), (depth, rows, n), (depth, rows), (depth, rows), (2, n), (2,)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    flat = np.zeros(ends[-1], np.float32)
    parts = np.split(flat, ends[:-1])
    parameters = Parameters(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))
    by_input, by_state = _ORDERS[network.kind]
    for i, (W_ih, W_hh, b_ih, b_hh) in enumerate(network.layers):
        _insert(W_ih, by_input, parameters.inputs[i - 1] if i else parameters.first)
        _insert(W_hh, by_state, parameters.states[i])
        _insert(b_ih[:, None], by_input, parameters.input_biases[i][:, None])
        _insert(b_hh[:, None], by_state, parameters.state_biases[i][:, None])
    parameters.out[:, : network.hidden] = network.W_out
    parameters.out_bias[:] = network.b_out
    return parameters, flat


def unpack(network: Recurrent, parameters: Parameters) -> tuple[list[Layer], np.ndarray, np.ndarray]:
    """Return copies of the layers, W_out and b_out of `parameters` without padding: the inverse of `pack`."""
    by_input, by_state = (np.argsort(order) for order in _ORDERS[network.kind])
    hidden, d = network.hidden, network.vectors.shape[1]
    layers = [
        (
            _unpad(parameters.inputs[i - 1] if i else parameters.first, by_input, hidden, hidden if i else d),
            _unpad(parameters.states[i], by_state, hidden, hidden),
            _unpad(parameters.input_biases[i][:, None], by_input, hidden, 1)[:, 0],
            _unpad(parameters.state_biases[i][:, None], by_state, hidden, 1)[:, 0],
        )
        for i in range(len(parameters.states))
    ]
    return layers, parameters.out[:, :hidden].copy(), parameters.out_bias.copy()


def gate_shift(kind: str, parameters: Parameters) -> int:
    """Return the first row of gates that receives products of states."""
    return 0 if kind == "lstm" else parameters.out.shape[1]


def _insert(weights: np.ndarray, order: Sequence[int], out: np.ndarray) -> None:
    """Write the reordered gates of `weights`, (G H, n), into the padded array `out`."""
    gates = weights.reshape(len(order), -1, weights.shape[1])[list(order)]
    out.reshape(len(order), -1, out.shape[1])[:, : gates.shape[1], : gates.shape[2]] = gates


def _unpad(weights: np.ndarray, order: np.ndarray, n: int, width: int) -> np.ndarray:
    """Return the reordered gates of padded weights, each with `n` rows of `width` numbers."""
    return weights.reshape(len(order), -1, weights.shape[1])[order, :n, :width].reshape(-1, width)


def check_words(texts: Texts, vectors: np.ndarray) -> None:
    """Raise an error for a word without a vector."""
    if len(texts.ids) and not 0 <= texts.ids.min() <= texts.ids.max() < len(vectors):
        raise InputError(
            f"texts have the words {texts.ids.min()} to {texts.ids.max()}, but there are {len(vectors)} "
            "vectors; encode texts with the lexicon of the network"
        )


def checked_labels(texts: Texts, labels: np.ndarray) -> np.ndarray:
    """Return labels as (n,) int64."""
    labels = np.asarray(labels)
    if labels.shape != (len(texts),):
        raise InputError(f"{len(texts)} texts and labels {labels.shape}: pass one label per text")
    if not np.isin(labels, (0, 1)).all():
        raise InputError(f"a label is {labels[~np.isin(labels, (0, 1))][0]}; write 0 or 1")
    return np.ascontiguousarray(labels, np.int64)


def _check(network: Recurrent) -> None:
    if network.vectors.ndim != 2 or not network.vectors.size or not np.isfinite(network.vectors).all():
        raise InputError("a recurrent network needs vectors of words, all numbers finite; regenerate them")
    if network.W_out.ndim != 2 or len(network.W_out) != 2 or network.b_out.shape != (2,):
        raise InputError(
            f"the last layer has weights {network.W_out.shape} and bias {network.b_out.shape}; "
            "a network of texts has two logits, train it again"
        )
    if not network.layers:
        raise InputError("a recurrent network needs at least one layer; train it again")
    hidden, width = network.hidden, network.vectors.shape[1]
    for i, layer in enumerate(network.layers):
        rows = GATES[network.kind] * hidden
        shapes, expected = [a.shape for a in layer], [(rows, width), (rows, hidden), (rows,), (rows,)]
        if shapes != expected:
            raise InputError(
                f"layer {i} has weights {shapes}, where an {network.kind} of {hidden} units that reads "
                f"{width} numbers has {expected}; use the vectors of its training"
            )
        width = hidden
    arrays = [*(a for layer in network.layers for a in layer), network.W_out, network.b_out]
    if not all(np.isfinite(a).all() for a in arrays):
        raise InputError("a weight of the recurrent network is not finite; train it again")
