"""List all registered datasets: present, fetchable, or to be provided by the user."""

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
    """One dataset."""

    name: str
    state: str  # a word of `_WORDS`
    size: int | None  # in bytes, None if unknown
    version: str
    licence: str
    source: str  # location, or reason why it is unavailable
    note: str


def inventory(registry: Mapping[str, Dataset], datasets: Mapping) -> list[Entry]:
    """Return an entry for each dataset in the order of the registry, without fetching data."""
    entries = []
    for name, dataset in registry.items():
        availability = status(dataset, registry, datasets)
        words, word = _WORDS[availability.state]
        state = words.get(dataset.origin, word)
        size = None if dataset.size == UNKNOWN_SIZE else int(dataset.size)
        about = dataset.version, dataset.licence, availability.reason, dataset.note
        entries.append(Entry(name, state, size, *about))
    return entries
