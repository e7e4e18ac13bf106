"""The word embedding association test (WEAT): effect size, gradient and permutation test.

The formulas are those of Brunet et al. 2019, Section 3.3 and Equation 4, after Caliskan et al. 2017. With the
unit vectors û_i = w_i / |w_i| of the words,

    h    = mean_{a in A} û_a - mean_{b in B} û_b
    g_c  = mean_{a in A} cos(w_c, w_a) - mean_{b in B} cos(w_c, w_b) = û_c · h           for c in S and T
    B(w) = (mean_{s in S} g_s - mean_{t in T} g_t) / sd_{c in S and T} g_c               (Eq. 4)

where sd is the sample standard deviation (divisor n - 1) over all n = |S| + |T| targets.

A zero or non-finite vector has no cosine: every function here raises an error. If all g_c are equal, Eq. 4 is
undefined: the effect size and its gradient are NaN.
"""

import math
from typing import NamedTuple

import numpy as np

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError

__all__ = [
    "PermutationTest",
    "differential_associations",
    "effect_size",
    "effect_size_gradient",
    "largest_effect_size",
    "permutation_p_value",
]

ROUNDING = 1e-12  # largest error of sums of cosines in 64 bits: values that differ by less are tied
_ROUNDINGS = 8
"""Units in the last place below which a spread of differential associations is rounding error. Each of the
two vectors of a cosine is rounded by half a unit when written and again when scaled to length one. An
association is the difference of two mean cosines. Its error is therefore up to 4 units, and a spread needs
twice that."""


class PermutationTest(NamedTuple):
    """A one-sided permutation p-value and its permutations.

    Attributes
    ----------
    p_value : float
    exact : bool
        Whether all permutations were enumerated instead of sampled.
    n_permutations : int
        Number of permutations behind the p-value.
    """

    p_value: float
    exact: bool
    n_permutations: int


def weat_words(weat: WeatIndices) -> np.ndarray:
    """Return the ids of all words of a test, sorted, each once: int64 (n_words,)."""
    return np.unique(np.concatenate([weat.S, weat.T, weat.A, weat.B]))


def differential_associations(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return g_c, the difference between the mean similarities of each target word to A and to B.

    ``g_c = mean_{a in A} cos(w_c, w_a) - mean_{b in B} cos(w_c, w_b)``

    Parameters
    ----------
    vectors, weat
        As for `effect_size`.

    Returns
    -------
    (|S| + |T|,) float64
        The words of S first, then those of T.

    Raises
    ------
    InputError
        When a word of the test has a zero or non-finite vector.
    """
    return UnitVectors(vectors, weat).associations()


def effect_size(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return the WEAT effect size, Equation 4 of Brunet et al. 2019.

    ``B(w) = (mean_{s in S} g_s - mean_{t in T} g_t) / sd_{c in S and T} g_c``, with divisor n - 1 in the sd.

    Parameters
    ----------
    vectors : (V, D) array of any float dtype
        Word vectors; computations are in float64.
    weat : WeatIndices
        The words of the test.

    Returns
    -------
    float
        Positive when S is nearer to A than T is. NaN when all differential associations are equal, or differ
        only by the rounding of the vectors or of the digits of their file.

    Raises
    ------
    InputError
        When a word of the test has a zero or non-finite vector.
    """
    words = UnitVectors(vectors, weat)
    g = words.associations()
    n_first = len(weat.S)
    return float((g[:n_first].mean() - g[n_first:].mean()) / _spread(g, words.rounding))


def largest_effect_size(n_first: int, n_second: int) -> float:
    """Return the largest effect size that target sets of these sizes can have.

    The maximum is reached if the associations are equal within S and within T. With n = |S| + |T| and the
    sample standard deviation of Eq. 4, it is ``sqrt(n (n - 1) / (|S| |T|))``. It is below 2 for sets of equal
    size, and unbounded if one set is far larger than the other.

    Parameters
    ----------
    n_first, n_second : int
        Words of S and of T, at least 1 each.

    Returns
    -------
    float
        The bound, in standard deviations as the effect size.
    """
    n = n_first + n_second
    return math.sqrt(n * (n - 1) / (n_first * n_second))


def effect_size_gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the gradient of the effect size with respect to the vector of every word of the test.

    By the chain rule, through the associations, the unit vectors and the vectors:

        γ_c = dB/dg_c  = σ_c / sd - B (g_c - mean g) / ((n - 1) sd²)    with σ_c = 1/|S| in S and -1/|T| in T
        dB/dû_i        = [i in S or T] γ_i h + ([i in A] / |A| - [i in B] / |B|) Σ_c γ_c û_c
        dB/dw_i        = (I - û_i û_iᵀ) dB/dû_i / |w_i|

    Parameters
    ----------
    vectors, weat
        As for `effect_size`. A word may be both a target and an attribute: its terms add up.

    Returns
    -------
    (n_words, D) float64
        A row for each word of ``weat_words(weat)``, in that order. All NaN when Eq. 4 is undefined.

    Raises
    ------
    InputError
        When a word of the test has a zero or non-finite vector.
    """
    words = UnitVectors(vectors, weat)
    target_vectors = words.unit[words.targets]
    g = words.associations()
    spread = _spread(g, words.rounding)
    size = words.signs @ g / spread
    weights = words.signs / spread - size * (g - g.mean()) / ((len(g) - 1) * spread**2)
    weighted_targets = weights @ target_vectors

    by_unit = np.zeros_like(words.unit)
    by_unit[words.targets] += np.outer(weights, words.attribute_direction)
    by_unit[words.A] += weighted_targets / len(weat.A)
    by_unit[words.B] -= weighted_targets / len(weat.B)
    return words.by_vector(by_unit)


def permutation_p_value(
    vectors: np.ndarray, weat: WeatIndices, max_permutations: int, rng: np.random.Generator
) -> PermutationTest:
    """Return the one-sided p-value of Caliskan et al. 2017.

    A random partition divides the target words into sets of the sizes of S and T. The p-value is the
    probability that its test statistic ``Σ_S g - Σ_T g`` is at least the observed statistic. With fixed
    sizes, the sum over S and the difference of means order the partitions identically. A sum over S is a tie
    if it is below the observed sum by less than 1e-12 of ``Σ |g|``. Ties count as reached. If the effect size
    is undefined, all partitions are ties, and p = 1.

    Parameters
    ----------
    vectors, weat
        As for `effect_size`.
    max_permutations : int
        If there are at most this many partitions, all are enumerated, including the observed partition, and
        p is exact. Otherwise this number n of random partitions is drawn. If r of them reach the observed
        statistic, p = (r + 1) / (n + 1).
    rng : numpy.random.Generator
        For the random partitions.

    Returns
    -------
    PermutationTest
        The p-value, whether it is exact, and the number of partitions behind it.

    Raises
    ------
    InputError
        When `max_permutations` is not positive, or a word of the test has a zero or non-finite vector.
    """
    from biaslab.bias._kernels import count_random_subsets, count_subsets

    if max_permutations < 1:
        raise InputError(
            f"permutations: {max_permutations} is not a positive number; write for example 100000"
        )
    words = UnitVectors(vectors, weat)
    g = words.associations()
    size = len(weat.S)
    threshold = g[:size].sum() - ROUNDING * np.abs(g).sum()
    if math.isnan(_spread(g, words.rounding)):
        threshold = -math.inf
    n_partitions = math.comb(len(g), size)
    if n_partitions <= max_permutations:
        return PermutationTest(count_subsets(g, size, threshold) / n_partitions, True, n_partitions)
    reached = count_random_subsets(g, size, threshold, max_permutations, rng)
    return PermutationTest((reached + 1) / (max_permutations + 1), False, max_permutations)


def unit_vectors(vectors: np.ndarray, ids: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths |w_i| of word vectors, (n,), and the vectors scaled to length one, (n, D)."""
    rows = np.asarray(vectors[ids], dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    bad = ~(np.isfinite(norms) & (norms > 0))
    if bad.any():
        word = int(ids[bad.argmax()])
        raise InputError(
            f"{name}: the vector of word id {word} (line {word + 2} of the vocabulary) is zero or"
            " not finite, so it has no cosine; retrain the embedding or remove the word from the test"
        )
    return norms, rows / norms[:, None]


class UnitVectors:
    """The words of a test as unit vectors, and the rows of each word set.

    `norms`, |w_i|, and `unit`, û_i, are in the order of ``weat_words``. `targets` (S, then T), `A` and `B`
    are row numbers of `unit`. `attribute_direction` is h, the mean unit vector of A minus the mean unit
    vector of B. `signs` are 1/|S| for targets in S and -1/|T| for targets in T. `rounding` is the largest
    spread of associations that rounding can explain (about 1e-6 in 32 bits).
    """

    def __init__(self, vectors: np.ndarray, weat: WeatIndices) -> None:
        ids = weat_words(weat)
        self.norms, self.unit = unit_vectors(vectors, ids, weat.name)
        self.targets = np.searchsorted(ids, np.concatenate([weat.S, weat.T]))
        self.A = np.searchsorted(ids, weat.A)
        self.B = np.searchsorted(ids, weat.B)
        self.attribute_direction = self.unit[self.A].mean(axis=0) - self.unit[self.B].mean(axis=0)
        self.signs = np.repeat([1 / len(weat.S), -1 / len(weat.T)], [len(weat.S), len(weat.T)])
        precision = float(np.finfo(np.result_type(vectors, np.float16)).eps)
        self.rounding = max(ROUNDING, _ROUNDINGS * precision, weat.rounding)

    def associations(self) -> np.ndarray:
        """Return g_c of the targets: S, then T."""
        return self.unit[self.targets] @ self.attribute_direction

    def by_vector(self, by_unit: np.ndarray) -> np.ndarray:
        """Convert derivatives by û_i to derivatives by w_i, both (n_words, D) float64.

        ``dB/dw_i = (I - û_i û_iᵀ) dB/dû_i / |w_i|``
        """
        radial = np.sum(by_unit * self.unit, axis=1, keepdims=True)
        return (by_unit - radial * self.unit) / self.norms[:, None]


def _spread(g: np.ndarray, rounding: float) -> float:
    """Return the sample standard deviation of the associations, NaN if they differ by rounding only."""
    spread = g.std(ddof=1)
    return spread if spread > rounding else math.nan
