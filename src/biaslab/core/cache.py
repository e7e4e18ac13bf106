"""The user's folder of what only saves time: compiled kernels, digests of code."""

import os
import stat
from pathlib import Path

VARIABLE = "BIASLAB_CACHE"
"""The environment variable that names another folder."""


def cache_folder(name: str) -> Path | None:
    """Return a folder of the cache, whether it exists or not; None where there is no home to keep it in."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).absolute() / name
    from platformdirs import user_cache_path

    if not os.environ.get("XDG_CACHE_HOME") and not os.path.isdir(os.path.expanduser("~")):
        return None  # a home that is missing is not to be made
    return user_cache_path("biaslab").absolute() / name


def make_private(folder: Path) -> None:
    """Make a folder for the user alone; raise OSError when it is there and others can write into it."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not is_private(folder):
        raise PermissionError(folder)


def is_private(folder: Path) -> bool:
    """Tell whether a folder, and the one around it, are the user's and nobody else can write into them."""
    return all(
        stat.S_ISDIR(place.lstat().st_mode) and is_only_ours(place.lstat())
        for place in (folder, folder.parent)
    )


def is_only_ours(status: os.stat_result) -> bool:
    """Tell whether a file or folder is the user's and nobody else can write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
