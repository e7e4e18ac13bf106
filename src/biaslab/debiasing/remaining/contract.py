"""What a measure of remaining bias is given, and what it returns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from biaslab.debiasing.remaining.extremes import ExtremeWords


class Case(NamedTuple):
    """An embedding before debiasing, and the words that are looked at; the same for all methods.

    Attributes
    ----------
    bias : (V,) float64
        Cosine of every word with the difference of `ends`, before.
    neutral, professions : (n,) int64
        Rows of all neutral words, and of the neutral occupations.
    clustered, classified : ExtremeWords
        Words at both ends of the bias.
    neighbours : int
        Neighbours that are counted.
    ends : tuple of int
        Rows of *she* and *he*, or what the first defining set begins with.
    ids : mapping of str to int
        Row of every word.
    questions : sequence
        Of SemBias; none where the file is not given.
    seed : int
    """

    bias: np.ndarray
    neutral: np.ndarray
    professions: np.ndarray
    clustered: ExtremeWords
    classified: ExtremeWords
    neighbours: int
    ends: tuple[int, int]
    ids: Mapping[str, int]
    questions: Sequence[tuple[tuple[str, str], ...]]
    seed: int


class Found(NamedTuple):
    """One number with its 95% interval (NaN where there is none), of how many words or questions."""

    measure: str
    value: float
    ci_low: float
    ci_high: float
    n: int
