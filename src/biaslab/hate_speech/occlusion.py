"""Occlusion for any classifier of texts: how its answer changes where words are left out."""

import re
from collections.abc import Sequence

from biaslab.hate_speech.hierarchy import Span

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")


def words_of(text: str) -> list[Span]:
    """Return where the words of a text, and its marks, begin and end."""
    return [found.span() for found in _WORD.finditer(text)]


def without(text: str, words: Sequence[Span], start: int, end: int) -> str:
    """Return a text less its words [start, end)."""
    return f"{text[: words[start][0]].rstrip()} {text[words[end - 1][1] :].lstrip()}".strip()
