"""Allow one run at a time in a working directory, and one writer at a time in a folder."""

import contextlib
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from biaslab.core.errors import InputError

LOCK = Path(".snakemake/biaslab.lock")
"""The lock of a working directory, for `biaslab run` and for plain Snakemake."""
_HELD = "BIASLAB_LOCK"  # the lock that the parent process holds


def hold_folder() -> None:
    """Hold the lock of this folder, unless the parent process holds it; wait for other processes."""
    place = str(LOCK.absolute())
    if os.environ.get(_HELD) != place:
        hold(LOCK)
        os.environ[_HELD] = place


def hold(path: Path) -> None:
    """Hold a lock until this process ends; wait while another process holds it.

    The file contains the id of the process that holds the lock. The system releases the lock when the process
    ends, for any reason. A child process started with ``close_fds=False`` also holds the lock.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.stderr.write(f"biaslab: {_describe_holder(path)}; waiting for the end\n")
            sys.stderr.flush()
            fcntl.flock(handle, fcntl.LOCK_EX)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    except OSError as error:
        raise InputError(
            f"cannot write {path}: {error.strerror}; free space or work in a folder of your own"
        ) from error
    os.set_inheritable(handle, True)


def _describe_holder(path: Path) -> str:
    """Describe the holder of a lock: a process, or the child processes of a killed process."""
    holder = path.read_text(encoding="ascii").strip()
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return f"processes started by process {holder} still work in this folder"
    except (ValueError, PermissionError):  # not written yet; or a process of another user
        pass
    return f"process {holder} works in this folder"


@contextlib.contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is created if missing; other processes wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror}; choose another folder") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
