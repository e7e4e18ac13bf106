"""The weights of recurrent networks, from torch's layout to that of the kernels and back.

The kernels want the gates in another order, and hidden units and numbers of a vector padded with zeros.
"""

from collections.abc import Sequence

import numpy as np

from biaslab.text._recurrent_kernels import TILE, Parameters

GATES = {"lstm": 4, "gru": 3}
"""Gates of a cell by its kind."""
ORDERS = {"lstm": ((0, 1, 3, 2), (0, 1, 3, 2)), "gru": ((2, 0, 1), (0, 1, 2))}
"""Torch's number of each gate of the kernels' rows, for weights of inputs and of states."""

Layer = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""W_ih, W_hh, b_ih and b_hh of a layer in torch's layout."""


def pack(
    kind: str, layers: Sequence[Layer], W_out: np.ndarray, b_out: np.ndarray
) -> tuple[Parameters, np.ndarray]:
    """Return all weights as the kernels take them, and the flat array, (p,) float32, under these views."""
    hidden, d = W_out.shape[1], layers[0][0].shape[1]
    parameters, flat = _zeros(kind, _padded(hidden), _padded(d), len(layers))
    by_input, by_state = ORDERS[kind]
    for i, (W_ih, W_hh, b_ih, b_hh) in enumerate(layers):
        _put(W_ih, by_input, parameters.inputs[i - 1] if i else parameters.first)
        _put(W_hh, by_state, parameters.states[i])
        _put(b_ih[:, None], by_input, parameters.input_biases[i][:, None])
        _put(b_hh[:, None], by_state, parameters.state_biases[i][:, None])
    parameters.out[:, :hidden] = W_out
    parameters.out_bias[:] = b_out
    return parameters, flat


def unpack(
    kind: str, parameters: Parameters, hidden: int, d: int
) -> tuple[list[Layer], np.ndarray, np.ndarray]:
    """Return the layers, W_out and b_out, copied, that `pack` makes `parameters` of; without padding."""
    by_input, by_state = (np.argsort(order) for order in ORDERS[kind])
    layers = [
        (
            _taken(parameters.inputs[i - 1] if i else parameters.first, by_input, hidden, hidden if i else d),
            _taken(parameters.states[i], by_state, hidden, hidden),
            _taken(parameters.input_biases[i][:, None], by_input, hidden, 1)[:, 0],
            _taken(parameters.state_biases[i][:, None], by_state, hidden, 1)[:, 0],
        )
        for i in range(len(parameters.states))
    ]
    return layers, parameters.out[:, :hidden].copy(), parameters.out_bias.copy()


def gate_shift(kind: str, parameters: Parameters) -> int:
    """Return the first row of gates that products of states go to."""
    return 0 if kind == "lstm" else parameters.out.shape[1]


def _zeros(kind: str, n: int, d: int, depth: int) -> tuple[Parameters, np.ndarray]:
    rows = GATES[kind] * n
    shapes = (rows, d), (depth - 1, rows, n), (depth, rows, n), (depth, rows), (depth, rows), (2, n), (2,)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    flat = np.zeros(ends[-1], np.float32)
    parts = np.split(flat, ends[:-1])
    return Parameters(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))), flat


def _padded(n: int) -> int:
    return -(-n // TILE) * TILE


def _put(weights: np.ndarray, order: Sequence[int], out: np.ndarray) -> None:
    """Write the gates of `weights`, (G H, n), in another order and padded, into `out`."""
    gates = weights.reshape(len(order), -1, weights.shape[1])[list(order)]
    out.reshape(len(order), -1, out.shape[1])[:, : gates.shape[1], : gates.shape[2]] = gates


def _taken(weights: np.ndarray, order: np.ndarray, n: int, width: int) -> np.ndarray:
    """Return the gates of padded weights in another order, each with `n` rows of `width` numbers."""
    return weights.reshape(len(order), -1, weights.shape[1])[order, :n, :width].reshape(-1, width)
