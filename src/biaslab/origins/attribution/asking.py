"""Compute the estimates of an attribution of the registry for documents and sets of documents."""

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
"""Attributions that one pass over the baselines estimates together, and their columns in its result."""

_MODULES = {PPMI: ppmi, UNROLLED: unrolled}
"""Attributions with their own module."""


def of_documents(name: str, scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return the estimates of an attribution for every document."""
    if name in _MODULES:
        return _MODULES[name].of_documents(scanner, weat)
    return _select(name, scanner.scan(weat))


def of_sets(name: str, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return the estimates of an attribution for the joint removal of each set of documents."""
    if name in _MODULES:
        return _MODULES[name].of_sets(scanner, weat, sets)
    return _select(name, scanner.scan(weat, sets))


def _select(name: str, by_baseline: Sequence[DifferentialBias]) -> Estimates:
    values = np.stack([bias.values[:, _COLUMNS[name]] for bias in by_baseline])
    fallbacks = np.stack([bias.fallbacks for bias in by_baseline]) if name == "newton" else 0
    return from_values(np.array([bias.baseline for bias in by_baseline]), values, fallbacks)
