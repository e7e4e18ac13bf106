"""Read a run from a results folder of the workflow, or from an untrusted crate.

Only the results of a crate are read, and they must agree with its manifest.
"""

import contextlib
import json
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from biaslab.core.errors import InputError
from biaslab.run.areas import AREAS
from biaslab.run.record.manifest import MANIFEST, is_inside, read_manifest, result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.record.records import RECORDS, StepRecord, parse_records
from biaslab.run.travel.crate import METADATA, RESULTS
from biaslab.run.travel.crate.contents import read_manifest_and_steps

MAX_FILES = 100_000
MAX_BYTES = 2**32  # maximum unpacked size of a crate (4 GiB)

_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True)
class Run:
    """The results of a run; `elsewhere` contains the sha256 of absent results, by path."""

    folder: Path
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    steps: tuple[StepRecord, ...] = ()  # records of their steps, as far as available
    manifest: Mapping[str, Any] = field(default_factory=dict)
    is_record: bool = False  # whether only files and columns for an audit are present

    def holds(self, path: str) -> bool:
        """Return whether the file of a result is present."""
        return path not in self.elsewhere and (self.folder / path).is_file()

    def files(self) -> list[str]:
        """Return the paths of all results, sorted."""
        return sorted({*result_files(self.folder), *self.elsewhere})

    def sha256(self, path: str) -> str:
        """Return the digest of a result."""
        return self.elsewhere.get(path) or sha256_file(self.folder / path)


@contextlib.contextmanager
def opened_run(path: Path, with_steps: bool = False, takes_record: bool = False) -> Iterator[Run]:
    """Open a results folder, a crate's folder, or a crate's archive, unpacked until the end of the context.

    An archive with results larger than `MAX_BYTES` is refused before unpacking. `with_steps` also reads the
    step records of a results folder. `takes_record` also accepts an archive of `docs/records`, which contains
    only the files and columns for an audit.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="biaslab-crate-") as folder:
            names = _unpack(path, Path(folder), takes_record)
            if METADATA in names:
                yield _check_crate(path, Path(folder), names.__contains__)
            else:
                yield Run(Path(folder), is_record=True)
    elif (path / METADATA).is_file():
        yield _check_crate(path, path, lambda name: (path / name).is_file())
    elif with_steps:
        if not path.is_dir():
            raise InputError(f"{path}: no such file or folder; name a crate or a results folder")
        manifest, steps = read_manifest_and_steps(path)
        yield Run(path, {}, tuple(steps), manifest)
    else:
        yield Run(path)


def _unpack(archive: Path, folder: Path, takes_record: bool) -> set[str]:
    """Unpack the results of an archive; return the names of all its members."""
    try:
        with zipfile.ZipFile(archive) as crate:
            for member in _members(crate, archive, takes_record):
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                # zipfile stops at the announced size, independent of the packed data.
                with crate.open(member) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
            return set(crate.namelist())
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
        raise InputError(
            f"{archive}: the zip archive is damaged or cut off ({error}); download it again"
        ) from error
    except OSError as error:
        raise InputError(
            f"{archive}: cannot be unpacked ({error.strerror or error}); free space, or set TMPDIR"
        ) from error


def _members(crate: zipfile.ZipFile, archive: Path, takes_record: bool) -> list[zipfile.ZipInfo]:
    """Return the results of an archive; refuse links, outside paths, duplicates and excessive sizes."""
    members = [member for member in crate.infolist() if not member.is_dir()]
    names = {member.filename for member in members}
    is_record = takes_record and bool(names) and {name.partition("/")[0] for name in names} <= set(AREAS)
    if METADATA not in names and not is_record:
        raise InputError(
            f"{archive}: not a crate, because {METADATA} is missing; name a crate or a results folder"
        )
    if len(names) < len(members):
        raise InputError(f"{archive}: two files have the same name; refused")
    if len(members) > MAX_FILES:
        raise InputError(f"{archive}: has {len(members)} files, more than the allowed {MAX_FILES}; refused")
    for member in members:
        if not is_inside(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(f"{archive}: {member.filename!r} is a link or leaves the crate; refused")
    wanted = (f"{RESULTS}/", METADATA, RECORDS)
    results = [member for member in members if is_record or member.filename.startswith(wanted)]
    size = sum(member.file_size for member in results)
    if size > MAX_BYTES:
        raise InputError(f"{archive}: unpacks to {size} bytes, more than the allowed {MAX_BYTES}; refused")
    return results


def _check_crate(crate: Path, folder: Path, holds: Callable[[str], bool]) -> Run:
    """Return the run in a crate's folder if its results agree with the manifest.

    `holds` returns whether the crate contains a file.
    """
    results = folder / RESULTS
    for path in [results, *results.rglob("*")] if results.is_dir() else []:
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise InputError(f"{crate}: {path.relative_to(folder)} not a regular file or folder; refused")
    manifest = read_manifest(results)
    outputs = manifest["outputs"]
    present = set(result_files(results)) - {MANIFEST}
    for name in sorted(present):
        if name not in outputs:
            raise InputError(f"{crate}: {RESULTS}/{name} is not in the manifest; download the crate again")
        if sha256_file(results / name) != outputs[name]:
            raise InputError(f"{crate}: {RESULTS}/{name} differs from the manifest; download the crate again")
    elsewhere = {name: digest for name, digest in outputs.items() if name not in present}
    entities = _read_graph(folder / METADATA, crate)
    _check_references(crate, entities, holds)
    return Run(results, elsewhere, tuple(_steps(crate, folder, outputs, entities)), manifest)


def _steps(
    crate: Path, folder: Path, outputs: Mapping[str, str], entities: Mapping[str, Any]
) -> list[StepRecord]:
    """Return the step records of a crate if they agree with its metadata and manifest."""
    file = folder / RECORDS
    if file.is_symlink():
        raise InputError(f"{crate}: {RECORDS} is a link; refused")
    if not file.is_file():
        return []
    if sha256_file(file) != entities.get(RECORDS, {}).get("sha256"):
        raise InputError(f"{crate}: {RECORDS} differs from {METADATA}; download the crate again")
    try:
        steps = parse_records(file.read_text(encoding="utf-8"), f"{crate}: {RECORDS}")
    except UnicodeDecodeError as error:
        raise InputError(f"{crate}: {RECORDS} is not text; download the crate again") from error
    for step in steps:
        for name, digest in step.outputs.items():
            if outputs.get(name.removeprefix(f"{RESULTS}/"), digest) != digest:
                raise InputError(f"{crate}: {name} differs between {RECORDS} and the manifest; refused")
    return steps


def _read_graph(metadata: Path, crate: Path) -> dict[str, dict[str, Any]]:
    try:
        graph = json.loads(metadata.read_text(encoding="utf-8"))["@graph"]
        return {entity["@id"]: dict(entity) for entity in graph}
    except (OSError, ValueError, RecursionError, LookupError, TypeError) as error:
        raise InputError(
            f"{crate}: {METADATA} the graph is not readable ({error}); download the crate again"
        ) from error


def _check_references(
    crate: Path, entities: Mapping[str, Mapping[str, Any]], holds: Callable[[str], bool]
) -> None:
    """Refuse a graph with references to undescribed entities, or with descriptions of missing files.

    Only web addresses need no description.
    """
    for identifier, entity in entities.items():
        values = (value if isinstance(value, list) else [value] for value in entity.values())
        parts = [part for value in values for part in value if isinstance(part, dict)]
        for name in (part["@id"] for part in parts if isinstance(part.get("@id"), str)):
            if name not in entities and not name.startswith(("https://", "http://")):
                raise InputError(
                    f"{crate}: {METADATA} refers to {name!r}, without describing it; download the crate again"
                )
        kinds = entity.get("@type")
        is_file = kinds == "File" or (isinstance(kinds, list) and "File" in kinds)
        if is_file and not _HAS_SCHEME.match(identifier) and not holds(unquote(identifier)):
            raise InputError(
                f"{crate}: {METADATA} describes {identifier!r}, which is missing; download the crate again"
            )
