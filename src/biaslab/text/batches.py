"""Generate many variants of few texts lazily, and read texts in batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

MAX_CHARACTERS = 4_000_000
"""Maximum number of characters of a batch, unless a single text has more."""


class Variants(Sequence[str]):
    """Texts that are generated from keys when they are read, so that only one batch is in memory."""

    def __init__(self, keys: Sequence[Any], make: Callable[[Any], str]) -> None:
        self._keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "Variants": ...

    def __getitem__(self, place: int | slice) -> "str | Variants":
        """Return a text, or a lazy slice of the texts."""
        if isinstance(place, slice):
            return Variants(self._keys[place], self._make)
        return self._make(self._keys[place])


def text_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield batches of at most `size` texts, in order; batches of long texts are smaller."""
    batch: list[str] = []
    n_characters = 0
    for text in texts:
        if batch and (len(batch) == size or n_characters + len(text) > MAX_CHARACTERS):
            yield batch
            batch, n_characters = [], 0
        batch.append(text)
        n_characters += len(text)
    if batch:
        yield batch
