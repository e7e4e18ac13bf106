"""The user's folder of what only saves time: compiled kernels, digests of code."""

import os
import stat
import tempfile
from pathlib import Path

from biaslab.core.errors import InputError

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


def replace_unwritable_home() -> None:
    """Keep caches in a folder for temporary files if the user's home cannot hold them.

    Snakemake needs a cache. Without one, matplotlib makes a folder for each process, and complains.
    """
    home = Path(os.path.expanduser("~"))
    caches = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    plots = [Path(os.environ.get("MPLCONFIGDIR") or config / "matplotlib")]
    if not os.environ.get("MPLCONFIGDIR"):
        plots.append(caches / "matplotlib")
    if not (_can_hold(caches / "biaslab") and _can_hold(caches / "snakemake")):
        os.environ["XDG_CACHE_HOME"] = str(_temporary_cache())
    if not all(map(_can_hold, plots)):
        os.environ["MPLCONFIGDIR"] = str(_temporary_cache() / "matplotlib")


def _can_hold(folder: Path) -> bool:
    """Tell whether the user can write into a folder, or make it; a home that is missing is not to be made."""
    home = Path(os.path.expanduser("~"))
    if folder.is_relative_to(home) and not home.is_dir():
        return False
    nearest = next((place for place in (folder, *folder.parents) if place.exists()), Path())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _temporary_cache() -> Path:
    """Return the user's own folder for caches among temporary files, the same in every run."""
    try:
        folder = Path(tempfile.gettempdir()) / f"biaslab-{os.geteuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        if not stat.S_ISDIR(folder.lstat().st_mode) or not is_only_ours(folder.lstat()):
            raise PermissionError(folder)
    except OSError as error:
        raise InputError(
            "the home folder cannot be written, nor is there another place for caches; set XDG_CACHE_HOME and"
            " MPLCONFIGDIR to folders of your own"
        ) from error
    return folder


def make_private(folder: Path) -> None:
    """Make a folder for the user alone; raise OSError when it is there and others can write into it."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
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
