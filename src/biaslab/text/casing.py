"""Words that are put in place of others or left out, and the capital letters that follow from that."""

import re
from collections.abc import Sequence

MAX_WORDS = 200
"""Words of a text that are left out one by one, from the first: time grows with the words, and the text's
length, and so with the square of its words."""
Span = tuple[int, int]
"""Where a word begins and ends in its text."""

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_ENDS = (".", "!", "?", "…")
_OPENERS = " \t\n\r\"'“”‘’«»([{*_-–—"


def match_case(word: str, replaced: str) -> str:
    """Return a word in the case of the word that it replaces: all capitals, first capitals, or as it is."""
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
    """Return a text with its first letter, behind quotes and brackets, as a capital; the rest as it is."""
    start = len(text) - len(text.lstrip(_OPENERS))
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]


def starts_sentence(before: str) -> bool:
    """Tell whether what follows a piece of text is the first word of a sentence."""
    before = before.rstrip(_OPENERS)
    return not before or before.endswith(_ENDS)


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
