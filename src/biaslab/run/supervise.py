"""A program in the foreground whose interruption is told in one line."""

import signal
import subprocess
import sys
from collections.abc import Sequence

INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def supervise(command: Sequence[str]) -> int:
    """Run a program to its end and pass on what it says, but not what it says once it was interrupted.

    Ctrl-C reaches the program and its children, too, as the terminal sends it to all; how each of them fails
    is of no interest then. A request to terminate (SIGTERM) is handed on.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments. It has the locks that this process holds.

    Returns
    -------
    int
        Its exit code, or `INTERRUPTED`.
    """
    interrupted = False

    def interrupt(*_: object) -> None:
        nonlocal interrupted
        if not interrupted:
            sys.stderr.write("biaslab: interrupted; the same command goes on from here\n")
            sys.stderr.flush()
        interrupted = True

    def was_interrupted() -> bool:
        return interrupted  # a call: Python runs a handler that is due before it enters a function

    signal.signal(signal.SIGINT, interrupt)
    with subprocess.Popen(command, stderr=subprocess.PIPE, close_fds=False) as program:
        signal.signal(signal.SIGTERM, lambda *_: program.terminate())
        for line in program.stderr:
            if not was_interrupted():
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
    return INTERRUPTED if interrupted else program.returncode
