"""Bias as a direction: the axis between two sets of attribute words, and projections of words onto it.

Bolukbasi et al. 2016 use the first principal component of defining pairs, each centred at its midpoint:

    C = sum over pairs (a, b) of (û_a - μ)(û_a - μ)ᵀ + (û_b - μ)(û_b - μ)ᵀ,    μ = (û_a + û_b) / 2

Brunet et al. 2019 (Section 5.4) use the attribute words of an association test instead. These words need not
come in pairs, and a vocabulary may lack some of them. Therefore every word of A is paired with every word of
B. The axis is the unit eigenvector of C with the largest eigenvalue. Its sign is chosen so that the mean of A
is above the mean of B.
"""

import numpy as np

from biaslab.bias.weat import unit_vectors
from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError

__all__ = ["bias_axis", "project_targets"]


def bias_axis(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the axis from the attributes B to the attributes A of a test.

    Parameters
    ----------
    vectors, weat
        Word vectors and a test, as for `biaslab.bias.weat.effect_size`.

    Returns
    -------
    (D,) float64
        A unit vector. The mean of A has a larger projection onto it than the mean of B.

    Raises
    ------
    InputError
        When a word of the test has a zero or non-finite vector, or A and B do not differ.
    """
    a, b = (unit_vectors(vectors, ids, weat.name)[1] for ids in (weat.A, weat.B))
    # (û_a - μ) = -(û_b - μ) = (û_a - û_b) / 2: the right singular vectors of the differences are those of C.
    differences = (a[:, None, :] - b[None, :, :]).reshape(-1, a.shape[1])
    _, singular_values, axes = np.linalg.svd(differences, full_matrices=False)
    if singular_values[0] == 0:
        raise InputError(
            f"{weat.name}: all attribute words have the same vector, so the axis is undefined;"
            " retrain the embedding"
        )
    return axes[0] if axes[0] @ differences.mean(axis=0) >= 0 else -axes[0]


def project_targets(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Project the unit vectors of the target words onto the axis.

    Parameters
    ----------
    vectors, weat
        Word vectors and a test, as for `biaslab.bias.weat.effect_size`.

    Returns
    -------
    (|S| + |T|,) float64
        Cosines with the axis: the words of S, then the words of T; positive towards A.

    Raises
    ------
    InputError
        As `bias_axis`.
    """
    targets = np.concatenate([weat.S, weat.T])
    return unit_vectors(vectors, targets, weat.name)[1] @ bias_axis(vectors, weat)
