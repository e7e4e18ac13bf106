"""How what is measured in a GloVe embedding depends on every co-occurrence: backwards through the training.

A training is a long chain of small steps (`biaslab.embeddings.glove`). Its derivative is the chain rule from
the last step to the first, which needs the parameters that each step met, in the opposite order. Some states
are kept, and what lies between two of them is trained again, by the very steps of the training.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaslab.core.jit import set_threads
from biaslab.embeddings import glove
from biaslab.embeddings._kernels import train_round
from biaslab.embeddings._reverse_kernels import reverse_round
from biaslab.embeddings.cooccurrence import Cooccurrence
from biaslab.embeddings.glove import GloveEmbedding, GloveParameters

__all__ = ["TrainingGradient", "differentiate"]

_MOST_STATES = 200  # kept at once: more spare little, and the walk goes as deep as there are states


@dataclass(frozen=True)
class TrainingGradient:
    """The derivatives of what was measured in one trained embedding.

    Attributes
    ----------
    embedding : GloveEmbedding
        What the training ends with, as `biaslab.embeddings.glove.train` returns it, but without losses.
    by_weight, by_product : numpy.ndarray
        (nnz,) float64, by f(X_ij) and by f(X_ij) log X_ij, in the order of the entries of X. A training sees
        X by these two alone, and the gradient of each of its steps is linear in them.
    trained : float
        Trainings that it took to meet all states again, the first included; going back is not.
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
    """Train one embedding, and differentiate what is measured in it by every co-occurrence.

    Parameters
    ----------
    x, parameters, rng, threads
        As for `biaslab.embeddings.glove.train`: the training is that one, bit for bit.
    gradient : callable
        Takes the embedding, and returns the derivatives of what is measured by its word vectors, (V, D)
        float64.
    memory : float
        Megabytes for states of the training, of which at least two are kept. With fewer, more is trained
        again.
    progress : callable
        Called after each epoch that is gone back.

    Returns
    -------
    TrainingGradient

    Raises
    ------
    InputError
        As `biaslab.embeddings.glove.train`, but of a training that diverges.

    Notes
    -----
    Reverse accumulation through AdaGrad, with the checkpoints of Griewank and Walther 2000. Where the
    training clips a gradient, its derivative is 0. Derivatives are float64, taken at the float32 that the
    training met. The result does not depend on `memory` nor on `threads`.
    """
    glove.check(x, parameters)
    set_threads(threads)
    chain = _Chain(x, parameters, rng, gradient, progress, threads)
    slots = min(_MOST_STATES, max(2, int(memory * 2**20 / chain.bytes)))
    chain.back(chain.start, 0, chain.length, slots)
    order = np.lexsort((chain.words[1][chain.records.columns], chain.words[0][chain.records.rows]))
    by_weight, by_product = (derivatives[order] for derivatives in chain.derivatives)
    return TrainingGradient(chain.embedding, by_weight, by_product, chain.trained / chain.length)


class _Chain:
    """The rounds of a training, as a chain of states; a state is the two arrays of `initial_parameters`."""

    def __init__(self, x, parameters, rng, gradient, progress, threads):
        self.dimension, self.gradient, self.progress = parameters.dimension, gradient, progress
        width = glove.padded_width(parameters.dimension)
        initial = glove.initial_parameters(x.n_words, parameters.dimension, width, rng)
        self.records = glove.sort_records(x, parameters, glove.count_groups(x.n_words, width), rng)
        self.places = self.records.row_place, self.records.column_place
        self.words = tuple(np.argsort(place) for place in self.places)  # at each place
        self.start = tuple(glove.placed(*pair) for pair in zip(initial, self.places, strict=True))
        self.bytes = sum(array.nbytes for array in self.start)
        self.rates = glove.learning_rates(parameters, width)
        self.length = parameters.epochs * len(self.records.schedule)
        self.derivatives = np.zeros((2, len(self.records.rows)))
        self.bars = tuple(np.zeros(array.shape) for array in self.start)
        self.losses = np.zeros(len(self.records.starts) - 1)
        largest = np.diff(self.records.starts).max()
        met = np.empty((threads, largest, 4 * width + 2), np.float32)
        self.room = met, *np.empty((2, threads, width))
        self.trained = 0
        self.embedding: GloveEmbedding

    def back(self, state, first, last, slots):
        """Go back from round `last` to `first`, whose `state` is used up; keep `slots` more states."""
        while last - first > 1:
            middle = first + _split(last - first, slots)
            ahead = tuple(array.copy() for array in state)
            for number in range(first, middle):
                self.advance(ahead, number)
            self.back(ahead, middle, last, max(slots - 1, 0))
            last = middle
        self.reverse(state, first)

    def advance(self, state, number):
        """Train one round more."""
        r = self.records
        train_round(*state, r.rows, r.columns, r.log_x, r.f_x, r.starts, self._blocks(number), *self.rates,
                    self.losses)  # fmt: skip
        self.trained += 1

    def reverse(self, state, number):
        """Go back through a round, from the state before it; the last round begins with what is measured."""
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

    def _blocks(self, number):
        return self.records.schedule[number % len(self.records.schedule)]


def _split(length: int, slots: int) -> int:
    """Return after how many of `length` rounds a state is kept, so that few are trained again.

    With c states that can be kept and no round trained more than r times before it is gone back, chains of
    up to binomial(c + r, c) rounds can be gone back (Griewank and Walther 2000).
    """
    if slots == 0:
        return length - 1
    repeats = next(r for r in range(length + 1) if math.comb(slots + r, slots) >= length)
    return min(length - 1, math.comb(slots + repeats - 1, slots))
