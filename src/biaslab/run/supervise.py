"""A program in the foreground that ends with this process, and whose interruption is told in one line."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

_ENDED_BY = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def supervise(command: Sequence[str], patience: float) -> int:
    """Run a program to its end, pass on what it says until it is interrupted, and return its exit code.

    The program has the locks that this process holds. An interruption (Ctrl-C), a request to terminate or the
    loss of the terminal ends it, within `patience` seconds, and all that it started; the code is then 128 and
    the signal. So does the death of this process, whatever its cause: `biaslab.run.keeper` sees to it. With
    Ctrl-Z all stop, until this process goes on.
    """
    ends: list[int] = []
    before = {number: signal.getsignal(number) for number in (*_ENDED_BY, signal.SIGTSTP)}
    lifeline, end_of_it = os.pipe()
    hold = os.fdopen(end_of_it, "wb", buffering=0)

    def end(number: int, _: object) -> None:
        ends.append(number)  # before all else: another signal may come in the midst of this
        if len(ends) == 1:
            hold.close()
            _say(f"{_ENDED_BY[number]}; the same command goes on from here")

    def has_ended() -> bool:
        return bool(ends)  # a call: Python runs a handler that is due before it enters a function

    for number in _ENDED_BY:
        if number == signal.SIGINT or before[number] != signal.SIG_IGN:  # nohup ignores hang-ups
            signal.signal(number, end)
    keeper = subprocess.Popen(
        [sys.executable, "-m", "biaslab.run.keeper", str(patience), *command],
        stdin=lifeline,
        stderr=subprocess.PIPE,
        close_fds=False,
        start_new_session=True,  # what a terminal sends to all reaches this process alone
    )
    os.close(lifeline)
    signal.signal(signal.SIGTSTP, lambda *_: _stop_with(keeper))
    with keeper, hold:  # which closes when what is said cannot be passed on, too
        for line in keeper.stderr:
            if not has_ended():
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
    for number, handler in before.items():
        signal.signal(number, handler)
    if ends:
        return 128 + ends[0]
    if keeper.returncode > 128:
        _say(f"Snakemake was killed by signal {keeper.returncode - 128}; the same command goes on from here")
    return keeper.returncode


def _stop_with(keeper: subprocess.Popen) -> None:
    """Stop until this process is continued, and let the keeper's program do the same."""
    keeper.send_signal(signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGSTOP)
    keeper.send_signal(signal.SIGCONT)


def _say(line: str) -> None:
    """Write a line of this command, past Python's buffers: they may be in use when a signal comes."""
    with contextlib.suppress(OSError):  # a terminal that is gone
        os.write(2, f"biaslab: {line}\n".encode())
