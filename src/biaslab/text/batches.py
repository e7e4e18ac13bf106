"""Many texts that are made from few: made when they are read, and read some at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

MAX_CHARACTERS = 4_000_000
"""Characters of a batch of texts; one text at least."""


class Variants(Sequence[str]):
    """Texts that are made from keys when they are read, so that a batch of them is in memory and no more."""

    def __init__(self, keys: Sequence[Any], make: Callable[[Any], str]) -> None:
        self._keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self._keys)

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> "Variants": ...

    def __getitem__(self, place: int | slice) -> "str | Variants":
        """Return a text, or some of the texts, which are made later."""
        if isinstance(place, slice):
            return Variants(self._keys[place], self._make)
        return self._make(self._keys[place])


def text_batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """Yield at most `size` texts at a time, in their order, and fewer where they are long."""
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
