"""Affine maps of word vectors, w ↦ M w + a: what debiasing does to the words of an embedding, as one file.

The file lets other steps apply the same debiasing to vectors that it has not seen, for example to those of an
embedding of a slightly smaller corpus. The maps act on vectors of any length; only directions matter to what
measures bias, so that a map may leave lengths as they come.
"""

import os
from dataclasses import dataclass

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz


@dataclass(frozen=True)
class WordMaps:
    """The map of every word in each of n trainings of an embedding."""

    replicates: np.ndarray  # (n,) int64, the trainings
    linear: np.ndarray  # (n, K, D, D) float64, the K matrices M that words have in each training
    kinds: np.ndarray  # (V,) int64, which of the K matrices is that of a word
    words: np.ndarray  # (m,) int64, rising: the words with a constant a other than zero
    constants: np.ndarray  # (n, m, D) float64, their constants in each training

    def of(self, replicate: int) -> "TrainingMaps":
        """Return the maps of one training."""
        found = np.flatnonzero(self.replicates == replicate)
        if not len(found):
            known = ", ".join(map(str, self.replicates.tolist()))
            raise InputError(f"no maps of words for training {replicate}; there are some for {known}")
        return TrainingMaps(self.linear[found[0]], self.kinds, self.words, self.constants[found[0]])


@dataclass(frozen=True)
class TrainingMaps:
    """The map of every word in one training; see `WordMaps`."""

    linear: np.ndarray  # (K, D, D)
    kinds: np.ndarray
    words: np.ndarray
    constants: np.ndarray  # (m, D)

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """Return ``M_i w_i + a_i`` of all words, (V, D) float64, for `vectors` (V, D) of any float dtype."""
        mapped = np.empty(vectors.shape, dtype=np.float64)
        for kind, matrix in enumerate(self.linear):
            rows = self.kinds == kind
            mapped[rows] = vectors[rows].astype(np.float64) @ matrix.T
        mapped[self.words] += self.constants
        return mapped

    def matrices(self, words: np.ndarray) -> np.ndarray:
        """Return M of some words (n,) int64, as (n, D, D) float64."""
        return self.linear[self.kinds[words]]


def write_word_maps(path: str | os.PathLike, maps: WordMaps) -> None:
    """Write maps (``.npz``, an array for each attribute), atomically."""
    write_npz(path, **vars(maps))


def read_word_maps(path: str | os.PathLike, n_words: int) -> WordMaps:
    """Read what `write_word_maps` wrote for an embedding of so many words."""
    maps = WordMaps(**read_npz(path, tuple(WordMaps.__dataclass_fields__)))
    if maps.kinds.shape != (n_words,):
        raise InputError(
            f"{path}: maps of {len(maps.kinds)} words, but the vocabulary has {n_words}; make both from"
            " one embedding"
        )
    n, m, dimension = len(maps.replicates), len(maps.words), maps.linear.shape[-1]
    if maps.linear[:, :1].shape != (n, 1, dimension, dimension) or maps.constants.shape != (n, m, dimension):
        raise InputError(f"{path}: the arrays do not fit each other; regenerate the maps")
    if not (np.isfinite(maps.linear).all() and np.isfinite(maps.constants).all()):
        raise InputError(f"{path}: a number is not finite; regenerate the maps")
    return maps
