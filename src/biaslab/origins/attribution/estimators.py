"""The three approximations of a retrained embedding, which one pass over the baselines estimates together."""

from collections.abc import Sequence

import numpy as np

from biaslab.bias.word_sets import WeatIndices
from biaslab.origins.attribution import _kernels
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import DifferentialBias
from biaslab.origins.attribution.scanner import Scanner

_COLUMNS = {"influence": _kernels.INFLUENCE, "newton": _kernels.NEWTON, "gradient": _kernels.GRADIENT}


def of_documents(name: str, scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return the estimates of every document by one of the three."""
    return _of_one(name, scanner.documents(weat))


def of_sets(name: str, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return the estimates of whole sets by one of the three."""
    return _of_one(name, scanner.sets(weat, sets))


def _of_one(name: str, made: Sequence[DifferentialBias]) -> Estimates:
    values = np.stack([of.values[:, _COLUMNS[name]] for of in made])
    fallbacks = np.stack([of.fallbacks for of in made]) if name == "newton" else 0
    return from_values(np.array([of.baseline for of in made]), values, fallbacks)
