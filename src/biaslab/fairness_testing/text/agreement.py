"""On which other networks the pairs that were found on one are discriminatory, too."""

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from biaslab.fairness_testing.text.columns import COLUMNS
from biaslab.fairness_testing.text.finds import Finds, sample
from biaslab.fairness_testing.text.names import ENCODER_KIND
from biaslab.fairness_testing.text.search_experiment import ADF, LOCAL
from biaslab.text.corpora import TEST
from biaslab.text.models import TextModel

Found = Mapping[str, Mapping[str, Finds]]
"""What searches found, by kind of network and `key`."""


def agreement(
    found: Found, networks: Mapping[tuple[str, int], TextModel], pairs: int, seed: int
) -> pd.DataFrame:
    """Return agreement.tsv: pairs that ADF's local phase found on one network, tested on the others.

    A network is tested on the pairs of the other kind of the same repetition, and on those of its own kind of
    the next one: what two trainings alone differ by.
    """
    kinds, numbers = (sorted(set(part)) for part in zip(*networks, strict=True))
    rows = []
    for kind, number, feature, some in _tested(found, pairs, seed):
        for other in kinds:
            of = numbers[(numbers.index(number) + 1) % len(numbers)] if other == kind else number
            rows.append([feature, kind, other, number, *_held(networks[other, of], some)])
    return pd.DataFrame(rows, columns=list(COLUMNS["agreement"]))


def agreement_of_encoder(found: Found, encoder: TextModel, pairs: int, seed: int) -> pd.DataFrame:
    """Return further rows of agreement.tsv: the same pairs, tested on an encoder."""
    rows = [
        [feature, kind, ENCODER_KIND, number, *_held(encoder, some)]
        for kind, number, feature, some in _tested(found, pairs, seed)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS["agreement"]))


def _tested(found: Found, n: int, seed: int) -> Iterator[tuple[str, int, str, Finds]]:
    """Yield the pairs that are tested, with the kind of network, repetition and feature of their search."""
    for kind, finds_of in found.items():
        for name, finds in finds_of.items():
            part, feature, number, phase, tester = name.split("/")
            if (part, phase, tester) == (TEST, LOCAL, ADF):
                some = sample(finds, n, seed, f"agreement/{kind}/{feature}/{number}")
                yield kind, int(number), feature, some


def _held(network: TextModel, pairs: Finds) -> tuple[int, int, float]:
    """Return how many pairs there are, and how many and which share of them get two labels."""
    if not len(pairs):
        return 0, 0, np.nan
    first, second = (network.probabilities(texts).argmax(axis=1) for texts in (pairs.texts, pairs.partners))
    held = first != second
    return len(pairs), int(held.sum()), float(held.mean())
