"""The measures of bias. A new one costs its module, a row here, and an oracle among the tests."""

import numpy as np

from biaslab.bias.measures import direct_bias, ect, ripa, same, weat
from biaslab.bias.measures.contract import Measure
from biaslab.bias.word_sets import WeatIndices

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (weat.MEASURE, ripa.MEASURE, ect.MEASURE, same.MEASURE, direct_bias.MEASURE)
}
"""Every measure by its name."""

PARAMETERS = {name: measure.parameters for name, measure in MEASURES.items()}
"""The names of the parameters of every measure, for :func:`biaslab.bias.word_sets.read_word_sets`."""


def measure_bias(vectors: np.ndarray, weat: WeatIndices) -> float:
    """Return a bias by the measure of its test, with its parameters."""
    return MEASURES[weat.measure].value(vectors, weat, **weat.parameters)


def measure_gradient(vectors: np.ndarray, weat: WeatIndices) -> np.ndarray:
    """Return the derivatives of `measure_bias` by the vectors of ``weat_words(weat)``, (n_words, D) float64.

    All are NaN where the measure is undefined.
    """
    return MEASURES[weat.measure].gradient(vectors, weat, **weat.parameters)
