"""Methods of debiasing, from Bolukbasi et al. 2016 and later work, with a common interface."""

import numpy as np

from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.methods.double_hard import debias_double_hard
from biaslab.debiasing.methods.inlp import debias_inlp
from biaslab.debiasing.registry import check_method


def keep_vectors(experiment: Experiment) -> np.ndarray:
    """Return the unchanged vectors: float64 (V, d)."""
    return experiment.embedding.vectors.astype(np.float64)


def debias_softly(experiment: Experiment) -> np.ndarray:
    """Return the vectors after soft debiasing with the experiment's λ: float64 (V, d)."""
    ((_, vectors),) = experiment.soft([experiment.penalty])
    return vectors


FUNCTIONS = {
    "none": keep_vectors,
    "hard": Experiment.hard,
    "soft": debias_softly,
    "double_hard": debias_double_hard,
    "inlp": debias_inlp,
}
"""The function of each row of `registry.METHODS`."""


def debias(name: str, experiment: Experiment) -> np.ndarray:
    """Return the vectors after a method: unit vectors, float64 (V, d)."""
    check_method(name)
    return FUNCTIONS[name](experiment)
