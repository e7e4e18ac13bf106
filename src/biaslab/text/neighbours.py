"""The words most similar to a word: what it may be replaced by (Zhang et al. 2021, Section 4.2)."""

from collections.abc import Sequence

import numpy as np

from biaslab.text._neighbour_kernels import merge_nearest
from biaslab.text.words import Lexicon

BLOCK = (1024, 16384)
"""Words and possible neighbours whose cosines are held at once, 64 MiB; other numbers change no neighbour."""


def nearest_words(
    lexicon: Lexicon,
    k: int,
    excluded: Sequence[int] | np.ndarray = (),
    words: Sequence[int] | np.ndarray | None = None,
) -> np.ndarray:
    """Return the k words nearest to each word by cosine, (V, k) int32, the most similar first, never itself.

    -1 stands where there are no more, and for all words but those asked for, `words` (by default all). Only
    words with a vector of their own are neighbours or have neighbours; those `excluded`, e.g. the values of a
    protected feature, are nobody's. Cosines are rounded to 1e-9; of equal ones the word with the lower id
    comes first.
    """
    vectors = np.ascontiguousarray(lexicon.vectors, np.float32)
    n_words, dimension = vectors.shape
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    has_direction = lexicon.is_known & (norms > 0)
    is_candidate = has_direction.copy()
    is_candidate[np.asarray(excluded, np.int64)] = False
    is_asked = np.zeros(n_words, bool)
    is_asked[slice(None) if words is None else np.asarray(words, np.int64)] = True
    rows, columns = np.flatnonzero(has_direction & is_asked), np.flatnonzero(is_candidate)
    nearest = np.full((n_words, k), -1, np.int32)
    unit = _unit(vectors, norms, columns)
    # What a product of unit vectors may be off in single precision, and a rounding to 1e-9.
    margin = (dimension + 8) * 2.0**-24 + 1e-8
    for start in range(0, rows.size, BLOCK[0]):
        block = rows[start : start + BLOCK[0]]
        of_block = _unit(vectors, norms, block)
        found, cosines = np.full((block.size, k), -1, np.int32), np.full((block.size, k), -np.inf)
        for begin in range(0, columns.size, BLOCK[1]):
            tile = slice(begin, begin + BLOCK[1])
            screened = of_block @ unit[tile].T
            merge_nearest(screened, margin, block, columns[tile], vectors, norms, found, cosines)
        nearest[block] = found
    return nearest


def _unit(vectors: np.ndarray, norms: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return vectors of length 1, (k, d) float32."""
    unit = vectors[rows]
    return np.divide(unit, norms[rows, None], out=unit, casting="same_kind")  # divides in double precision
