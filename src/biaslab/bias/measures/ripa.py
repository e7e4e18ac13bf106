"""The relational inner product association (RIPA) of Ethayarajh, Duvenaud and Hirst 2019.

    β(w; b) = w · b

where b is the first principal component, of length one, of the differences x - y of pairs of words that
define the relation. The vectors keep their lengths. The paper gives β for a word. Here the bias of a test is
the mean of β over S minus that over T, and a pair is any word of A with any word of B, for sets of attributes
need not come in pairs.
"""

import numpy as np

from biaslab.bias.measures.axis import Axis
from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors
from biaslab.bias.word_sets import WeatIndices


def value(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return ``mean_S β - mean_T β``; vectors (V, D)."""
    rows, words = _rows(vectors, weat)
    return float(_signs(weat) @ rows[words.targets] @ Axis(rows[words.A], rows[words.B]).direction)


def gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64."""
    rows, words = _rows(vectors, weat)
    axis, signs = Axis(rows[words.A], rows[words.B]), _signs(weat)
    found = np.zeros_like(rows)
    found[words.targets] += np.outer(signs, axis.direction)
    by_a, by_b = axis.by_vectors(signs @ rows[words.targets])
    found[words.A] += by_a
    found[words.B] += by_b
    return found


def _rows(vectors: np.ndarray, weat: WeatIndices) -> tuple[np.ndarray, UnitVectors]:
    """Return the words' vectors as they are, and where each set finds its own."""
    words = UnitVectors(vectors, weat)
    return words.norms[:, None] * words.unit, words


def _signs(weat: WeatIndices) -> np.ndarray:
    return np.concatenate([np.full(len(weat.S), 1 / len(weat.S)), np.full(len(weat.T), -1 / len(weat.T))])


MEASURE = Measure("ripa", value, gradient, "the differences of the attribute sets have no first axis")
