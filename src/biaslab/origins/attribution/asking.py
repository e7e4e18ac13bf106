"""Asking attributions of the registry what they say of documents, and of sets of them."""

import importlib
from collections.abc import Sequence

import numpy as np

from biaslab.bias.word_sets import WeatIndices
from biaslab.origins.attribution.contract import Attribution
from biaslab.origins.attribution.estimates import Estimates, added_up, from_values
from biaslab.origins.attribution.scanner import Scanner


def of_documents(attribution: Attribution, scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return what an attribution says of every document."""
    return _function(attribution.documents)(attribution.name, scanner, weat)


def of_sets(
    attribution: Attribution, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]
) -> Estimates:
    """Return what an attribution says of the removal of whole sets of documents."""
    if attribution.sets:
        return _function(attribution.sets)(attribution.name, scanner, weat, sets)
    single = of_documents(attribution, scanner, weat)
    return from_values(single.bias, added_up(single.values, sets))


def _function(reference: str):
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(f"{__package__}.{module}"), name)
