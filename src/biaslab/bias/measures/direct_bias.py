"""The direct bias of Bolukbasi et al. 2016.

    DirectBias_c = mean_{w in N} |cos(w, g)|^c

N are words that should be neutral, here the targets S and T together; c says how strict one is; g is the bias
axis of :func:`biaslab.bias.directions.bias_axis`, with every word of A against every word of B for a pair.
The measure has no sign. Where a cosine is 0 and c is 1, |cos| has no derivative, and 0 stands for it.
"""

import numpy as np

from biaslab.bias.measures.axis import Axis
from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors
from biaslab.bias.word_sets import WeatIndices


def value(vectors: np.ndarray, weat: WeatIndices, c: float = 1.0) -> float:
    """Return DirectBias_c; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    cosines = words.unit[words.targets] @ Axis(words.unit[words.A], words.unit[words.B]).direction
    return float(np.mean(np.abs(cosines) ** c))


def gradient(vectors: np.ndarray, weat: WeatIndices, c: float = 1.0) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64."""
    words = UnitVectors(vectors, weat)
    targets = words.unit[words.targets]
    axis = Axis(words.unit[words.A], words.unit[words.B])
    cosines = targets @ axis.direction
    sizes = np.where(cosines == 0, 1.0, np.abs(cosines))
    slopes = np.sign(cosines) * c * sizes ** (c - 1) / len(cosines)
    by_unit = np.zeros_like(words.unit)
    by_unit[words.targets] += np.outer(slopes, axis.direction)
    by_a, by_b = axis.by_vectors(slopes @ targets)
    by_unit[words.A] += by_a
    by_unit[words.B] += by_b
    return words.by_vector(by_unit)


MEASURE = Measure(
    "direct_bias",
    value,
    gradient,
    "the differences of the attribute sets have no first axis",
    parameters=("c",),
)
