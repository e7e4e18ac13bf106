"""A program that does not outlive who started it: ``python -m biaslab.run.keeper SECONDS PROGRAM ...``.

The keeper stands between the two. When its standard input is closed, which the system sees to however the
process at the other end dies, it ends the program and all that it started. Locks are held until all are gone.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence

_TERMINATED_WITHIN = 1.0  # seconds
_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def keep(command: Sequence[str], patience: float) -> int:
    """Run a program in a process group of its own until it or standard input ends; return its exit code.

    It has the locks that this process holds. When standard input is closed, the group is interrupted,
    terminated after `patience` (seconds), and killed a second later. Where a signal killed it, the code is
    128 and the signal.
    """
    _adopt_orphans()
    _stay_for(signal.SIGINT, signal.SIGTERM)
    with _later(signal.SIGTSTP, signal.SIGCONT):
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, close_fds=False, process_group=0)
        signal.signal(signal.SIGTSTP, lambda *_: _send(program.pid, signal.SIGSTOP))
        signal.signal(signal.SIGCONT, lambda *_: _send(program.pid, signal.SIGCONT))
    ended = threading.Event()
    threading.Thread(target=_end_when_closed, args=(program.pid, patience, ended), daemon=True).start()
    code = program.wait()
    ended.set()
    _remove(program.pid)
    return code if code >= 0 else 128 - code


def _adopt_orphans() -> None:
    """Become the parent of processes whose own parent dies, so that they can be waited for."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _stay_for(*numbers: int) -> None:
    """Do nothing at some signals. A program that is started then heeds them, even if this process did not."""
    for number in numbers:
        signal.signal(number, lambda *_: None)


@contextlib.contextmanager
def _later(*numbers: int) -> Iterator[None]:
    """Heed some signals afterwards. A program that is started meanwhile never does, but stops at SIGSTOP."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_when_closed(group: int, patience: float, ended: threading.Event) -> None:
    """Wait for the end of standard input, then end the group by ever stronger means."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    _send(group, signal.SIGCONT)  # one that is stopped would not heed the others
    for number, seconds in ((signal.SIGINT, patience), (signal.SIGTERM, _TERMINATED_WITHIN)):
        _send(group, number)
        if ended.wait(seconds):
            return
    _send(group, signal.SIGKILL)


def _remove(group: int) -> None:
    """Kill what is left of the group, and wait until it is gone."""
    _send(group, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def _send(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


if __name__ == "__main__":
    sys.exit(keep(sys.argv[2:], float(sys.argv[1])))
