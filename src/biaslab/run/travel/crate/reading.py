"""Read a run from a results folder of the workflow, or from an untrusted crate.

Only the results of a crate are read, and they must agree with its manifest.
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
from biaslab.run.areas import AREAS
from biaslab.run.record.manifest import MANIFEST, is_inside, read_manifest, result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.record.records import RECORDS, StepRecord, parse_records
from biaslab.run.travel.crate import METADATA, RESULTS
from biaslab.run.travel.crate.contents import read_manifest_and_steps

MAX_FILES = 100_000
MAX_BYTES = 2**32  # maximum unpacked size of a crate (4 GiB)


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
    """Open a results folder, or a crate's archive, unpacked until the end of the context.

    An archive with results larger than `MAX_BYTES` is refused before unpacking. `with_steps` also reads the
    step records of a results folder. `takes_record` also accepts an archive of `docs/records`, which contains
    only the files and columns for an audit.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="biaslab-crate-") as folder:
            _unpack(path, Path(folder), takes_record)
            if Path(folder, METADATA).is_file():
                yield _check_crate(path, Path(folder))
            else:
                yield Run(Path(folder), is_record=True)
    elif (path / METADATA).is_file():
        raise InputError(f"{path}: an unpacked crate; name its archive")
    elif with_steps:
        if not path.is_dir():
            raise InputError(f"{path}: no such file or folder; name a crate or a results folder")
        manifest, steps = read_manifest_and_steps(path)
        yield Run(path, {}, tuple(steps), manifest)
    else:
        yield Run(path)


def _unpack(archive: Path, folder: Path, takes_record: bool) -> None:
    """Unpack the results of an archive."""
    try:
        with zipfile.ZipFile(archive) as crate:
            for member in _members(crate, archive, takes_record):
                target = folder / member.filename
                target.parent.mkdir(parents=True, exist_ok=True)
                # zipfile stops at the announced size, independent of the packed data.
                with crate.open(member) as packed, target.open("wb") as file:
                    shutil.copyfileobj(packed, file)
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


def _check_crate(crate: Path, folder: Path) -> Run:
    """Return the run of an unpacked crate if its results agree with the manifest."""
    results = folder / RESULTS
    manifest = read_manifest(results)
    outputs = manifest["outputs"]
    present = set(result_files(results)) - {MANIFEST}
    for name in sorted(present):
        if name not in outputs:
            raise InputError(f"{crate}: {RESULTS}/{name} is not in the manifest; download the crate again")
        if sha256_file(results / name) != outputs[name]:
            raise InputError(f"{crate}: {RESULTS}/{name} differs from the manifest; download the crate again")
    elsewhere = {name: digest for name, digest in outputs.items() if name not in present}
    return Run(results, elsewhere, tuple(_steps(crate, folder, outputs)), manifest)


def _steps(crate: Path, folder: Path, outputs: Mapping[str, str]) -> list[StepRecord]:
    """Return the step records of a crate if they agree with its metadata and manifest."""
    file, entities = folder / RECORDS, _read_graph(folder / METADATA, crate)
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
