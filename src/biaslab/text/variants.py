"""Replace or leave out words of a text, generate many such variants lazily, and read texts in batches."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

MAX_WORDS = 200
"""Maximum number of words of a text that are left out one by one, because time grows with their square."""
Span = tuple[int, int]  # start and end of a word in its text

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_ENDS = (".", "!", "?", "…")
_OPENERS = " \t\n\r\"'“”‘’«»([{*_-–—"


def match_case(word: str, replaced: str) -> str:
    """Return a word in the case of the word that it replaces: all capitals, first capitals, or unchanged."""
    letters = [letter for letter in replaced if letter.isalpha()]
    if len(letters) > 1 and replaced.isupper():
        return word.upper()
    if letters and letters[0].isupper():
        rest = replaced.split()[1:]
        if rest and all(part[:1].isupper() for part in rest):
            return " ".join(map(capitalize, word.split(" ")))
        return capitalize(word)
    return word


def capitalize(text: str) -> str:
    """Capitalize the first letter of a text after quotes and brackets; keep the rest."""
    start = len(text) - len(text.lstrip(_OPENERS))
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def starts_sentence(before: str) -> bool:
    """Return whether a new sentence starts after the text `before`."""
    before = before.rstrip(_OPENERS)
    return not before or before.endswith(_ENDS)


def words_of(text: str) -> list[Span]:
    """Return the spans of the words and punctuation marks of a text."""
    return [match.span() for match in _WORD.finditer(text)]


def without(text: str, words: Sequence[Span], start: int, end: int) -> str:
    """Return a text without its words [start, end); capitalize the next word at the start of a sentence."""
    begin, stop = words[start][0], words[end - 1][1]
    before, after = text[:begin].rstrip(), text[stop:].lstrip()
    if text[begin].isupper() and starts_sentence(before):
        after = capitalize(after)
    return f"{before} {after}".strip()


MAX_CHARACTERS = 4_000_000  # maximum number of characters of a batch, unless a single text has more


class Variants(Sequence[str]):
    """Texts that are generated from keys when they are read, so that only one batch is in memory."""

    def __init__(self, keys: Sequence[Any], make: Callable[[Any], str]) -> None:
        self._keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self._keys)

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
