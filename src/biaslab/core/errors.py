"""The one exception that stands for bad input."""

import difflib
import re
from collections.abc import Iterable

LONGEST_WORD, LONGEST_MESSAGE = 300, 2000
"""Characters of a message that are printed."""

_WORDS = re.compile(r"\s+|\S+")


class InputError(Exception):
    """Bad input: one line that says what is wrong, where, and what to do.

    The command line prints the message without a traceback and exits with 2.
    """


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for a known name that is near or begins with `name`, or nothing."""
    known = list(known)
    near = [one for one in known if one.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    near = near or [one for one in known if name and one.startswith(name)]
    return f"; did you mean '{near[0]}'?" if near else ""


def number_of(n: int, noun: str) -> str:
    """Return how many there are, in words."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def printable(text: str) -> str:
    """Return a message as it may be printed, whatever values of the user's are in it.

    Control characters are written as escapes, so that they cannot act on a terminal; too long words and
    messages are cut, with "…" where they are.
    """
    words = (
        word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…" for word in _WORDS.findall(text)
    )
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in "".join(words))
    return shown if len(shown) <= LONGEST_MESSAGE else f"{shown[: LONGEST_MESSAGE - 1]}…"


def one_line(error: BaseException) -> str:
    """Return what a library or the system says of an error, on one line."""
    said = getattr(error, "strerror", None) or str(error)
    return (said.splitlines() or [type(error).__name__])[0]
