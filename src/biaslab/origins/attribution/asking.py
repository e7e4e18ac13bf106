"""Asking attributions of the registry what they say of documents, and of sets of them."""

from collections.abc import Sequence

import numpy as np

from biaslab.bias.names import PPMI
from biaslab.bias.word_sets import WeatIndices
from biaslab.origins.attribution import _kernels, ppmi, unrolled
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import DifferentialBias
from biaslab.origins.attribution.registry import UNROLLED
from biaslab.origins.attribution.scanner import Scanner

_COLUMNS = {"influence": _kernels.INFLUENCE, "newton": _kernels.NEWTON, "gradient": _kernels.GRADIENT}
"""The approximations of a retrained embedding, which one pass over the baselines estimates together."""

_OTHERS = {PPMI: ppmi, UNROLLED: unrolled}


def of_documents(name: str, scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return what an attribution says of every document."""
    if name in _OTHERS:
        return _OTHERS[name].of_documents(scanner, weat)
    return _of_one(name, scanner.scan(weat))


def of_sets(name: str, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return what an attribution says of the removal of whole sets of documents."""
    if name in _OTHERS:
        return _OTHERS[name].of_sets(scanner, weat, sets)
    return _of_one(name, scanner.scan(weat, sets))


def _of_one(name: str, made: Sequence[DifferentialBias]) -> Estimates:
    values = np.stack([of.values[:, _COLUMNS[name]] for of in made])
    fallbacks = np.stack([of.fallbacks for of in made]) if name == "newton" else 0
    return from_values(np.array([of.baseline for of in made]), values, fallbacks)
