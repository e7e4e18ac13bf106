"""Fully connected networks with ReLU between the layers and a softmax at the end (Zhang et al. 2021)."""

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.special import softmax

from biaslab.classifiers import _kernels
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.core.jit import at_most_threads

__all__ = ["Network", "load_network", "save_network"]

SHARE = 8192  # minimum number of samples for each thread


class LogitModel:
    """The base of networks: a `models.Model` that defines `logits`, (n, k), of samples, (n, d) int32."""

    n_gradient_queries: int = 1
    logits: Callable[[np.ndarray], np.ndarray]

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the softmax of the logits; see `models.Model`."""
        return softmax(self.logits(X), axis=1)

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the most probable classes; see `models.Model`."""
        return self.logits(X).argmax(axis=1)

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and probabilities; see `models.Model`."""
        z = self.logits(X)
        return z.argmax(axis=1), softmax(z, axis=1)


class Network(LogitModel):
    """A classifier of integer samples; a `models.Model`.

    Parameters
    ----------
    weights : sequence of (n_in, n_out) array
        One matrix a layer, from the input; stored as float32.
    biases : sequence of (n_out,) array
        One vector a layer.

    Raises
    ------
    InputError
        If shapes are inconsistent, a number is not finite, or there are fewer than two classes. Methods raise
        it if samples have another number of attributes.
    """

    def __init__(self, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]) -> None:
        self.weights = [np.ascontiguousarray(w, np.float32) for w in weights]
        self.biases = [np.ascontiguousarray(b, np.float32) for b in biases]
        _check_layers(self.weights, self.biases)
        self.n_attributes, self.n_classes = self.weights[0].shape[0], self.weights[-1].shape[1]

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sizes, weights and biases in the layout of the kernels, every layer padded to entire lanes."""
        lanes = _kernels.LANES
        sizes = [-(-n // lanes) * lanes for n in (self.n_attributes, *map(len, self.biases))]
        weights = [np.zeros((n_out, n_in), np.float32) for n_in, n_out in itertools.pairwise(sizes)]
        biases = [np.zeros(n_out, np.float32) for n_out in sizes[1:]]
        for layer, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            weights[layer][: w.shape[1], : w.shape[0]] = w.T
            biases[layer][: len(b)] = b
        return np.array(sizes, np.int64), np.concatenate([w.ravel() for w in weights]), np.concatenate(biases)

    def logits(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs before the softmax.

        Parameters
        ----------
        X : (n, d) int32

        Returns
        -------
        (n, k) float32
        """
        out = np.empty((len(X), self.n_classes), np.float32)
        with at_most_threads(max(1, len(X) // SHARE)):
            _kernels.network_logits(_samples(X, self.n_attributes), *self.packed, out)
        return out

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels`; see `models.Model`.

        Parameters
        ----------
        X : (n, d) int32
        labels : (n,) int64

        Returns
        -------
        (n, d) float32
        """
        out = np.empty((len(X), self.n_attributes), np.float32)
        labels = np.ascontiguousarray(labels, np.int64)
        X = _samples(X, self.n_attributes)
        with at_most_threads(max(1, len(X) // SHARE)):
            _kernels.network_input_gradients(X, labels, self.n_classes, *self.packed, out)
        return out

    def accuracy(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the share of samples with the predicted label `y`.

        Parameters
        ----------
        X : (n, d) int32
        y : (n,) int64

        Returns
        -------
        float
        """
        return float(np.mean(self.labels(X) == y))


def load_network(path: Path) -> Network:
    """Read a network from arrays ``W0, b0, W1, b1, …`` (.npz).

    Parameters
    ----------
    path : pathlib.Path
        W of a layer is (n_in, n_out), b is (n_out,).

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If the file is missing or damaged, or its arrays define no network.
    """
    arrays = read_npz(path)
    n_layers = sum(name.startswith("W") for name in arrays)
    expected = {f"{letter}{layer}" for letter in "Wb" for layer in range(n_layers)}
    if not n_layers or set(arrays) != expected:
        raise InputError(f"{path}: expected the arrays W0, b0, W1, b1, …, found {', '.join(sorted(arrays))}")
    try:
        return Network(*([arrays[f"{letter}{layer}"] for layer in range(n_layers)] for letter in "Wb"))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def save_network(path: Path, network: Network) -> None:
    """Write a network as arrays ``W0, b0, W1, b1, …`` (.npz).

    Parameters
    ----------
    path : pathlib.Path
    network : Network
    """
    weights = {f"W{layer}": w for layer, w in enumerate(network.weights)}
    write_npz(path, **weights, **{f"b{layer}": b for layer, b in enumerate(network.biases)})


def _samples(X: np.ndarray, n_attributes: int) -> np.ndarray:
    if X.ndim != 2 or X.shape[1] != n_attributes:
        raise InputError(f"the network expects {n_attributes} attributes, the samples have {X.shape[-1]}")
    return np.ascontiguousarray(X, np.int32)


def _check_layers(weights: list[np.ndarray], biases: list[np.ndarray]) -> None:
    if not weights or len(weights) != len(biases):
        raise InputError("a network needs at least one layer, and one bias vector per layer")
    for layer, (w, b) in enumerate(zip(weights, biases, strict=True)):
        n_in = weights[layer - 1].shape[-1] if layer else w.shape[0]
        if w.ndim != 2 or w.shape[0] != n_in or b.shape != (w.shape[1],):
            raise InputError(f"layer {layer}: weights {w.shape} and bias {b.shape} do not fit {n_in} inputs")
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            raise InputError(f"layer {layer} contains a number that is not finite; retrain the network")
    if weights[-1].shape[1] < 2:
        raise InputError("the last layer has one unit; a classifier needs one for each class, at least two")
