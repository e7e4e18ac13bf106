"""What a measure of remaining bias is given, and what it returns."""

from typing import NamedTuple

import numpy as np

from biaslab.debiasing.remaining.extremes import ExtremeWords


class Case(NamedTuple):
    """An embedding before debiasing, and the words that are looked at; the same for all methods."""

    bias: np.ndarray  # (V,) float64: cosine of every word with she - he, before
    neutral: np.ndarray  # rows, (n,) int64
    professions: np.ndarray  # rows of the neutral occupations, (n,) int64
    clustered: ExtremeWords
    classified: ExtremeWords
    neighbours: int  # that are counted
    seed: int


class Found(NamedTuple):
    """One number with its 95% interval (NaN where there is none), of how many words."""

    measure: str
    value: float
    ci_low: float
    ci_high: float
    n: int
