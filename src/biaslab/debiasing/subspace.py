"""The bias subspace: the main directions in which the words of defining sets differ (Section 4, Step 1).

With the mean μ_i of the words of defining set D_i, the bias subspace B is spanned by the first k singular
vectors of

    C = sum_i sum_{w in D_i} (w - μ_i)ᵀ (w - μ_i) / |D_i|

Vectors are rows here, as in the paper's Step 1. Equations and sections of this package are those of Bolukbasi
et al. 2016, "Man is to Computer Programmer as Woman is to Homemaker? Debiasing Word Embeddings".
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.stats import TAILS

__all__ = ["BiasSubspace", "find_subspace", "project"]

# Unit vectors have centred singular values of order 1: smaller values are rounding of 32-bit input.
_ROUNDING = 1e-6


class BiasSubspace(NamedTuple):
    """An orthonormal basis of the bias subspace.

    Attributes
    ----------
    basis : (k, d) float64
        Orthonormal rows, the direction with the largest variance first. Each points from the other words of
        the defining sets towards their first words, on average.
    shares : (n,) float64
        Share of the variance of the defining sets that each principal component explains, falling; their sum
        is 1. Sets with |D_i| words in d dimensions have n = min(d, sum of |D_i| - 1) components.
    """

    basis: np.ndarray
    shares: np.ndarray


def find_subspace(vectors: np.ndarray, defining_sets: Sequence[Sequence[int]], k: int = 1) -> BiasSubspace:
    """Find the bias subspace (Section 4, Step 1).

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length, one a row.
    defining_sets : sequence of sequences of int
        Rows of words that differ mainly in the bias: pairs, or larger sets for a bias of several groups.
    k : int
        Dimensions of the subspace.

    Returns
    -------
    BiasSubspace
        See there.

    Raises
    ------
    InputError
        When there is no set, a set has fewer than two words, or the sets span fewer than `k` dimensions.
    """
    if k < 1:
        raise InputError(f"the bias subspace has {k} dimensions; set at least one")
    centred = np.concatenate(_centred_sets(vectors, defining_sets))
    _, singular_values, directions = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(singular_values > _ROUNDING))
    if rank < k:
        raise InputError(
            f"the defining sets differ in only {rank} dimensions, so they have no bias subspace of {k}; "
            "give more defining sets or set fewer dimensions"
        )
    firsts = np.array([vectors[rows[0]] - vectors[list(rows)].mean(axis=0) for rows in defining_sets])
    basis = directions[:k]
    towards_firsts = np.where(basis @ firsts.sum(axis=0, dtype=np.float64) < 0, -1.0, 1.0)
    return BiasSubspace(basis * towards_firsts[:, None], _shares(singular_values, defining_sets))


def random_pair_shares(
    vectors: np.ndarray, n_pairs: int, draws: int, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the variance explained by the components of random word pairs: its mean and central 95%."""
    if len(vectors) < 2 * n_pairs:
        raise InputError(
            f"{n_pairs} random pairs need {2 * n_pairs} words, but the embedding has {len(vectors)}"
        )
    shares = []
    for _ in range(draws):
        pairs = rng.choice(len(vectors), size=(n_pairs, 2), replace=False).tolist()
        centred = np.concatenate(_centred_sets(vectors, pairs))
        shares.append(_shares(np.linalg.svd(centred, compute_uv=False), pairs))
    return _summarize(shares)


def random_unit_shares(n_vectors: int, dimension: int, draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the variance explained by the components of random unit vectors, as `random_pair_shares`.

    A vector represents the difference of a pair of words, so that none is centred.
    """
    shares = []
    for _ in range(draws):
        normal = rng.normal(size=(n_vectors, dimension))
        units = normal / np.linalg.norm(normal, axis=1, keepdims=True)
        variances = np.linalg.svd(units, compute_uv=False) ** 2
        shares.append(variances / variances.sum())
    return _summarize(shares)


def project(vectors: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Return v_B = sum_j (v · b_j) b_j, the projection of vectors onto a subspace (Section 4).

    Parameters
    ----------
    vectors : (..., d) float32 or float64
        Any vectors.
    basis : (k, d) float64
        Orthonormal rows.

    Returns
    -------
    (..., d) float64
        The projections; ``vectors`` minus them is orthogonal to the subspace.
    """
    return vectors @ basis.T @ basis


def _summarize(draws: Sequence[np.ndarray]) -> pd.DataFrame:
    shares = np.stack(draws)
    low, high = np.quantile(shares, TAILS, axis=0)
    return pd.DataFrame({"mean": shares.mean(axis=0), "ci_low": low, "ci_high": high})


def _centred_sets(vectors: np.ndarray, sets: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return (w - μ_i) / sqrt(|D_i|) of every word of every set: their second moments sum to C."""
    if not len(sets):
        raise InputError("no defining set is left in the vocabulary; give sets of two or more known words")
    centred = []
    for number, rows in enumerate(sets, 1):
        if len(rows) < 2:
            raise InputError(f"defining set {number} has {len(rows)} word(s) of the vocabulary; it needs two")
        of_set = vectors[list(rows)].astype(np.float64)
        centred.append((of_set - of_set.mean(axis=0)) / np.sqrt(len(rows)))
    return centred


def _shares(singular_values: np.ndarray, sets: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the explained variances; centring takes one component from every set."""
    n_components = min(len(singular_values), sum(len(rows) - 1 for rows in sets))
    variances = singular_values[:n_components] ** 2
    return variances / variances.sum()
