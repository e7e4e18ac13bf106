"""One run at a time in a working directory."""

import fcntl
import os
import sys
from pathlib import Path

from biaslab.core.errors import InputError

LOCK = Path(".snakemake/biaslab.lock")
"""The lock of a folder in which a run writes, by `biaslab run` or by Snakemake alone."""
_HELD = "BIASLAB_LOCK"  # names the lock that the process which started this one holds


def hold_folder() -> None:
    """Hold the lock of this folder, unless the process that started this one holds it; wait for others."""
    place = str(LOCK.absolute())
    if os.environ.get(_HELD) != place:
        hold(LOCK)
        os.environ[_HELD] = place


def hold(path: Path) -> None:
    """Hold a lock for the rest of this process, and wait for it while another process has it.

    The file names the process that holds the lock. The system gives it back however the process ends, so that
    no stale lock is ever left behind. A child process has it, too, when it is started with
    ``close_fds=False``.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        _take(handle, path)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; free space or work in a folder of your own"
        ) from error
    os.set_inheritable(handle, True)


def _take(handle: int, path: Path) -> None:
    """Take a lock; say who has it where another does, and wait."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(f"biaslab: {_who_holds(path)}; waiting for it to end\n")
        sys.stderr.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)


def _who_holds(path: Path) -> str:
    """Return who has a lock: a process, or what is left of a killed one."""
    holder = path.read_text(encoding="ascii").strip()
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return f"what process {holder} started is at work in this folder"
    except (ValueError, PermissionError):  # it has not said who it is yet; it is another user's
        pass
    return f"process {holder} is at work in this folder"
