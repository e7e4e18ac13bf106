"""The embedding coherence test (ECT) of Dev and Phillips 2019, in a form that has a derivative.

With the mean vectors m_A and m_B of two groups of words, here the attributes, which keep their lengths, and
words w_i that should be neutral, here the targets S and T together,

    x_i = cos(w_i, m_A),    y_i = cos(w_i, m_B),

and ECT is the rank correlation of Spearman of x and y: 1 where both groups order the words alike, which is no
bias. Ranks have no derivative but 0. What is measured and differentiated here is the correlation of Pearson
of x and y themselves.
"""

import numpy as np

from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors
from biaslab.bias.word_sets import WeatIndices


def value(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return the correlation of Pearson of x and y; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    x, y = (_standardised(words, _mean(words, rows)[0])[0] for rows in (words.A, words.B))
    return float(x @ y)


def gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64.

    With x and y centred and scaled to length one, x̂ and ŷ, and r = x̂ · ŷ: dr/dx = (ŷ - r x̂) / |x - mean x|.
    """
    words = UnitVectors(vectors, weat)
    targets = words.unit[words.targets]
    groups = [(rows, *_mean(words, rows)) for rows in (words.A, words.B)]
    standardised = [_standardised(words, mean) for _, mean, _ in groups]
    (x, _), (y, _) = standardised
    by_unit, by_vector = np.zeros_like(words.unit), np.zeros_like(words.unit)
    for (rows, mean, length), (own, spread), other in zip(groups, standardised, (y, x), strict=True):
        slopes = (other - x @ y * own) / spread
        by_unit[words.targets] += np.outer(slopes, mean)
        by_mean = slopes @ targets
        by_vector[rows] += (by_mean - by_mean @ mean * mean) / length / len(rows)
    return words.by_vector(by_unit) + by_vector


def _mean(words: UnitVectors, rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the mean vector of some words scaled to length one, and its length; NaN where it is zero."""
    mean = (words.norms[rows, None] * words.unit[rows]).mean(axis=0)
    length = np.linalg.norm(mean)
    length = length if length > words.rounding * words.norms[rows].max() else np.nan
    return mean / length, length


def _standardised(words: UnitVectors, mean: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the targets' cosines with a mean, centred and scaled to length one, and their length before.

    NaN where all are equal.
    """
    cosines = words.unit[words.targets] @ mean
    centred = cosines - cosines.mean()
    spread = np.linalg.norm(centred)
    spread = spread if spread > words.rounding else np.nan
    return centred / spread, spread


MEASURE = Measure(
    "ect",
    value,
    gradient,
    "all targets are equally near to an attribute set, or the vectors of one add up to zero",
    unbiased=1.0,
)
