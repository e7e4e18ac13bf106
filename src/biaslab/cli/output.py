"""Output that nobody reads any more, as in ``biaslab ... | head``, or that has no room on its disk."""

import io
import os
import sys
from typing import TextIO

from biaslab.core.errors import InputError


class _Patient(io.FileIO):
    """A stream that goes on into nothing when its reader has gone, so that the work is done to the end.

    Messages that find no room, as in the log of a step on a full disk, are dropped. Standard output that
    finds no room is refused, once.
    """

    def __init__(self, number: int, drops: bool):
        super().__init__(number, "w", closefd=False)
        self._drops = drops

    def write(self, data: bytes) -> int | None:
        """Write, or drop what nobody reads and what finds no room."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())  # also for the processes that are started from here on
            os.close(nothing)
        except OSError as error:
            if not self._drops:
                self._drops = True
                raise InputError(
                    f"cannot write standard output: {error.strerror}; free space or choose another place"
                ) from error
        return len(data)


def outlive_readers() -> None:
    """Let this process write its files and end as usual when its output is not read, or finds no room."""
    if sys.stdout is not None and sys.stdout is sys.__stdout__:
        sys.stdout = sys.__stdout__ = _patient(sys.stdout, drops=False)
    if sys.stderr is not None and sys.stderr is sys.__stderr__:
        sys.stderr = sys.__stderr__ = _patient(sys.stderr, drops=True)


def _patient(stream: TextIO, drops: bool) -> TextIO:
    raw = _Patient(stream.fileno(), drops)
    settings = {"encoding": stream.encoding, "errors": stream.errors, "line_buffering": stream.line_buffering}
    return io.TextIOWrapper(io.BufferedWriter(raw), **settings)
