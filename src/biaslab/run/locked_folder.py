"""Lock a folder, so that only one process at a time writes to it."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from biaslab.core.errors import InputError


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
