"""The exception for bad input, and helpers for its messages."""

import difflib
import re
from collections.abc import Iterable

LONGEST_WORD, LONGEST_MESSAGE = 300, 2000  # maximum number of printed characters of a word and of a message

_WORDS = re.compile(r"\s+|\S+")


class InputError(Exception):
    """Bad input: one line with the place, the problem, and the remedy.

    The command line prints the message without a traceback and exits with 2.
    """


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` if a known name is similar to `name` or begins with it, else ""."""
    known = list(known)
    near = [candidate for candidate in known if candidate.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    near = near or [candidate for candidate in known if name and candidate.startswith(name)]
    return f"; did you mean '{near[0]}'?" if near else ""


def number_of(n: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless `n` is 1."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def printable(text: str) -> str:
    """Return a message without control characters, which act on a terminal, and of limited length."""
    words = (
        word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…" for word in _WORDS.findall(text)
    )
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in "".join(words))
    return shown if len(shown) <= LONGEST_MESSAGE else f"{shown[: LONGEST_MESSAGE - 1]}…"


def one_line(error: BaseException) -> str:
    """Return the first line of the message of an error from a library or the system."""
    message = getattr(error, "strerror", None) or str(error)
    return (message.splitlines() or [type(error).__name__])[0]
