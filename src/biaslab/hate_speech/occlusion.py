"""Occlusion for any classifier of texts: how its answer changes where words are left out."""

import re
from collections.abc import Sequence

from biaslab.hate_speech.hierarchy import Span
from biaslab.text.casing import capitalize, starts_sentence

MAX_WORDS = 200
"""Words of a text that are left out one by one, from the first: time grows with the words, and the text's
length, and so with the square of its words."""
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[Span]:
    """Return where the words of a text, and its marks, begin and end."""
    return [found.span() for found in _WORD.finditer(text)]


def without(text: str, words: Sequence[Span], start: int, end: int) -> str:
    """Return a text less its words [start, end); the next word takes over the capital of a sentence."""
    begin, stop = words[start][0], words[end - 1][1]
    before, after = text[:begin].rstrip(), text[stop:].lstrip()
    if text[begin].isupper() and starts_sentence(before):
        after = capitalize(after)
    return f"{before} {after}".strip()
