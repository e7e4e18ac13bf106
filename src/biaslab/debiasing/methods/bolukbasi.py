"""Hard and soft debiasing (Bolukbasi et al. 2016, Section 4), and what they are compared with."""

import numpy as np

from biaslab.debiasing.experiment import Experiment
from biaslab.debiasing.methods.contract import Method


def keep(experiment: Experiment) -> np.ndarray:
    """Return the vectors as they are: float64 (V, d)."""
    return experiment.embedding.vectors.astype(np.float64)


def soft(experiment: Experiment) -> np.ndarray:
    """Return the vectors after soft debiasing with the experiment's λ: float64 (V, d)."""
    ((_, vectors),) = experiment.soft([experiment.penalty])
    return vectors


NONE = Method("none", "Before", "the embedding as it is", keep)
HARD = Method("hard", "Hard", "Bolukbasi et al. 2016", Experiment.hard)
SOFT = Method("soft", "Soft", "Bolukbasi et al. 2016", soft)
