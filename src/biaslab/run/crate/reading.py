"""A run to read: a results folder as the workflow leaves it, or a crate, which may come from anywhere.

Of a crate, only the results are read, and they must be what its manifest names.
"""

import contextlib
import json
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run.crate import METADATA, RESULTS
from biaslab.run.crate.contents import read_manifest_and_steps
from biaslab.run.manifest import MANIFEST, is_inside, read_manifest, result_files
from biaslab.run.provenance import sha256_file
from biaslab.run.records import RECORDS, StepRecord, parse_records

MAX_FILES = 100_000
MAX_BYTES = 2**32
"""No larger crate is unpacked (4 GiB)."""


@dataclass(frozen=True)
class Run:
    """The results of a run; `elsewhere` are those that are known by their sha256 alone, by path."""

    folder: Path
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StepRecord, ...] = ()  # what they were made by, as far as that is noted
    manifest: Mapping[str, Any] = field(default_factory=dict)

    def holds(self, path: str) -> bool:
        """Tell whether a result itself is there."""
        return path not in self.elsewhere and (self.folder / path).is_file()

    def files(self) -> list[str]:
        """Return the paths of all results, sorted."""
        return sorted({*result_files(self.folder), *self.elsewhere})

    def sha256(self, path: str) -> str:
        """Return the digest of a result."""
        return self.elsewhere.get(path) or sha256_file(self.folder / path)


@contextlib.contextmanager
def opened_run(path: Path, max_bytes: int = MAX_BYTES, with_steps: bool = False) -> Iterator[Run]:
    """Open a results folder, a crate's folder, or a crate's archive, unpacked until the end of the context.

    An archive whose results are larger than `max_bytes` is refused before they are unpacked. Of a results
    folder what its steps were is read where it is asked for.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="biaslab-crate-") as folder:
            _unpack(path, Path(folder), max_bytes)
            yield _checked(path, Path(folder))
    elif (path / METADATA).is_file():
        yield _checked(path, path)
    elif with_steps:
        if not path.is_dir():
            raise InputError(f"{path}: no such file or folder; name a crate or a results folder")
        manifest, steps = read_manifest_and_steps(path)
        yield Run(path, {}, tuple(steps), manifest)
    else:
        yield Run(path)


def _unpack(archive: Path, folder: Path, max_bytes: int) -> None:
    try:
        with zipfile.ZipFile(archive) as crate:
            for member in _members(crate, archive, max_bytes):
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                # zipfile stops at the announced size, whatever the packed data say.
                with crate.open(member) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise InputError(f"{archive}: not a whole zip archive ({error}); get it again") from error
    except OSError as error:
        raise InputError(
            f"{archive}: cannot be unpacked ({error.strerror or error}); free space, or set TMPDIR"
        ) from error


def _members(crate: zipfile.ZipFile, archive: Path, max_bytes: int) -> list[zipfile.ZipInfo]:
    """Return the results of an archive; refuse what leaves it, is a link, is there twice or is too much."""
    members = [member for member in crate.infolist() if not member.is_dir()]
    names = {member.filename for member in members}
    if METADATA not in names:
        raise InputError(f"{archive}: is no crate, it has no {METADATA}; name a crate or a results folder")
    if len(names) < len(members):
        raise InputError(f"{archive}: has two files of the same name; refused")
    if len(members) > MAX_FILES:
        raise InputError(f"{archive}: has {len(members)} files, more than the allowed {MAX_FILES}; refused")
    for member in members:
        if not is_inside(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(f"{archive}: {member.filename!r} is a link or leaves the crate; refused")
    wanted = (f"{RESULTS}/", METADATA, RECORDS)
    results = [member for member in members if member.filename.startswith(wanted)]
    size = sum(member.file_size for member in results)
    if size > max_bytes:
        raise InputError(f"{archive}: unpacks to {size} bytes, more than the allowed {max_bytes}; refused")
    return results


def _checked(crate: Path, folder: Path) -> Run:
    """Return the run in a crate's folder, if its results are those that the manifest names."""
    results = folder / RESULTS
    for place in [results, *results.rglob("*")] if results.is_dir() else []:
        if place.is_symlink() or not (place.is_file() or place.is_dir()):
            raise InputError(f"{crate}: {place.relative_to(folder)} is no file or folder of its own; refused")
    manifest = read_manifest(results)
    outputs = manifest["outputs"]
    there = set(result_files(results)) - {MANIFEST}
    for name in sorted(there):
        if name not in outputs:
            raise InputError(f"{crate}: {RESULTS}/{name} is not in the manifest; get the crate again")
        if sha256_file(results / name) != outputs[name]:
            raise InputError(f"{crate}: {RESULTS}/{name} is not what the manifest names; get the crate again")
    elsewhere = {name: digest for name, digest in outputs.items() if name not in there}
    return Run(results, elsewhere, tuple(_steps(crate, folder, outputs)), manifest)


def _steps(crate: Path, folder: Path, outputs: Mapping[str, str]) -> list[StepRecord]:
    """Return what the steps of a crate are said to have made, if that agrees with the rest of it."""
    file = folder / RECORDS
    if file.is_symlink():
        raise InputError(f"{crate}: {RECORDS} is a link; refused")
    if not file.is_file():
        return []
    if sha256_file(file) != _described(folder / METADATA, RECORDS):
        raise InputError(f"{crate}: {RECORDS} is not what {METADATA} names; get the crate again")
    try:
        steps = parse_records(file.read_text(encoding="utf-8"), f"{crate}: {RECORDS}")
    except UnicodeDecodeError as error:
        raise InputError(f"{crate}: {RECORDS} is no text; get the crate again") from error
    for step in steps:
        for name, digest in step.outputs.items():
            if outputs.get(name.removeprefix(f"{RESULTS}/"), digest) != digest:
                raise InputError(f"{crate}: {name} is another in {RECORDS} than in the manifest; refused")
    return steps


def _described(metadata: Path, name: str) -> str:
    """Return the sha256 that a crate's graph gives for a file; "" for none."""
    try:
        graph = json.loads(metadata.read_text(encoding="utf-8"))["@graph"]
        return next((one.get("sha256", "") for one in graph if one.get("@id") == name), "")
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise InputError(f"{metadata.name}: no readable graph ({error}); get the crate again") from error
