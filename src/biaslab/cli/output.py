"""Standard output that nobody reads any more, as in ``biaslab ... | head``."""

import io
import os
import sys
from typing import TextIO


class _Patient(io.FileIO):
    """A stream that goes on into nothing when its reader has gone, so that the work is done to the end."""

    def write(self, data: bytes) -> int | None:
        """Write, or drop what nobody reads."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())  # also for the processes that are started from here on
            os.close(nothing)
            return len(data)


def outlive_readers() -> None:
    """Let this process write its files and end as usual when the reader of its output goes away."""
    if sys.stdout is not None and sys.stdout is sys.__stdout__:
        sys.stdout = sys.__stdout__ = _patient(sys.stdout)
    if sys.stderr is not None and sys.stderr is sys.__stderr__:
        sys.stderr = sys.__stderr__ = _patient(sys.stderr)


def _patient(stream: TextIO) -> TextIO:
    raw = _Patient(stream.fileno(), "w", closefd=False)
    settings = {"encoding": stream.encoding, "errors": stream.errors, "line_buffering": stream.line_buffering}
    return io.TextIOWrapper(io.BufferedWriter(raw), **settings)
