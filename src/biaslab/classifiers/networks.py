"""Fully connected networks with ReLU between the layers and a softmax at the end (Zhang et al. 2021)."""

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from biaslab.classifiers import _kernels
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.core.jit import at_most_threads

__all__ = ["Network", "load_network", "save_network"]

SHARE = 8192
"""Samples that make it worth to wake another thread, even where other processes keep it waiting."""


class Network:
    """A classifier of integer samples; a `models.Model`.

    Parameters
    ----------
    weights : sequence of (n_in, n_out) array
        One matrix a layer, from the input on; kept as float32.
    biases : sequence of (n_out,) array
        One vector a layer.

    Raises
    ------
    InputError
        When shapes do not fit together, a number is not finite, or there are fewer than two classes.
    """

    n_gradient_queries = 1

    def __init__(self, weights: Sequence[np.ndarray], biases: Sequence[np.ndarray]) -> None:
        self.weights = [np.ascontiguousarray(w, np.float32) for w in weights]
        self.biases = [np.ascontiguousarray(b, np.float32) for b in biases]
        _check_layers(self.weights, self.biases)

    @property
    def n_attributes(self) -> int:
        """How many attributes a sample has."""
        return self.weights[0].shape[0]

    @property
    def n_classes(self) -> int:
        """How many labels there are."""
        return self.weights[-1].shape[1]

    @cached_property
    def packed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sizes, weights and biases as the kernels take them, every layer padded to whole lanes."""
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

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        out = np.empty((len(X), self.n_classes), np.float32)
        with at_most_threads(max(1, len(X) // SHARE)):
            _kernels.network_logits(_samples(X, self.n_attributes), *self.packed, out)
        return out

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the softmax of the logits; see `models.Model`.

        Parameters
        ----------
        X : (n, d) int32
            Samples.

        Returns
        -------
        (n, k) float32
            Probability of each class; each row sums to 1.

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        return softmax(self.logits(X))

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the labels; see `models.Model`.

        Parameters
        ----------
        X : (n, d) int32
            Samples.

        Returns
        -------
        (n,) int64
            The most probable class of each sample, 0 to k - 1, the first of equal ones.

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        return self.logits(X).argmax(axis=1)

    def answers(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return labels and probabilities; see `models.Model`.

        Parameters
        ----------
        X : (n, d) int32
            Samples.

        Returns
        -------
        (n,) int64 and (n, k) float32
            Labels and probabilities.

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        z = self.logits(X)
        return z.argmax(axis=1), softmax(z)

    def input_gradients(self, X: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the gradient of the cross entropy of `labels`; see `models.Model`.

        Parameters
        ----------
        X : (n, d) int32
            Samples.
        labels : (n,) int64
            The labels whose loss is differentiated, 0 to k - 1.

        Returns
        -------
        (n, d) float32
            ∂J/∂x, J being the cross entropy of the label (Zhang et al. 2021, Equation 1).

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        out = np.empty((len(X), self.n_attributes), np.float32)
        labels = np.ascontiguousarray(labels, np.int64)
        X = _samples(X, self.n_attributes)
        with at_most_threads(max(1, len(X) // SHARE)):
            _kernels.network_input_gradients(X, labels, self.n_classes, *self.packed, out)
        return out

    def accuracy(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the share of samples whose label is `y`.

        Parameters
        ----------
        X : (n, d) int32
            Samples.
        y : (n,) int64
            Their true labels, 0 to k - 1.

        Returns
        -------
        float
            Share of samples, 0 to 1.

        Raises
        ------
        InputError
            When the samples have another number of attributes.
        """
        return float(np.mean(self.labels(X) == y))


def softmax(z: np.ndarray) -> np.ndarray:
    """Return the softmax of logits, (n, k)."""
    exponentials = np.exp(z - z.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def load_network(path: Path) -> Network:
    """Read a network from arrays ``W0, b0, W1, b1, …`` (.npz).

    Parameters
    ----------
    path : pathlib.Path
        The file: W of layer l is (n_in, n_out), b is (n_out,).

    Returns
    -------
    Network
        In float32.

    Raises
    ------
    InputError
        When the file is missing, is no such archive, or its arrays make no network.
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
        The file.
    network : Network
    """
    named = {f"W{layer}": w for layer, w in enumerate(network.weights)}
    write_npz(path, **named, **{f"b{layer}": b for layer, b in enumerate(network.biases)})


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
