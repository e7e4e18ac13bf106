"""Run a program in the foreground that ends with this process; report an interruption in one line."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence

_ENDED_BY = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def supervise(command: Sequence[str], patience: float) -> int:
    """Run a program to its end, forward its messages until an interruption, and return its exit code.

    The program inherits the locks of this process. An interruption (Ctrl-C), SIGTERM or the loss of the
    terminal ends it and its children within `patience` seconds; the code is then 128 plus the signal.
    The death of this process, for any cause, also ends them (`biaslab.run.keeper`). Ctrl-Z stops all of them
    until this process continues.
    """
    ends: list[int] = []
    before = {number: signal.getsignal(number) for number in (*_ENDED_BY, signal.SIGTSTP)}
    lifeline, write_end = os.pipe()
    hold = os.fdopen(write_end, "wb", buffering=0)

    def end(number: int, _: object) -> None:
        ends.append(number)  # first: another signal may interrupt this handler
        if len(ends) == 1:
            hold.close()
            _say(f"{_ENDED_BY[number]}; the same command resumes from here")

    def has_ended() -> bool:
        return bool(ends)  # a call, because Python runs pending handlers on function entry

    for number in _ENDED_BY:
        if number == signal.SIGINT or before[number] != signal.SIG_IGN:  # nohup ignores hang-ups
            signal.signal(number, end)
    keeper = subprocess.Popen(
        [sys.executable, "-m", "biaslab.run.keeper", str(patience), *command],
        stdin=lifeline,
        stderr=subprocess.PIPE,
        close_fds=False,
        start_new_session=True,  # signals of the terminal reach this process only
    )
    os.close(lifeline)
    signal.signal(signal.SIGTSTP, lambda *_: _stop_with(keeper))
    with keeper, hold:  # closes `hold` also if forwarding fails
        for line in keeper.stderr:
            if not has_ended():
                sys.stderr.buffer.write(line)
                sys.stderr.flush()
    for number, handler in before.items():
        signal.signal(number, handler)
    if ends:
        return 128 + ends[0]
    if keeper.returncode > 128:
        _say(f"Snakemake was killed by signal {keeper.returncode - 128}; the same command resumes from here")
    return keeper.returncode


def _stop_with(keeper: subprocess.Popen) -> None:
    """Stop this process and the keeper's program until this process is continued."""
    keeper.send_signal(signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGSTOP)
    keeper.send_signal(signal.SIGCONT)


def _say(line: str) -> None:
    """Write a line without Python's buffers, which may be in use when a signal arrives."""
    with contextlib.suppress(OSError):  # the terminal may be gone
        os.write(2, f"biaslab: {line}\n".encode())
