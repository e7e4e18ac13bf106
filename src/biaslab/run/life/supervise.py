"""Run a program in the foreground that ends with this process; report an interruption in one line.

``python -m biaslab.run.life.supervise SECONDS PROGRAM ...`` is the keeper, which runs between caller and
program. The system closes its standard input however the caller dies. The keeper then ends the program and
all its child processes. Locks are held until all these processes have ended.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import BinaryIO

_ENDED_BY = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "hung up"}


def supervise(command: Sequence[str], patience: float) -> int:
    """Run a program to its end, forward its messages until an interruption, and return its exit code.

    The program inherits the locks of this process. An interruption (Ctrl-C), SIGTERM or the loss of the
    terminal ends it and its children within `patience` seconds; the code is then 128 plus the signal. Ctrl-Z
    stops all of them until this process continues.
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
        [sys.executable, "-m", "biaslab.run.life.supervise", str(patience), *command],
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


_TERMINATED_WITHIN = 1.0  # seconds
_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def keep(command: Sequence[str], patience: float) -> int:
    """Run a program in a process group of its own until it or standard input ends; return its exit code.

    Its messages are forwarded, so that it can still write them, and end its jobs, if nobody reads them. When
    standard input closes, the group is interrupted, terminated after `patience` seconds, and killed a second
    later. If a signal killed the program, the code is 128 plus the signal.
    """
    if sys.platform == "linux":  # become the parent of orphaned descendants, to wait for them
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # unlike SIG_IGN, this is not inherited by the program
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTSTP, signal.SIGCONT))
    program = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, close_fds=False, process_group=0
    )
    signal.signal(signal.SIGTSTP, lambda *_: _send(program.pid, signal.SIGSTOP))
    signal.signal(signal.SIGCONT, lambda *_: _send(program.pid, signal.SIGCONT))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended = threading.Event()
    threading.Thread(target=_end_when_closed, args=(program.pid, patience, ended), daemon=True).start()
    forwarding = threading.Thread(target=_forward, args=(program.stderr,))
    forwarding.start()
    code = program.wait()
    ended.set()
    _send(program.pid, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-program.pid, 0)
    forwarding.join()
    return code if code >= 0 else 128 - code


def _forward(messages: BinaryIO) -> None:
    """Write messages to standard error, also if its reader has died."""
    for line in messages:
        with contextlib.suppress(OSError):
            os.write(2, line)


def _end_when_closed(group: int, patience: float, ended: threading.Event) -> None:
    """Wait for the end of standard input, then end the group by increasingly strong signals."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    _send(group, signal.SIGCONT)  # a stopped process would not react to the other signals
    for number, seconds in ((signal.SIGINT, patience), (signal.SIGTERM, _TERMINATED_WITHIN)):
        _send(group, number)
        if ended.wait(seconds):
            return
    _send(group, signal.SIGKILL)


def _send(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[2:], float(sys.argv[1])))
