"""Record which results a run has taken from another run, in its results folder."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.core.files import write_json, write_text
from biaslab.run import FAILED
from biaslab.run.record.manifest import TAKEN
from biaslab.run.record.records import StepRecord, parse_records, records_text

_RECORDS = Path("logs/taken_records.json")
_INDECISIVE = {"datasets", "cluster", FAILED}


@dataclass(frozen=True)
class Taken:
    """The results taken from another run."""

    source: str = ""  # the name of the crate or folder
    manifest: str = ""  # the sha256 of its manifest
    steps: int = 0  # number of steps with taken results
    extras: tuple[str, ...] = ()  # optional dependencies of the other run
    datasets: Mapping[str, str] = field(default_factory=dict)  # sha256 of the other run's data, by name
    environment: Mapping[str, Any] = field(default_factory=dict)  # environment in its manifest
    rewritten: tuple[str, ...] = ()  # rules with code that has changed since then
    recheck: Mapping[str, Any] = field(default_factory=dict)  # steps drawn for recheck, and the seed
    config: str = ""  # the `config_digest` of the run with the taken results; "" before any is copied


def config_digest(config: Mapping[str, Any]) -> str:
    """Return the sha256 of a complete configuration, without data locations, cluster limits and failures."""
    decisive = {key: value for key, value in config.items() if key not in _INDECISIVE}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def check_taken(taken: Taken, config: Mapping[str, Any]) -> None:
    """Refuse a run where results were taken for another configuration, because Snakemake would keep them."""
    if taken.config and taken.config != config_digest(config):
        raise InputError(
            f"results/: was taken in part from {taken.source} for another configuration; use an empty folder"
        )


def read_taken(results: Path) -> Taken:
    """Return the record of taken results in a results folder; an empty record if there is none."""
    try:
        values = json.loads((results / TAKEN).read_text(encoding="utf-8"))
        return Taken(**{**values, "extras": tuple(values["extras"]), "rewritten": tuple(values["rewritten"])})
    except (OSError, ValueError, TypeError, KeyError):
        return Taken()


def note_taken(results: Path, taken: Taken, records: Iterable[StepRecord]) -> None:
    """Write the record of taken results, and the records of their steps."""
    write_text(results / _RECORDS, records_text(records))
    write_json(results / TAKEN, asdict(taken))


@contextlib.contextmanager
def announced(results: Path, taken: Taken) -> Iterator[None]:
    """Record another run while this run is planned; undo it if this fails before any result is taken."""
    files = [results / TAKEN, results / _RECORDS]
    before = {file: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    note_taken(results, taken, taken_records(results))
    try:
        yield
    except BaseException:
        if read_taken(results) == taken:
            for file in files:
                file.unlink(missing_ok=True)
            for file, text in before.items():
                write_text(file, text)
        raise


def taken_records(results: Path) -> list[StepRecord]:
    """Return the step records of taken results."""
    file = results / _RECORDS
    return parse_records(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else []
