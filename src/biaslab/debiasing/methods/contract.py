"""What a method of debiasing is."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from biaslab.debiasing.experiment import Experiment


class Method(NamedTuple):
    """A method of debiasing."""

    name: str  # what configurations and commands call it
    title: str  # what tables and figures call it
    source: str  # where it comes from
    debias: Callable[[Experiment], np.ndarray]  # to unit vectors, float64 (V, d)
