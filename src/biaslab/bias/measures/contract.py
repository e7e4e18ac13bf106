"""What a measure of bias is: a number, its derivatives by the word vectors, and the row that describes it.

Everything else asks the row; nothing depends on which measure it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measure:
    """A measure of bias.

    Attributes
    ----------
    name : str
        As files of word sets name it.
    value : callable
        Takes (V, D) vectors, a `biaslab.bias.word_sets.WeatIndices` and the parameters by name; returns a
        float, NaN where the measure is undefined.
    gradient : callable
        Takes the same; returns the derivatives of `value` by the vectors of ``weat_words(weat)``,
        (n_words, D) float64, or all NaN.
    undefined : str
        When it is undefined, to end a message with.
    parameters : tuple of str
        Names of its parameters, which are positive numbers.
    """

    name: str
    value: Callable[..., float]
    gradient: Callable[..., np.ndarray]
    undefined: str
    parameters: tuple[str, ...] = ()
