"""The user's folder of what only saves time: compiled kernels, digests of code."""

import os
from pathlib import Path

from platformdirs import user_cache_path

VARIABLE = "BIASLAB_CACHE"
"""The environment variable that names another folder."""


def cache_root() -> Path:
    """Return the folder, which need not exist."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else user_cache_path("biaslab", appauthor=False)


def cache_folder(name: str) -> Path | None:
    """Return a folder of the cache, made when it is missing; None where nothing can be kept.

    Nobody else may write into it: a folder that belongs to another user, or that others may write to, is not
    used.

    Parameters
    ----------
    name : str
        What it is for; more levels with ``/``.
    """
    folder = cache_root() / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.stat()
    except (OSError, RuntimeError):  # RuntimeError: there is no home
        return None
    is_own = state.st_uid == os.getuid() and not state.st_mode & 0o022
    return folder if is_own and os.access(folder, os.W_OK) else None
