"""The one exception that stands for bad input."""

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """Bad input: one line that says what is wrong, where, and what to do.

    The command line prints the message without a traceback and exits with 2.
    """


def suggest(name: str, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'x'?"`` for the known name nearest to `name`, or an empty string.

    Parameters
    ----------
    name : str
        What the user wrote.
    known : iterable of str
        What would have been right.

    Returns
    -------
    str
        A clause to append to an error message.
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def one_line(error: BaseException) -> str:
    """Return what a library or the system says of an error, on one line."""
    said = getattr(error, "strerror", None) or str(error)
    return (said.splitlines() or [type(error).__name__])[0]
