"""What a method of debiasing is."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from biaslab.debiasing.experiment import Experiment


class Method(NamedTuple):
    """A method of debiasing.

    Attributes
    ----------
    name, title : str
        What configurations and commands, and what tables and figures call it.
    source : str
        Where it comes from.
    debias : callable
        Takes an `Experiment` and returns unit vectors, float64 (V, d).
    """

    name: str
    title: str
    source: str
    debias: Callable[[Experiment], np.ndarray]
