"""Find the words most similar to a word, as its replacements (Zhang et al. 2021, Section 4.2)."""

from collections.abc import Sequence

import numpy as np

from biaslab.text._similarity_kernels import merge_nearest
from biaslab.text.words import Lexicon

BLOCK = (1024, 16384)
"""Numbers of words and candidates with cosines in memory at once (64 MiB); they do not affect results."""


def nearest_words(lexicon: Lexicon, k: int, excluded: Sequence[int] | np.ndarray = ()) -> np.ndarray:
    """Return the k words nearest to each word by cosine, (V, k) int32, without itself; -1 fills the rest.

    The most similar word comes first. Only words with their own vector are neighbours or have neighbours.
    Words in `excluded`, e.g. the values of a protected feature, are never neighbours. Cosines are rounded to
    1e-9; equal cosines are sorted by word id.
    """
    vectors = np.ascontiguousarray(lexicon.vectors, np.float32)
    n_words, dimension = vectors.shape
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    has_direction = lexicon.is_known & (norms > 0)
    is_candidate = has_direction.copy()
    is_candidate[np.asarray(excluded, np.int64)] = False
    rows, columns = np.flatnonzero(has_direction), np.flatnonzero(is_candidate)
    nearest = np.full((n_words, k), -1, np.int32)
    unit = _unit(vectors, norms, columns)
    # Bound of the error of a product of unit vectors in single precision, plus the rounding to 1e-9.
    margin = (dimension + 8) * 2.0**-24 + 1e-8
    for start in range(0, rows.size, BLOCK[0]):
        block = rows[start : start + BLOCK[0]]
        block_vectors = _unit(vectors, norms, block)
        block_nearest, cosines = np.full((block.size, k), -1, np.int32), np.full((block.size, k), -np.inf)
        for begin in range(0, columns.size, BLOCK[1]):
            tile = slice(begin, begin + BLOCK[1])
            screened = block_vectors @ unit[tile].T
            merge_nearest(screened, margin, block, columns[tile], vectors, norms, block_nearest, cosines)
        nearest[block] = block_nearest
    return nearest


def _unit(vectors: np.ndarray, norms: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return vectors of length 1, (k, d) float32."""
    unit = vectors[rows]
    return np.divide(unit, norms[rows, None], out=unit, casting="same_kind")  # divides in double precision
