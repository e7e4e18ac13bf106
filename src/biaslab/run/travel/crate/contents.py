"""Select the contents of a crate: results of the run, and files of the workflow."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run import FAILED
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.datasets import FOLDER
from biaslab.run.record.manifest import ENDED, MANIFEST, STARTED, VARIABLE_KEY, make_manifest, read_manifest
from biaslab.run.record.notes import NOTES, noted_times
from biaslab.run.record.provenance import sha256_file
from biaslab.run.record.records import StepRecord, read_records
from biaslab.run.record.taken import taken_records
from biaslab.run.root import CARRIED, PACKAGE
from biaslab.run.travel.crate import EMBEDDINGS, RESULTS

WORKFLOW = "Snakefile"  # the crate's main entity

CONFIG = "config.json"  # the configuration of a run in its results folder

_NEEDED = (WORKFLOW, "config.yaml")
_BESIDE = ("CITATION.cff", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "pyproject.toml", "setup.py")
_FOLDERS = ("config", "envs", "workflow")
_SHOWN = {"tables", "figures"}
_TABLES = (".tsv", ".parquet", ".json")


@dataclass(frozen=True)
class Packed:
    """A file of a crate: its path in the crate (with slashes), its source, and its digest."""

    place: str
    source: Path
    sha256: str


@dataclass(frozen=True)
class Record:
    """A run and its contents for a crate."""

    manifest: Mapping[str, Any]
    outputs: tuple[Packed, ...]  # copied files: configuration, audit, tables, figures, benchmark files
    elsewhere: Mapping[str, str]  # digests of the other results, which are not copied, by path
    started: datetime | None  # start of the first job, None if unknown
    ended: datetime
    steps: tuple[StepRecord, ...] = ()  # the steps of the copied results
    is_whole: bool = True  # whether the run has ended and has a manifest


def read_record(results: Path, more: Collection[str] = (), leave_out: Collection[str] = ()) -> Record:
    """Read the record of a run from its results folder.

    `more` are further types of results to copy (`is_packed`); with them, an unfinished run can also be read.
    Results that match a pattern in `leave_out`, such as ``origins/*/bias_gradient/*``, are not copied.
    """
    is_whole = not more or (results / MANIFEST).is_file()
    manifest, steps = read_manifest_and_steps(results) if more else (read_manifest(results), [])
    if more and not steps:
        raise InputError(
            f"{results}: the record of its steps ({NOTES}) is missing, so that no run can continue from it;"
            " pack it where it was made"
        )
    if lost := manifest["config"].get(FAILED):
        raise InputError(f"{results}: results are missing ({'; '.join(lost)}); complete the run first")
    present = {n: digest for n, digest in manifest["outputs"].items() if is_whole or (results / n).is_file()}
    for pattern in leave_out:
        if not any(fnmatchcase(name, pattern) for name in present):
            raise InputError(f"{results}: no result fits '{pattern}'; correct the pattern, or leave it out")
    packed = {
        name: digest
        for name, digest in present.items()
        if is_packed(name, more) and not any(fnmatchcase(name, pattern) for pattern in leave_out)
    }
    outputs = [_checked_file(results, name, digest) for name, digest in sorted(packed.items())]
    outputs += [_checked_file(results, MANIFEST)] if is_whole else []
    benchmarks = [path.relative_to(results).as_posix() for path in (results / "benchmarks").rglob("*.tsv")]
    outputs += [_checked_file(results, name) for name in sorted(benchmarks)]
    elsewhere = {name: digest for name, digest in manifest["outputs"].items() if name not in packed}
    started = _time(manifest[VARIABLE_KEY].get(STARTED))
    ended = _time(manifest[VARIABLE_KEY].get(ENDED))
    if ended is None:
        last = results / (MANIFEST if is_whole else CONFIG)
        ended = datetime.fromtimestamp(int(last.stat().st_mtime), UTC)
    return Record(manifest, tuple(outputs), elsewhere, started, ended, tuple(steps), is_whole)


def read_manifest_and_steps(results: Path) -> tuple[dict[str, Any], list[StepRecord]]:
    """Return the manifest and the step records of a local run, which may be unfinished."""
    is_whole = (results / MANIFEST).is_file()
    manifest = read_manifest(results) if is_whole else {}
    steps = read_records(results, manifest.get("outputs", {}), taken_records(results))
    return (manifest if is_whole else _unfinished(results, steps)), steps


def _unfinished(results: Path, steps: Collection[StepRecord]) -> dict[str, Any]:
    if not (results / CONFIG).is_file():
        raise InputError(f"{results / CONFIG}: no such file; run the workflow, whose first step writes it")
    outputs = {
        PurePosixPath(name).relative_to(RESULTS).as_posix(): digest
        for step in steps
        for name, digest in step.outputs.items()
    }
    manifest = make_manifest(results / CONFIG, {step.rule: step.code for step in steps}, {}, outputs)
    times = dict(zip((STARTED, ENDED), noted_times(results), strict=False))
    return manifest | {VARIABLE_KEY: manifest[VARIABLE_KEY] | times}


def is_shown(name: str) -> bool:
    """Return whether a result is shown and always copied: configuration, audit, table or figure."""
    parts = PurePosixPath(name).parts
    return len(parts) == 1 or parts[0] == "audit" or bool(_SHOWN & set(parts[:-1]))


def is_packed(name: str, more: Collection[str]) -> bool:
    """Return whether a result is copied: shown results, with `more` all tables, and embeddings on request.

    Embeddings include large tables of single trainings. Texts and data are never copied.
    """
    if is_shown(name):
        return True
    path = PurePosixPath(name)
    if path.is_relative_to(FOLDER.name) or _matches_area("texts", name):
        return False
    if EMBEDDINGS in path.parts[:-1] or _matches_area("by_training", name):
        return EMBEDDINGS in more
    return bool(more) and path.suffix in _TABLES


def _matches_area(kind: str, name: str) -> bool:
    """Return whether a result matches the patterns in field `kind` of an area."""
    patterns = (f"{area}/{pattern}" for area in AREAS for pattern in getattr(load_area(area), kind))
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def workflow_files(root: Path) -> list[Packed]:
    """Return the files of the workflow, its environment and the package that its steps call, sorted."""
    for name in _NEEDED:
        if not (root / name).is_file():
            raise InputError(f"{root / name}: no such file; run this in the repository of the workflow")
    files = {name: root / name for name in (*_NEEDED, *_BESIDE) if (root / name).is_file()}
    files |= {path.name: path for path in root.glob("requirements*.lock")}
    for folder in _FOLDERS:
        files |= {path.relative_to(root).as_posix(): path for path in _files(root / folder)}
    source = [path for path in _files(PACKAGE) if PACKAGE / CARRIED not in path.parents]
    files |= {f"src/{PACKAGE.name}/{path.relative_to(PACKAGE).as_posix()}": path for path in source}
    return [Packed(place, files[place], sha256_file(files[place])) for place in sorted(files)]


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, without links, hidden files and compiled files."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        paths = [Path(place) / name for name in files if not name.startswith(".")]
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _checked_file(results: Path, name: str, digest: str = "") -> Packed:
    """Return a result for copying; refuse a result that was changed after the run."""
    current = sha256_file(results / name)
    if digest and current != digest:
        raise InputError(
            f"{results / name}: the file changed after the run (sha256 {current}, not the manifest's"
            f" {digest}); run the workflow again"
        )
    return Packed(f"{RESULTS}/{name}", results / name, current)


def _time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:  # missing, or from an untrusted manifest
        return None
