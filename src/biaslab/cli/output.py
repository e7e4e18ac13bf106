"""Print progress, and handle output without reader, as in ``biaslab ... | head``, or on a full disk."""

import io
import os
import sys
from typing import TextIO

import typer

from biaslab.core.errors import InputError


def say(line: str) -> None:
    """Print a line of progress on standard error."""
    typer.echo(line, err=True)


class _Patient(io.FileIO):
    """A stream that discards output when its reader is gone, so that the command completes.

    On a full disk, messages (e.g. the log of a step) are dropped, and standard output raises an error once.
    """

    def __init__(self, number: int, drops: bool):
        super().__init__(number, "w", closefd=False)
        self._drops = drops

    def write(self, data: bytes) -> int | None:
        """Write data; drop data without reader or without disk space."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nothing = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nothing, self.fileno())  # also for child processes started from now on
            os.close(nothing)
        except OSError as error:
            if not self._drops:
                self._drops = True
                raise InputError(
                    f"cannot write standard output: {error.strerror}; free space or choose another place"
                ) from error
        return len(data)


def outlive_readers() -> None:
    """Let this process complete normally if its output has no reader or no disk space."""
    if sys.stdout is not None and sys.stdout is sys.__stdout__:
        sys.stdout = sys.__stdout__ = _patient(sys.stdout, drops=False)
    if sys.stderr is not None and sys.stderr is sys.__stderr__:
        sys.stderr = sys.__stderr__ = _patient(sys.stderr, drops=True)


def _patient(stream: TextIO, drops: bool) -> TextIO:
    raw = _Patient(stream.fileno(), drops)
    settings = {"encoding": stream.encoding, "errors": stream.errors, "line_buffering": stream.line_buffering}
    return io.TextIOWrapper(io.BufferedWriter(raw), **settings)
