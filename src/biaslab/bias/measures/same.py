"""The SAME score of Schröder, Schulz and Hammer 2021, for two sets of attributes.

    SAME = mean_{w in N} |cos(w, h)|,    h = mean_{a in A} û_a - mean_{b in B} û_b

N are the words whose bias is measured, here the targets S and T together; h is the difference of the mean
unit vectors, that of the association test. The measure has no sign. Where a cosine is 0, |cos| has no
derivative, and 0 stands for it.
"""

import numpy as np

from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import UnitVectors
from biaslab.bias.word_sets import WeatIndices


def value(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return the SAME score; vectors (V, D)."""
    words = UnitVectors(vectors, weat)
    direction, _ = _direction(words)
    return float(np.mean(np.abs(words.unit[words.targets] @ direction)))


def gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64."""
    words = UnitVectors(vectors, weat)
    direction, length = _direction(words)
    targets = words.unit[words.targets]
    cosines = targets @ direction
    slopes = np.sign(cosines) / len(cosines)
    by_h = (slopes @ targets - slopes @ cosines * direction) / length
    by_unit = np.zeros_like(words.unit)
    by_unit[words.targets] += np.outer(slopes, direction)
    by_unit[words.A] += by_h / len(weat.A)
    by_unit[words.B] -= by_h / len(weat.B)
    return words.by_vector(by_unit)


def _direction(words: UnitVectors) -> tuple[np.ndarray, float]:
    """Return h scaled to length one, and its length; NaN where it is zero."""
    length = np.linalg.norm(words.attribute_direction)
    length = length if length > words.rounding else np.nan
    return words.attribute_direction / length, length


MEASURE = Measure("same", value, gradient, "the attribute sets have one mean unit vector")
