"""Hard debiasing: neutralize and equalize (Section 4, Step 2a).

    neutralize    w := (w - w_B) / |w - w_B|                                       for every neutral word w
    equalize      w := ν + sqrt(1 - |ν|²) (w_B - μ_B) / |w_B - μ_B|                for every w of a set E
                  with μ = mean of E, ν = μ - μ_B

Sets of more than two words and a subspace of more than one dimension are the multiclass form of Manzini et
al. 2019, in which no word is neutral that defines the subspace; its subspace, the components of all w - μ_i
alike, is that of `find_subspace` where the defining sets have one size.

Afterwards every neutral word has the same distance to all words of an equality set (Observation 1).
"""

from collections.abc import Sequence

import numpy as np

from biaslab.core.errors import InputError
from biaslab.debiasing.subspace import project

__all__ = ["equalize", "hard_debias", "neutralize"]

# Lengths of order 1 below this are rounding of 32-bit vectors.
_ROUNDING = 1e-6


def hard_debias(
    vectors: np.ndarray,
    words: Sequence[str],
    basis: np.ndarray,
    neutral: Sequence[int],
    equality_sets: Sequence[Sequence[int]],
) -> np.ndarray:
    """Neutralize words, then equalize sets of words (Step 2a).

    Words of equality sets are never neutral, because they express the bias: they are equalized from their
    original vectors even if `neutral` contains them. A repeated set counts once.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    words : sequence of str
        The words of the rows, for messages.
    basis : (k, d) float64
        Orthonormal basis of the bias subspace.
    neutral : sequence of int
        Rows to neutralize.
    equality_sets : sequence of sequences of int
        Rows of the words of each set, of any size from two; sets must not overlap.

    Returns
    -------
    (V, d) float64
        Vectors of unit length; words that are neither neutral nor in a set are unchanged.

    Raises
    ------
    InputError
        When two sets overlap, a set has fewer than two different words, a neutral word lies within the bias
        subspace, or the words of a set do not differ in the subspace.
    """
    sets = list(dict.fromkeys(tuple(sorted(set(map(int, rows)))) for rows in equality_sets))
    in_sets = np.array([row for rows in sets for row in rows], dtype=np.int64)
    distinct, counts = np.unique(in_sets, return_counts=True)
    if (counts > 1).any():  # equalizing one set would undo the other
        word = words[distinct[counts > 1][0]]
        raise InputError(f"'{word}' is in more than one equality set; merge the sets or keep it in one")
    debiased = np.array(vectors, dtype=np.float64)
    to_neutralize = np.setdiff1d(np.asarray(neutral, dtype=np.int64), in_sets)
    debiased[to_neutralize] = neutralize(
        debiased[to_neutralize], basis, [words[row] for row in to_neutralize]
    )
    for rows in sets:
        debiased[list(rows)] = equalize(debiased[list(rows)], basis, [words[row] for row in rows])
    return debiased


def neutralize(vectors: np.ndarray, basis: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """Return ``(w - w_B) / |w - w_B|``: vectors without their bias component.

    Parameters
    ----------
    vectors : (n, d) float
        Word vectors.
    basis : (k, d) float64
        Orthonormal basis of the bias subspace.
    words : sequence of str
        The words, for messages.

    Returns
    -------
    (n, d) float64
        Unit vectors orthogonal to the subspace.

    Raises
    ------
    InputError
        When a word lies within the subspace, so that nothing would be left of it.
    """
    rest = vectors - project(vectors, basis)
    rest -= project(rest, basis)  # a second time, against the rounding of the first
    lengths = np.linalg.norm(rest, axis=1)
    if (lengths < _ROUNDING).any():
        word = words[int(np.argmin(lengths))]
        raise InputError(
            f"the vector of '{word}' lies within the bias subspace, so neutralizing leaves nothing of it; "
            "list the word as specific, or use a smaller subspace"
        )
    return rest / lengths[:, None]


def equalize(vectors: np.ndarray, basis: np.ndarray, words: Sequence[str]) -> np.ndarray:
    """Make the words of a set differ only in the bias subspace, symmetrically around its origin.

    ``w := ν + sqrt(1 - |ν|²) (w_B - μ_B) / |w_B - μ_B|``, ν = μ - μ_B.

    Parameters
    ----------
    vectors : (n, d) float
        Unit vectors of the words of the set.
    basis, words
        As for `neutralize`.

    Returns
    -------
    (n, d) float64
        Unit vectors with one component ν outside the subspace.

    Raises
    ------
    InputError
        When the set has fewer than two words, or one is at the mean of the set within the subspace.
    """
    listed = ", ".join(f"'{word}'" for word in words)
    if len(vectors) < 2:
        raise InputError(
            f"the equality set of {listed} has fewer than two words; add a word or remove the set"
        )
    mean = vectors.mean(axis=0, dtype=np.float64)
    outside = mean - project(mean, basis)
    deviations = project(vectors - mean, basis)
    lengths = np.linalg.norm(deviations, axis=1)
    if (lengths < _ROUNDING).any():
        raise InputError(
            f"'{words[int(np.argmin(lengths))]}' is in the middle of its equality set ({listed}) "
            "within the bias subspace, so it cannot be equalized; remove it from the set"
        )
    return outside + np.sqrt(1 - outside @ outside) * deviations / lengths[:, None]
