"""The measures of bias. A new one costs its module, a row here, and an oracle among the tests."""

import numpy as np

from biaslab.bias.measures import direct_bias, ect, ripa, same
from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import effect_size, effect_size_gradient
from biaslab.bias.word_sets import WEAT, WeatIndices

__all__ = ["MEASURES", "measure_bias", "measure_gradient"]

_EFFECT_SIZE = Measure(
    WEAT, effect_size, effect_size_gradient, "all targets are equally near to both attribute sets"
)
MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (_EFFECT_SIZE, ripa.MEASURE, ect.MEASURE, same.MEASURE, direct_bias.MEASURE)
}
"""Every measure by its name."""

PARAMETERS = {name: measure.parameters for name, measure in MEASURES.items()}
"""The names of the parameters of every measure, for :func:`biaslab.bias.word_sets.read_word_sets`."""


def measure_bias(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return a bias by the measure of its test, with its parameters.

    Parameters
    ----------
    vectors : (V, D) array of any float dtype
        Word vectors; computed with in float64.
    weat : WeatIndices
        The words of the test, its measure and the parameters of this.

    Returns
    -------
    float
        In units of the measure. NaN where it is undefined.
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
        A row for each word, by rising id. All NaN where the measure is undefined.
    """
    return MEASURES[weat.measure].gradient(vectors, weat, **weat.parameters)
