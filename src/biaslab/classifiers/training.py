"""Train fully connected networks (Zhang et al. 2021, Table III, and the authors' published code).

A network has six layers: 64, 32, 16, 8 and 4 units, and one unit a class. Training minimizes the cross
entropy by Adam with TensorFlow's constants, a learning rate of 0.01 and shuffled batches of 128. The authors
train on raw integers, with which some initial networks never leave a constant label. Here networks train on
standardised attributes. Means and scales are folded into the first layer afterwards, so that a trained
network reads raw integers, as the authors' networks do.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from biaslab.classifiers import _training_kernels
from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError
from biaslab.core.rng import stream

__all__ = ["train"]

HIDDEN = (64, 32, 16, 8, 4)  # numbers of units of the hidden layers
ATTEMPTS = 5  # maximum number of initial networks to try while training ends with one label for all samples
LEARNING_RATE = 0.01
BATCH = 128
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Adam's decay rates of the means of gradients and squared gradients, and the ε of its divisor."""


@dataclass(frozen=True)
class Standardisation:
    """Means of attributes, and their standard deviations, or 1 for an attribute with a single value."""

    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray) -> "Standardisation":
        """Return the standardisation of samples, (n, d) int32."""
        deviations = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(deviations > 0, deviations, 1.0))

    def inputs(self, X: np.ndarray) -> np.ndarray:
        """Return standardised samples, (n, d) float32."""
        return np.ascontiguousarray((X - self.mean) / self.scale, np.float32)

    def fold(self, network: Network) -> Network:
        """Return the network for integer samples that equals a network for standardised samples."""
        first = network.weights[0] / self.scale[:, None]
        bias = network.biases[0] - self.mean @ first
        return Network([first, *network.weights[1:]], [bias, *network.biases[1:]])

    def unfold(self, network: Network) -> Network:
        """Return the network for standardised samples that equals a network for integer samples."""
        first = network.weights[0].astype(np.float64)
        bias = network.biases[0] + self.mean @ first
        return Network([first * self.scale[:, None], *network.weights[1:]], [bias, *network.biases[1:]])


class Training:
    """A network in training, with its parameters and Adam's means; the start network does not change."""

    def __init__(self, network: Network, *, batch: int = BATCH) -> None:
        self._start = network
        self._sizes, weights, biases = network.packed
        self._weights, self._biases = weights.copy(), biases.copy()
        self._means = tuple(np.zeros_like(a) for a in (weights, weights, biases, biases))
        self._batch = batch
        self._step = 0

    def run(self, inputs: np.ndarray, y: np.ndarray, order: np.ndarray, learning_rate: float) -> None:
        """Take one step for each batch of standardised samples and their labels.

        `order` has rows in the order of their use, which may repeat; the last batch may be shorter.
        """
        state = self._sizes, self._weights, self._biases, self._means, self._step
        self._step = _training_kernels.train_batches(
            inputs, y, order, self._batch, self._start.n_classes, *state, learning_rate, BETA1, BETA2, EPSILON
        )

    @property
    def network(self) -> Network:
        """The current network."""
        weights, biases, w, b = [], [], 0, 0
        for shape, (n_in, n_out) in zip(
            (w.shape for w in self._start.weights), itertools.pairwise(self._sizes), strict=True
        ):
            padded = self._weights[w : w + n_in * n_out].reshape(n_out, n_in)
            weights.append(padded[: shape[1], : shape[0]].T)
            biases.append(self._biases[b : b + shape[1]])
            w, b = w + n_in * n_out, b + n_out
        return Network(weights, [bias.copy() for bias in biases])


def train(X: np.ndarray, y: np.ndarray, n_classes: int, *, epochs: int, seed: int) -> Network:
    """Train a network.

    Parameters
    ----------
    X : (n, d) int32
    y : (n,) int64
        Labels, 0 to `n_classes` - 1.
    n_classes : int
    epochs : int
        Passes over the samples, each in another order.
    seed : int
        Equal seeds give equal networks with any number of threads.

    Returns
    -------
    Network
        The network after the last epoch. If training ends with one label for all samples (all units of a
        layer are dead), it starts over from other weights, at most five times.

    Raises
    ------
    InputError
        If samples and labels are inconsistent.
    """
    if X.ndim != 2 or not len(X) or y.shape != (len(X),):
        raise InputError(
            f"samples {X.shape} and labels {y.shape}: pass one label per sample, and at least one sample"
        )
    if y.min() < 0 or y.max() >= n_classes:
        raise InputError(
            f"labels are {y.min()} to {y.max()}; those of {n_classes} classes are 0 to {n_classes - 1}"
        )
    standard = Standardisation.of(X)
    inputs, labels = standard.inputs(X), np.ascontiguousarray(y, np.int64)
    for attempt in range(ATTEMPTS):
        rng = stream(seed, "training", attempt)
        initial = standard.fold(initial_network(X.shape[1], n_classes, rng))
        training = Training(standard.unfold(initial))
        for _ in range(epochs):
            training.run(inputs, labels, rng.permutation(len(X)), LEARNING_RATE)
        network = standard.fold(training.network)
        if len(np.unique(network.labels(X))) > 1 or len(np.unique(y)) == 1:
            break
    return network


def initial_network(n_attributes: int, n_classes: int, rng: np.random.Generator) -> Network:
    """Return an untrained network: weights from N(0, 1), scaled to norm 1 for each unit, and zero biases."""
    weights = [rng.normal(size=shape) for shape in itertools.pairwise((n_attributes, *HIDDEN, n_classes))]
    return Network([w / np.linalg.norm(w, axis=0) for w in weights], [np.zeros(w.shape[1]) for w in weights])
