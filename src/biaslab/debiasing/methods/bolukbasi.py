"""Hard and soft debiasing (Bolukbasi et al. 2016, Section 4), and what they are compared with."""

import numpy as np

from biaslab.debiasing.experiment import Experiment


def keep(experiment: Experiment) -> np.ndarray:
    """Return the vectors as they are: float64 (V, d)."""
    return experiment.embedding.vectors.astype(np.float64)


def hard(experiment: Experiment) -> np.ndarray:
    """Return the vectors after hard debiasing: float64 (V, d)."""
    return experiment.hard()


def soft(experiment: Experiment) -> np.ndarray:
    """Return the vectors after soft debiasing with the experiment's λ: float64 (V, d)."""
    ((_, vectors),) = experiment.soft([experiment.penalty])
    return vectors
