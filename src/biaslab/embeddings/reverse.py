"""Differentiate a measure of a GloVe embedding by every co-occurrence: reverse mode through the training.

A training is a long chain of small steps (`biaslab.embeddings.glove`). The chain rule runs from the last step
to the first. It needs the parameters before each step, in reverse order. Therefore some states are kept, and
the steps between two states are repeated exactly.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaslab.embeddings import glove
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters

__all__ = ["TrainingGradient", "differentiate"]

_MOST_STATES = 200  # kept at once: more states save little time, and the recursion is as deep as their number


_State = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class TrainingGradient:
    """The derivatives of a measure of one trained embedding.

    Attributes
    ----------
    embedding : GloveEmbedding
        The trained embedding, as `biaslab.embeddings.glove.train` returns it, but without losses.
    by_weight, by_product : numpy.ndarray
        (nnz,) float64, derivatives by f(X_ij) and by f(X_ij) log X_ij, in the order of the entries of X. A
        training depends on X only through these two, and the gradient of each step is linear in them.
    trained : float
        Cost of the forward steps in trainings, including the first training; reverse steps are not counted.
    """

    embedding: GloveEmbedding
    by_weight: np.ndarray
    by_product: np.ndarray
    trained: float


def differentiate(
    x: Cooccurrence,
    parameters: GloveParameters,
    rng: np.random.Generator,
    gradient: Callable[[GloveEmbedding], np.ndarray],
    memory: float = 1000.0,
    threads: int = 1,
    progress: Callable[[], None] = lambda: None,
) -> TrainingGradient:
    """Train one embedding, and differentiate a measure of it by every co-occurrence.

    Parameters
    ----------
    x, parameters, rng, threads
        As for `biaslab.embeddings.glove.train`; the training is identical, bit for bit.
    gradient : callable
        Takes the embedding, and returns the derivatives of the measure by the word vectors, (V, D) float64.
    memory : float
        Megabytes for states of the training; at least two states are kept. With fewer megabytes, more steps
        are repeated.
    progress : callable
        Called after each epoch in reverse.

    Returns
    -------
    TrainingGradient

    Raises
    ------
    InputError
        As `biaslab.embeddings.glove.train`, except for a training that diverges.

    Notes
    -----
    Reverse accumulation through AdaGrad, with the checkpoints of Griewank and Walther 2000. Where the
    training clips a gradient, its derivative is 0. Derivatives are float64 at the float32 parameters of the
    training. The result does not depend on `memory` or `threads`.
    """
    from biaslab.core.jit import set_threads

    set_threads(threads)
    chain = _Chain(x, parameters, rng, gradient, progress, threads)
    slots = min(_MOST_STATES, max(2, int(memory * 2**20 / chain.bytes)))
    chain.back(chain.start, 0, chain.length, slots)
    order = np.lexsort((chain.words[1][chain.records.columns], chain.words[0][chain.records.rows]))
    by_weight, by_product = (derivatives[order] for derivatives in chain.derivatives)
    return TrainingGradient(chain.embedding, by_weight, by_product, chain.trained / chain.length)


class _Chain:
    """The rounds of a training, as a chain of states; a state is the two arrays of `initial_parameters`."""

    def __init__(
        self,
        x: Cooccurrence,
        parameters: GloveParameters,
        rng: np.random.Generator,
        gradient: Callable[[GloveEmbedding], np.ndarray],
        progress: Callable[[], object],
        threads: int,
    ) -> None:
        self.dimension, self.gradient, self.progress = parameters.dimension, gradient, progress
        self.records, self.rates, self.start = glove.begin(x, parameters, rng)
        self.places = self.records.row_place, self.records.column_place
        self.words = tuple(np.argsort(place) for place in self.places)  # the word at each place
        self.bytes = sum(array.nbytes for array in self.start)
        self.length = parameters.epochs * len(self.records.schedule)
        self.derivatives = np.zeros((2, len(self.records.rows)))
        self.bars = tuple(np.zeros(array.shape) for array in self.start)
        self.losses = np.zeros(len(self.records.starts) - 1)
        largest = np.diff(self.records.starts).max()
        stored = np.empty((threads, largest, 4 * self.rates.shape[1] + 2), np.float32)
        self.room = stored, *np.empty((2, threads, self.rates.shape[1]))
        self.trained = 0
        self.embedding: GloveEmbedding

    def back(self, state: _State, first: int, last: int, slots: int) -> None:
        """Reverse rounds from `last` to `first`, overwrite `state` (before `first`), keep `slots` more."""
        while last - first > 1:
            middle = first + _split(last - first, slots)
            ahead = tuple(array.copy() for array in state)
            for number in range(first, middle):
                self.advance(ahead, number)
            self.back(ahead, middle, last, max(slots - 1, 0))
            last = middle
        self.reverse(state, first)

    def advance(self, state: _State, number: int) -> None:
        """Train one more round."""
        from biaslab.embeddings._kernels import train_round

        r = self.records
        train_round(*state, r.rows, r.columns, r.log_x, r.f_x, r.starts, self._blocks(number), *self.rates,
                    self.losses)  # fmt: skip
        self.trained += 1

    def reverse(self, state: _State, number: int) -> None:
        """Reverse a round, given the state before it; the last round starts from the measure's gradient."""
        from biaslab.embeddings._reverse_kernels import reverse_round

        if number == self.length - 1:
            end = tuple(array.copy() for array in state)
            self.advance(end, number)
            w, u = (array[place] for array, place in zip(end, self.places, strict=True))
            self.embedding = glove.embedding_of(w, u, self.dimension, np.empty(0))
            self.bars[0][self.places[0], : self.dimension] = self.gradient(self.embedding)
        r = self.records
        reverse_round(*state, r.rows, r.columns, r.log_x, r.f_x, r.starts, self._blocks(number), *self.rates,
                      *self.bars, *self.derivatives, *self.room)  # fmt: skip
        self.trained += 1
        if number % len(r.schedule) == 0:
            self.progress()

    def _blocks(self, number: int) -> np.ndarray:
        return self.records.schedule[number % len(self.records.schedule)]


def _split(length: int, slots: int) -> int:
    """Return the number of rounds, of `length`, after which to keep a state, so that few rounds are repeated.

    With c states, and at most r forward passes per round, chains of up to binomial(c + r, c) rounds can be
    reversed (Griewank and Walther 2000).
    """
    if slots == 0:
        return length - 1
    repeats = next(r for r in range(length + 1) if math.comb(slots + r, slots) >= length)
    return min(length - 1, math.comb(slots + repeats - 1, slots))
