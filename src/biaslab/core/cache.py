"""The user's cache folder, for compiled kernels and digests of code."""

import os
import stat
import tempfile
from pathlib import Path

from biaslab.core.errors import InputError

VARIABLE = "BIASLAB_CACHE"  # the environment variable that replaces the default cache folder


def cache_folder(name: str) -> Path | None:
    """Return a folder of the cache, which may not exist yet; None if the user has no home folder."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).absolute() / name
    from platformdirs import user_cache_path

    if not os.environ.get("XDG_CACHE_HOME") and not os.path.isdir(os.path.expanduser("~")):
        return None  # do not create a missing home
    return user_cache_path("biaslab").absolute() / name


def replace_unwritable_home() -> None:
    """Keep caches in a temporary folder if the user's home is not writable.

    Snakemake needs a cache. Without a cache, matplotlib creates a folder for each process and warns.
    """
    home = Path(os.path.expanduser("~"))
    caches = Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    plots = [Path(os.environ.get("MPLCONFIGDIR") or config / "matplotlib")]
    if not os.environ.get("MPLCONFIGDIR"):
        plots.append(caches / "matplotlib")
    if not (_is_writable(caches / "biaslab") and _is_writable(caches / "snakemake")):
        os.environ["XDG_CACHE_HOME"] = str(_temporary_cache())
    if not all(map(_is_writable, plots)):
        os.environ["MPLCONFIGDIR"] = str(_temporary_cache() / "matplotlib")


def _is_writable(folder: Path) -> bool:
    """Return whether the user can write into a folder or create it. A missing home is not created."""
    home = Path(os.path.expanduser("~"))
    if folder.is_relative_to(home) and not home.is_dir():
        return False
    nearest = next((parent for parent in (folder, *folder.parents) if parent.exists()), Path())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _temporary_cache() -> Path:
    """Return the user's cache folder below the temporary folder; every run uses the same folder."""
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
    """Create a folder for the user alone; raise OSError if other users can write into an existing one."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if not is_private(folder):
        raise PermissionError(folder)


def is_private(folder: Path) -> bool:
    """Return whether the user owns a folder and its parent, and no other user can write into them."""
    return all(
        stat.S_ISDIR(path.lstat().st_mode) and is_only_ours(path.lstat()) for path in (folder, folder.parent)
    )


def is_only_ours(status: os.stat_result) -> bool:
    """Return whether the user owns a file or folder, and no other user can write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
