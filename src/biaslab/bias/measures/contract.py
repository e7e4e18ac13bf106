"""What a measure of bias is: a number, its derivatives by the word vectors, and the row that describes it.

Everything else asks the row; nothing depends on which measure it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Measure:
    """A measure of bias.

    `value` takes (V, D) vectors, a `biaslab.bias.word_sets.WeatIndices` and the parameters by name; it
    returns a float, NaN where the measure is undefined. `gradient` takes the same and returns the derivatives
    of `value` by the vectors of ``weat_words(weat)``, (n_words, D) float64, or all NaN.
    """

    name: str  # as files of word sets name it
    value: Callable[..., float]
    gradient: Callable[..., np.ndarray]
    undefined: str  # when it is undefined, to end a message with
    unbiased: float = 0.0  # the value where there is no bias
    parameters: tuple[str, ...] = ()  # their names; they are positive numbers
