"""Differentiable measures of bias on the word sets of an association test.

A measure of bias is a number and its derivatives by the word vectors. All other code uses a measure through
its row in `MEASURES`. A new measure needs two functions, a row in `MEASURES` and an oracle in the tests.
Below, û_i is the unit vector of word i. N is the set of words that should be neutral: the targets S and T.

`ripa` is the relational inner product association of Ethayarajh, Duvenaud and Hirst 2019,

    β(w; b) = w · b

where b is the first principal component, scaled to length one, of the differences x - y of word pairs that
define the relation. The vectors are not normalised. The paper defines β of a word. Here the bias of a test is
the mean of β over S minus the mean over T. Every word of A is paired with every word of B, because attribute
sets need not come in pairs.

`ect` is a differentiable form of the embedding coherence test of Dev and Phillips 2019. With the mean vectors
m_A and m_B of the attribute sets, whose vectors are not normalised, and w_i in N,

    x_i = cos(w_i, m_A),    y_i = cos(w_i, m_B),

the paper uses Spearman's rank correlation of x and y. It is 1, no bias, if both groups order the words
identically. Ranks have zero derivatives. Therefore `ect` is Pearson's correlation of x and y.

`same` is the SAME score of Schröder, Schulz and Hammer 2021, for two sets of attributes,

    SAME = mean_{w in N} |cos(w, h)|,    h = mean_{a in A} û_a - mean_{b in B} û_b

`direct_bias` is the direct bias of Bolukbasi et al. 2016,

    DirectBias_c = mean_{w in N} |cos(w, g)|^c

where c is the strictness and g is the bias axis of :func:`biaslab.bias.directions.bias_axis`. Every word of A
is paired with every word of B.

SAME and DirectBias have no sign. If a cosine is 0 (and c is 1), |cos| has no derivative, and 0 is used.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from biaslab.bias.weat import UnitVectors, effect_size, effect_size_gradient
from biaslab.bias.word_sets import WEAT, WeatIndices

__all__ = ["MEASURES", "measure_bias", "measure_gradient"]

# Relative gap between the two largest eigenvalues below which they count as equal.
_LEAST_GAP = 1e-10


@dataclass(frozen=True)
class Measure:
    """A measure of bias.

    `value` takes (V, D) vectors, a `biaslab.bias.word_sets.WeatIndices` and the parameters by name. It
    returns a float, NaN if the measure is undefined. `gradient` takes the same arguments and returns the
    derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64, all NaN if undefined.
    """

    name: str  # used in files of word sets
    value: Callable[..., float]
    gradient: Callable[..., np.ndarray]
    undefined: str  # when the measure is undefined; ends a message
    unbiased: float = 0.0  # the value without bias
    parameters: tuple[str, ...] = ()  # names of the parameters, which are positive numbers


class Axis:
    """The axis from B to A, for vectors a, (|A|, D), and b, (|B|, D), float64.

    The axis g is the unit eigenvector with the largest eigenvalue of

        C = Σ_{a in A} Σ_{b in B} (a - b)(a - b)ᵀ,

    the first principal component, uncentred, of the differences of all pairs, oriented towards mean A - mean
    B. `direction` is g, or NaN if C has no single largest eigenvalue (for example if A and B do not differ).
    With the other eigenvectors v_k and the eigenvalues λ, first-order perturbation theory gives

        dg = Σ_{k > 1} v_k (v_kᵀ dC g) / (λ_1 - λ_k).
    """

    def __init__(self, a: np.ndarray, b: np.ndarray) -> None:
        self.a, self.b = a, b
        between = np.outer(a.sum(axis=0), b.sum(axis=0))
        scatter = len(b) * a.T @ a + len(a) * b.T @ b - between - between.T
        self.eigenvalues, self.eigenvectors = np.linalg.eigh(scatter)
        largest, second = self.eigenvalues[-1], self.eigenvalues[-2] if a.shape[1] > 1 else 0.0
        scale = len(b) * np.sum(a**2) + len(a) * np.sum(b**2)
        if not largest - second > _LEAST_GAP * scale:
            self.direction = np.full(a.shape[1], np.nan)
            return
        leading = self.eigenvectors[:, -1]
        self.direction = leading if leading @ (a.mean(axis=0) - b.mean(axis=0)) >= 0 else -leading

    def derivatives(self, words: UnitVectors, rows: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        """Return the derivatives by `rows`, (n_words, D), of a function L of the products of targets with g.

        `slopes` are the derivatives of L by these products. The derivative of L by the difference δ of a pair
        is y (δ · g) + g (δ · y) with y = Σ_{k > 1} v_k (v_k · dL/dg) / (λ_1 - λ_k). The derivative by an
        attribute word sums over its pairs with all words of the other attribute set.
        """
        targets = rows[words.targets]
        others, gaps = self.eigenvectors[:, :-1], self.eigenvalues[-1] - self.eigenvalues[:-1]
        is_defined = np.isfinite(self.direction).all()
        y = others @ (others.T @ (slopes @ targets) / gaps) if is_defined else self.direction
        gradient = np.zeros_like(rows)
        gradient[words.targets] += np.outer(slopes, self.direction)
        for own, other, places in ((self.a, self.b, words.A), (self.b, self.a, words.B)):
            differences = len(other) * own - other.sum(axis=0)
            along, across = differences @ self.direction, differences @ y
            gradient[places] += np.outer(along, y) + np.outer(across, self.direction)
        return gradient


def _measure_ripa(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return ``mean_S β - mean_T β``; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    rows = words.norms[:, None] * words.unit
    return float(words.signs @ rows[words.targets] @ Axis(rows[words.A], rows[words.B]).direction)


def _differentiate_ripa(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    words = UnitVectors(vectors, weat)
    rows = words.norms[:, None] * words.unit
    return Axis(rows[words.A], rows[words.B]).derivatives(words, rows, words.signs)


def _measure_ect(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return Pearson's correlation of x and y; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    x, y = (_standardise(words, _scale_mean(words, rows)[0])[0] for rows in (words.A, words.B))
    return float(x @ y)


def _differentiate_ect(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `_measure_ect`.

    x̂ and ŷ are x and y, centred and scaled to length one, and r = x̂ · ŷ: dr/dx = (ŷ - r x̂) / |x - mean x|.
    """
    words = UnitVectors(vectors, weat)
    targets = words.unit[words.targets]
    groups = [(rows, *_scale_mean(words, rows)) for rows in (words.A, words.B)]
    standardised = [_standardise(words, mean) for _, mean, _ in groups]
    (x, _), (y, _) = standardised
    by_unit, by_vector = np.zeros_like(words.unit), np.zeros_like(words.unit)
    for (rows, mean, length), (own, spread), other in zip(groups, standardised, (y, x), strict=True):
        slopes = (other - x @ y * own) / spread
        by_unit[words.targets] += np.outer(slopes, mean)
        by_mean = slopes @ targets
        by_vector[rows] += (by_mean - by_mean @ mean * mean) / length / len(rows)
    return words.by_vector(by_unit) + by_vector


def _scale_mean(words: UnitVectors, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the mean vector of `rows` scaled to length one, and its length; NaN if the mean is zero."""
    mean = (words.norms[rows, None] * words.unit[rows]).mean(axis=0)
    length = float(np.linalg.norm(mean))
    length = length if length > words.rounding * words.norms[rows].max() else math.nan
    return mean / length, length


def _standardise(words: UnitVectors, mean: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the targets' cosines with a mean, centred and scaled to length one, and the original length."""
    cosines = words.unit[words.targets] @ mean
    centred = cosines - cosines.mean()
    spread = float(np.linalg.norm(centred))
    spread = spread if spread > words.rounding else math.nan
    return centred / spread, spread


def _measure_same(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return the SAME score; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    direction, _ = _scale_difference(words)
    return float(np.mean(np.abs(words.unit[words.targets] @ direction)))


def _differentiate_same(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    words = UnitVectors(vectors, weat)
    direction, length = _scale_difference(words)
    targets = words.unit[words.targets]
    cosines = targets @ direction
    slopes = np.sign(cosines) / len(cosines)
    by_h = (slopes @ targets - slopes @ cosines * direction) / length
    by_unit = np.zeros_like(words.unit)
    by_unit[words.targets] += np.outer(slopes, direction)
    by_unit[words.A] += by_h / len(weat.A)
    by_unit[words.B] -= by_h / len(weat.B)
    return words.by_vector(by_unit)


def _scale_difference(words: UnitVectors) -> tuple[np.ndarray, float]:
    """Return h scaled to length one, and its length; NaN if h is zero."""
    length = float(np.linalg.norm(words.attribute_direction))
    length = length if length > words.rounding else math.nan
    return words.attribute_direction / length, length


def _measure_direct_bias(vectors: np.ndarray, weat: WeatIndices, c: float = 1.0) -> float:
    """Return DirectBias_c; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    cosines = words.unit[words.targets] @ Axis(words.unit[words.A], words.unit[words.B]).direction
    return float(np.mean(np.abs(cosines) ** c))


def _differentiate_direct_bias(vectors: np.ndarray, weat: WeatIndices, c: float = 1.0) -> np.ndarray:
    words = UnitVectors(vectors, weat)
    axis = Axis(words.unit[words.A], words.unit[words.B])
    cosines = words.unit[words.targets] @ axis.direction
    sizes = np.where(cosines == 0, 1.0, np.abs(cosines))
    slopes = np.sign(cosines) * c * sizes ** (c - 1) / len(cosines)
    return words.by_vector(axis.derivatives(words, words.unit, slopes))


_NO_AXIS = "the differences of the attribute sets have no first principal axis"
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        Measure(
            WEAT, effect_size, effect_size_gradient, "all targets are equally near to both attribute sets"
        ),
        Measure("ripa", _measure_ripa, _differentiate_ripa, _NO_AXIS),
        Measure(
            "ect",
            _measure_ect,
            _differentiate_ect,
            "all targets are equally near to an attribute set, or the vectors of a set add up to zero",
            unbiased=1.0,
        ),
        Measure(
            "same", _measure_same, _differentiate_same, "the attribute sets have the same mean unit vector"
        ),
        Measure("direct_bias", _measure_direct_bias, _differentiate_direct_bias, _NO_AXIS, parameters=("c",)),
    )
}
"""Every measure by its name."""

PARAMETERS = {name: measure.parameters for name, measure in MEASURES.items()}
"""Names of the parameters of every measure, for :func:`biaslab.bias.word_sets.read_word_sets`."""


def measure_bias(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Measure a bias by the measure of a test, with its parameters.

    Parameters
    ----------
    vectors : (V, D) array of any float dtype
        Word vectors; computations are in float64.
    weat : WeatIndices
        The words of the test, its measure and the parameters of the measure.

    Returns
    -------
    float
        In units of the measure. NaN if the measure is undefined.
    """
    return MEASURES[weat.measure].value(vectors, weat, **weat.parameters)


def measure_gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `measure_bias` by the vectors of the words of the test.

    Parameters
    ----------
    vectors, weat
        As for `measure_bias`.

    Returns
    -------
    (n_words, D) float64
        A row for each word, by ascending id. All NaN if the measure is undefined.
    """
    return MEASURES[weat.measure].gradient(vectors, weat, **weat.parameters)
