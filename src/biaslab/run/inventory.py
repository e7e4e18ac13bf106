"""Every registered dataset: whether it is here, can be fetched, or needs something of the user."""

from collections.abc import Mapping
from dataclasses import dataclass

from biaslab.run.datasets import UNKNOWN_SIZE, Dataset
from biaslab.run.fetching import ABSENT, PENDING, THERE, status

HERE, FETCH, MAKE, LICENCE, OWN, FAILED = (
    "here",
    "can be fetched",
    "can be made",
    "needs a licence",
    "needs your copy",
    "not fetched",
)

_WORDS = {
    THERE: ({}, HERE),
    PENDING: ({"recipe": MAKE}, FETCH),
    ABSENT: ({"licensed": LICENCE, "local": OWN}, FAILED),
}
"""For each state: words for some origins, and the word for all others."""


@dataclass(frozen=True)
class Entry:
    """One dataset.

    Attributes
    ----------
    name : str
    state : str
        `HERE`, `FETCH`, `MAKE` (to be made of public files, by fetching it), `LICENCE` (has to be asked for),
        `OWN` (has no public address: the user names a file) or `FAILED` (could not be fetched before).
    size : int or None
        In bytes, None where it is not known.
    version, licence, note : str
        As registered.
    source : str
        Where it is, or why it is not to be had.
    """

    name: str
    state: str
    size: int | None
    version: str
    licence: str
    source: str
    note: str


def inventory(registry: Mapping[str, Dataset], datasets: Mapping) -> list[Entry]:
    """Return an entry a dataset, in the order of the registry; nothing is fetched.

    Parameters
    ----------
    datasets : mapping
        The configuration's ``datasets``.
    """
    return [_entry(dataset, registry, datasets) for dataset in registry.values()]


def _entry(dataset: Dataset, registry: Mapping[str, Dataset], datasets: Mapping) -> Entry:
    found = status(dataset, registry, datasets)
    words, word = _WORDS[found.state]
    size = None if dataset.size == UNKNOWN_SIZE else int(dataset.size)
    return Entry(
        dataset.name,
        words.get(dataset.origin, word),
        size,
        dataset.version,
        dataset.licence,
        found.reason,
        dataset.note,
    )
