"""The mean average cosine (MAC) of Manzini, Lim, Tsvetkov and Black 2019, Section 2.3.

    S(t, A_j) = 1/|A_j| Σ_{a in A_j} cos(t, a)
    MAC(T, A) = 1/(|T| |A|) Σ_{t in T} Σ_{A_j in A} S(t, A_j)

T are words of all groups, A sets of attributes, and cos is the cosine distance, one minus the cosine, as the
paper's numbers and WEFE have it: at 1 targets and attributes have nothing to do with each other. In a test T
are the targets S and T together, and the sets are its attributes A and B. Nothing tells the groups apart, so
that the measure has no sign.
"""

from collections.abc import Sequence

import numpy as np

from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors, unit_vectors
from biaslab.bias.word_sets import WeatIndices

__all__ = ["mean_average_cosine"]


def mean_average_cosine(
    vectors: np.ndarray, targets: Sequence[int], attributes: Sequence[Sequence[int]], name: str = "MAC"
) -> float:
    """Return MAC of words of any groups and any number of sets of attributes.

    Parameters
    ----------
    vectors : (V, D) array of any float dtype
        Word vectors; computed with in float64.
    targets : sequence of int
        Rows of the words of all groups.
    attributes : sequence of sequences of int
        Rows of the words of each set.
    name : str
        What messages begin with.

    Returns
    -------
    float
        Between 0 and 2; 1 where they have nothing to do with each other.

    Raises
    ------
    InputError
        When a word has a zero or non-finite vector.
    """
    of_targets, *of_sets = (
        unit_vectors(vectors, np.asarray(rows, np.int64), name)[1].mean(axis=0)
        for rows in (targets, *attributes)
    )
    return float(1 - of_targets @ np.mean(of_sets, axis=0))


def value(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return MAC; vectors (V, D)."""
    return mean_average_cosine(vectors, [*weat.S, *weat.T], [weat.A, weat.B], weat.name)


def gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64."""
    words = UnitVectors(vectors, weat)
    targets = words.unit[words.targets].mean(axis=0)
    by_unit = np.zeros_like(words.unit)
    for rows in (words.A, words.B):
        by_unit[words.targets] -= words.unit[rows].mean(axis=0) / len(words.targets) / 2
        by_unit[rows] -= targets / len(rows) / 2
    return words.by_vector(by_unit)


MEASURE = Measure("mac", value, gradient, unbiased=1.0)
