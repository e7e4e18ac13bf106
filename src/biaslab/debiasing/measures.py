"""The bias of an embedding: direct and indirect bias, and words along the bias direction.

All functions take plain arrays of word vectors and an orthonormal basis of the bias subspace from `subspace`.
With one dimension (the paper's measures), the basis is the bias direction g.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.debiasing.settings import Subspace
from biaslab.debiasing.subspace import project

__all__ = ["direct_bias", "indirect_bias", "mean_similarity", "overlap", "pair_bias", "project_words"]

# Cosines of 32-bit vectors below this are rounding: such a word does not overlap with the bias.
_NO_OVERLAP = 1e-6


def overlap(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return |cos(w, g)|; for a subspace of more dimensions the cosine with the nearest of its vectors.

    Parameters
    ----------
    vectors : (n, d) float32 or float64
        Word vectors, none of them zero.
    basis : (k, d) float64
        Orthonormal rows.

    Returns
    -------
    (n,) float64
        Length of the projection of every word onto the subspace as a share of the length of the word.
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    return np.linalg.norm(vectors @ basis.T, axis=1) / np.linalg.norm(vectors, axis=1)


def direct_bias(vectors: np.ndarray, basis: np.ndarray, strictness: float = Subspace.strictness) -> float:
    """Return DirectBias_c, the mean of |cos(w, g)|^c over words that should be neutral (Section 3).

    Parameters
    ----------
    vectors : (n, d) float32 or float64
        Vectors of the words that should be neutral, n at least 1.
    basis : (k, d) float64
        Orthonormal rows; see `overlap` for k > 1.
    strictness : float
        The exponent c, at least 0. With 0, a word counts 1 unless its overlap is below 1e-6.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    InputError
        When there is no word, or `strictness` is negative.
    """
    if not len(vectors):
        raise InputError("direct bias is given no words; give words of the vocabulary that should be neutral")
    if strictness < 0:
        raise InputError(f"the strictness of the direct bias is {strictness}; give 0 or more")
    cosines = overlap(vectors, basis)
    return float(np.mean(cosines > _NO_OVERLAP if strictness == 0 else cosines**strictness))


def indirect_bias(w: np.ndarray, v: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return β(w, v), the share of the similarity of two words that is due to the bias (Appendix A).

    ``β(w, v) = (w · v - (w_⊥ · v_⊥) / (|w_⊥| |v_⊥|)) / (w · v)``, where w_⊥ = w - w_B.

    Parameters
    ----------
    w, v : (..., d) float32 or float64
        Word vectors; made to have unit length.
    basis : (k, d) float64
        Orthonormal rows.

    Returns
    -------
    (...) float64
        0 where the bias does not matter, 1 where the words have nothing else in common, and negative where
        the bias hides a similarity. NaN where the words are orthogonal, or one lies within the subspace.
    """
    w, v = _unit(w), _unit(v)
    similarity = np.sum(w * v, axis=-1)
    rest_w, rest_v = w - project(w, basis), v - project(v, basis)
    norms = np.linalg.norm(rest_w, axis=-1) * np.linalg.norm(rest_v, axis=-1)
    defined = (np.abs(similarity) > _NO_OVERLAP) & (norms > _NO_OVERLAP)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = (similarity - np.sum(rest_w * rest_v, axis=-1) / norms) / similarity
    return np.where(defined, beta, np.nan)


def mean_similarity(vectors: np.ndarray) -> float:
    """Return the mean product of two different words, over all pairs of them.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Unit vectors, V at least 2.

    Returns
    -------
    float
        Their mean cosine; two words are less than δ = 1 apart when theirs is more than 0.5 (Section 3).
    """
    vectors = np.asarray(vectors, dtype=np.float64)
    n, total = len(vectors), vectors.sum(axis=0)
    return float((total @ total - np.einsum("nd,nd->", vectors, vectors)) / (n * (n - 1)))


def pair_bias(neutral: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Return the mean of |w · x - w · y| over neutral words w and pairs (x, y).

    The paper names this PairBias and states that it is 0 after hard debiasing (Observation 1), but does not
    print its formula; this is the mean of the quantities that Observation 1 states to be equal.

    Parameters
    ----------
    neutral : (n, d) float32 or float64
        Unit vectors of the neutral words.
    first, second : (p, d) float32 or float64
        Unit vectors of the words of each pair.

    Returns
    -------
    float
        0 when every neutral word is as near to the first as to the second word of every pair.
    """
    differences = np.asarray(first, dtype=np.float64) - second
    return float(np.abs(neutral @ differences.T).mean())


def project_words(
    vectors: np.ndarray, words: Sequence[str], rows: Sequence[int], direction: np.ndarray
) -> pd.DataFrame:
    """Project words onto a direction, e.g. occupations onto she - he (Section 3, Figure 1, left).

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    words : sequence of str
        The words of the rows of `vectors`.
    rows : sequence of int
        The words to project.
    direction : (d,) float
        Any length but zero.

    Returns
    -------
    pandas.DataFrame
        Columns word, projection (cosine with the direction); the largest first, then by word.

    Raises
    ------
    InputError
        When the direction is zero.
    """
    length = np.linalg.norm(direction)
    if length == 0:
        raise InputError(
            "the direction to project on is zero: its two words have the same vector; choose words"
            " that differ"
        )
    projections = vectors[list(rows)].astype(np.float64) @ (direction / length)
    table = pd.DataFrame({"word": [words[row] for row in rows], "projection": projections})
    return table.sort_values(["projection", "word"], ascending=[False, True], ignore_index=True)


def _unit(vectors: np.ndarray) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float64)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
