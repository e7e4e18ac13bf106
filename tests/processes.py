"""Processes that carry a mark in their environment: those of one run, wherever they hang in the tree."""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

MARK = "BIASLAB_TEST_RUN"


def heed_signals() -> None:
    """Heed what ends a process: for `preexec_fn`, as tests under nohup or in a script's background do not."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def alive(mark: str) -> dict[int, str]:
    """Return the command lines of the living processes that carry a mark, by their ids."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes()
                found[int(folder.name)] = command.replace(b"\0", b" ").decode().strip()
    return found


def kill_all(mark: str) -> None:
    """Kill all processes that carry a mark, as a machine that loses power does."""
    while left := alive(mark):
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def wait_for(condition: Callable[[], object], seconds: float) -> bool:
    """Return whether a condition comes true within some seconds."""
    end = time.monotonic() + seconds
    while not (true := bool(condition())) and time.monotonic() < end:
        time.sleep(0.02)
    return true


def is_free(lock: Path) -> bool:
    """Return whether no process holds a lock."""
    with lock.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
