"""What of a run goes into its crate: its results, and the files of the workflow."""

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
from biaslab.run.crate import EMBEDDINGS, RESULTS
from biaslab.run.datasets import FOLDER
from biaslab.run.manifest import ENDED, MANIFEST, STARTED, VARIABLE_KEY, make_manifest, read_manifest
from biaslab.run.notes import NOTES, noted_times
from biaslab.run.provenance import sha256_file
from biaslab.run.records import StepRecord, read_records
from biaslab.run.root import CARRIED, PACKAGE
from biaslab.run.taken import taken_records

WORKFLOW = "Snakefile"
"""The crate's main entity."""

CONFIG = "config.json"
"""The configuration of a run in its results folder."""

_NEEDED = (WORKFLOW, "config.yaml")
_BESIDE = ("CITATION.cff", "LICENSE", "MANIFEST.in", "Makefile", "README.md", "pyproject.toml", "setup.py")
_FOLDERS = ("config", "envs", "workflow")
_SHOWN = {"tables", "figures"}
_TABLES = (".tsv", ".parquet", ".json")


@dataclass(frozen=True)
class Packed:
    """A file of a crate: where it lies in it (with slashes), what it is copied from, and its digest."""

    place: str
    source: Path
    sha256: str


@dataclass(frozen=True)
class Record:
    """A run."""

    manifest: Mapping[str, Any]
    outputs: tuple[Packed, ...]  # what is copied: configuration, audit, tables, figures, benchmark files
    elsewhere: Mapping[str, str]  # the other results, which are only named: their digests by path
    started: datetime | None  # when the first job started, None where the run did not note that
    ended: datetime
    steps: tuple[StepRecord, ...] = ()  # what the results that are copied were made by
    is_whole: bool = True  # whether the run has ended, so that its manifest is there


def read_record(results: Path, more: Collection[str] = (), leave_out: Collection[str] = ()) -> Record:
    """Read what a results folder says about its run.

    `more` are further kinds of results to copy; with them, a run that has not ended can be read as well.
    Results that a pattern of `leave_out` fits, as ``origins/*/bias_gradient/*``, are named alone.
    """
    is_whole = not more or (results / MANIFEST).is_file()
    manifest, steps = read_manifest_and_steps(results) if more else (read_manifest(results), [])
    if more and not steps:
        raise InputError(
            f"{results}: no record of its steps lies beside it ({NOTES}), so that no run could go on from it;"
            " pack it where it was made"
        )
    if lost := manifest["config"].get(FAILED):
        raise InputError(f"{results}: results are missing ({'; '.join(lost)}); run it again to its end")
    there = {n: digest for n, digest in manifest["outputs"].items() if is_whole or (results / n).is_file()}
    for pattern in leave_out:
        if not any(fnmatchcase(name, pattern) for name in there):
            raise InputError(f"{results}: no result fits '{pattern}'; correct the pattern, or leave it out")
    shown = {
        name: digest
        for name, digest in there.items()
        if is_packed(name, more) and not any(fnmatchcase(name, pattern) for pattern in leave_out)
    }
    outputs = [_vouched(results, name, digest) for name, digest in sorted(shown.items())]
    outputs += [_vouched(results, MANIFEST)] if is_whole else []
    benchmarks = [path.relative_to(results).as_posix() for path in (results / "benchmarks").rglob("*.tsv")]
    outputs += [_vouched(results, name) for name in sorted(benchmarks)]
    elsewhere = {name: digest for name, digest in manifest["outputs"].items() if name not in shown}
    started = _time(manifest[VARIABLE_KEY].get(STARTED))
    ended = _time(manifest[VARIABLE_KEY].get(ENDED))
    if ended is None:
        last = results / (MANIFEST if is_whole else CONFIG)
        ended = datetime.fromtimestamp(int(last.stat().st_mtime), UTC)
    return Record(manifest, tuple(outputs), elsewhere, started, ended, tuple(steps), is_whole)


def read_manifest_and_steps(results: Path) -> tuple[dict[str, Any], list[StepRecord]]:
    """Return what is known of a run that lies here, also where it has not ended."""
    is_whole = (results / MANIFEST).is_file()
    manifest = read_manifest(results) if is_whole else {}
    steps = read_records(results, manifest.get("outputs", {}), taken_records(results))
    return (manifest if is_whole else _unfinished(results, steps)), steps


def _unfinished(results: Path, steps: Collection[StepRecord]) -> dict[str, Any]:
    """Return the manifest of a run that has not ended: of the results that are known to be whole."""
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
    """Tell whether a result is copied: configuration, audit, a table or a figure. Others are only named."""
    parts = PurePosixPath(name).parts
    return len(parts) == 1 or parts[0] == "audit" or bool(_SHOWN & set(parts[:-1]))


def is_packed(name: str, more: Collection[str]) -> bool:
    """Tell whether a result is copied: what is shown, and of `more` kinds tables or embeddings.

    With the embeddings goes what each of them says by itself. Texts never are copied, nor data.
    """
    if is_shown(name):
        return True
    path = PurePosixPath(name)
    if path.is_relative_to(FOLDER.name) or _is_one("texts", name):
        return False
    if EMBEDDINGS in path.parts[:-1] or _is_one("by_training", name):
        return EMBEDDINGS in more
    return RESULTS in more and path.suffix in _TABLES


def _is_one(kind: str, name: str) -> bool:
    """Tell whether a result is one of a kind that its area names."""
    patterns = (f"{area}/{pattern}" for area in AREAS for pattern in getattr(load_area(area), kind))
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def workflow_files(root: Path) -> list[Packed]:
    """Return the files of the workflow, its environment and the package that its steps call, sorted."""
    for name in _NEEDED:
        if not (root / name).is_file():
            raise InputError(f"{root / name}: no such file; run this in the repository of the workflow")
    found = {name: root / name for name in (*_NEEDED, *_BESIDE) if (root / name).is_file()}
    found |= {path.name: path for path in root.glob("requirements*.lock")}
    for folder in _FOLDERS:
        found |= {path.relative_to(root).as_posix(): path for path in _files(root / folder)}
    source = [path for path in _files(PACKAGE) if PACKAGE / CARRIED not in path.parents]
    found |= {f"src/{PACKAGE.name}/{path.relative_to(PACKAGE).as_posix()}": path for path in source}
    return [Packed(place, found[place], sha256_file(found[place])) for place in sorted(found)]


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, but hidden and compiled ones, and links."""
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        paths = [Path(place) / name for name in files if not name.startswith(".")]
        yield from (path for path in paths if path.is_file() and not path.is_symlink())


def _vouched(results: Path, name: str, digest: str = "") -> Packed:
    """Return a result as it is to be copied, if it is still the one of the run."""
    found = sha256_file(results / name)
    if digest and found != digest:
        raise InputError(
            f"{results / name}: was changed after the run (sha256 {found}, not the manifest's {digest});"
            " run the workflow again"
        )
    return Packed(f"{RESULTS}/{name}", results / name, found)


def _time(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(text)).astimezone(UTC)
    except ValueError:  # none, or a manifest of somebody else's
        return None
