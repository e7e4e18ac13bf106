"""What a run has taken from another one: noted in its folder for as long as its results are there."""

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
from biaslab.run.manifest import TAKEN
from biaslab.run.records import StepRecord, parse_records, records_text

_RECORDS = Path("logs/taken_records.json")
_INDECISIVE = {"datasets", "cluster", FAILED}


@dataclass(frozen=True)
class Taken:
    """What was taken."""

    source: str = ""  # the name of the crate or folder
    manifest: str = ""  # the sha256 of its manifest
    steps: int = 0  # whose results were taken
    extras: tuple[str, ...] = ()  # optional dependencies that it had
    datasets: Mapping[str, str] = field(default_factory=dict)  # sha256 of the data that it had, by name
    environment: Mapping[str, Any] = field(default_factory=dict)  # where it was made, as its manifest says
    rewritten: tuple[str, ...] = ()  # rules whose code has changed since
    recheck: Mapping[str, Any] = field(default_factory=dict)  # what was drawn and made again, and the seed
    config: str = ""  # the `config_digest` of the run that took it


def config_digest(config: Mapping[str, Any]) -> str:
    """Return the sha256 of a complete configuration, without where data lie, how jobs run and what failed."""
    decisive = {key: value for key, value in config.items() if key not in _INDECISIVE}
    return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()


def check_taken(taken: Taken, config: Mapping[str, Any]) -> None:
    """Refuse a run beside results that were taken for another configuration: Snakemake would keep them."""
    if taken.config and taken.config != config_digest(config):
        raise InputError(
            f"results/: was taken in part from {taken.source} for another configuration; name that run again"
            " with --from, or delete results/"
        )


def read_taken(results: Path) -> Taken:
    """Return what the run in a results folder has taken; often nothing."""
    try:
        values = json.loads((results / TAKEN).read_text(encoding="utf-8"))
        return Taken(**{**values, "extras": tuple(values["extras"]), "rewritten": tuple(values["rewritten"])})
    except (OSError, ValueError, TypeError, KeyError):
        return Taken()


def note_taken(results: Path, taken: Taken, records: Iterable[StepRecord]) -> None:
    """Note what a run takes, and what its results were made by."""
    write_text(results / _RECORDS, records_text(records))
    write_json(results / TAKEN, asdict(taken))


def forget_taken(results: Path) -> None:
    """Remove the note."""
    for file in _files(results):
        file.unlink(missing_ok=True)


@contextlib.contextmanager
def kept_note(results: Path) -> Iterator[None]:
    """Put the note back as it was where the context ends with an error or an exit."""
    before = {file: file.read_text(encoding="utf-8") for file in _files(results) if file.is_file()}
    try:
        yield
    except BaseException:
        forget_taken(results)
        for file, text in before.items():
            write_text(file, text)
        raise


def _files(results: Path) -> list[Path]:
    return [results / TAKEN, results / _RECORDS]


def taken_records(results: Path) -> list[StepRecord]:
    """Return what the results that a run has taken were made by."""
    file = results / _RECORDS
    return parse_records(file.read_text(encoding="utf-8"), str(file)) if file.is_file() else []
