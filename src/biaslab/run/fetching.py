"""What there is of the registered data, what could be fetched, and what could not.

``biaslab run`` fetches before the workflow is parsed, and remembers what it could not have.
Parsing only looks.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run.datasets import (
    FOLDER,
    NO_CHECKSUM,
    WHEELS,
    Dataset,
    Source,
    dataset_name,
    fetch,
    places,
    resolve,
    verified_copy,
    without_wheel,
)
from biaslab.run.wheels import kept_wheel, wheel_file

THERE, ABSENT, PENDING = "there", "absent", "pending"


@dataclass(frozen=True)
class Status:
    """Whether a dataset can be had.

    Attributes
    ----------
    state : str
        `THERE` (copied, or to be copied from this machine), `ABSENT`, or `PENDING` (to be downloaded).
    reason : str
        One line: where it is, or why it is not to be had.
    """

    state: str
    reason: str


def status(dataset: Dataset, registry: Mapping[str, Dataset], datasets: Mapping) -> Status:
    """Say whether a dataset can be had, without touching the network.

    Parameters
    ----------
    dataset : Dataset
    registry : mapping of str to Dataset
    datasets : mapping
        The configuration's ``datasets``.
    """
    copy = verified_copy(dataset)
    if is_fetched(dataset):
        return Status(THERE, f"copy: {copy}")
    try:
        source = resolve(dataset.name, registry, **places(dataset.name, datasets))
    except InputError as error:
        return Status(ABSENT, str(error))
    where = f"{source.kind}: {source.location}"
    if source.kind not in ("wheel", "download"):
        return Status(THERE, where)
    if source.kind == "wheel" and kept_wheel(source.location.partition(":")[0], WHEELS):
        return Status(THERE, where)
    reason = _recall(dataset)
    return Status(ABSENT, reason) if reason else Status(PENDING, where)


def source_file(source: str, registry: Mapping[str, Dataset], datasets: Mapping) -> str:
    """Return the file or folder that a source of the configuration is read from.

    Parameters
    ----------
    source : str
        A path, which is returned as it is, or ``dataset:NAME``.
    registry : mapping of str to Dataset
    datasets : mapping
        The configuration's ``datasets``.

    Returns
    -------
    str
        For a dataset its verified copy; one without a checksum is read in place, where it is found.
    """
    name = dataset_name(source)
    if not name:
        return source
    dataset = registry[name]
    if dataset.sha256 == NO_CHECKSUM:
        with contextlib.suppress(InputError):
            return resolve(name, registry, **places(name, datasets)).location
    return verified_copy(dataset)


def is_fetched(dataset: Dataset) -> bool:
    """Tell whether the verified copy of a dataset is there, of the file that is registered now."""
    copy = Path(verified_copy(dataset))
    return copy.is_file() and _first_line(_mark(copy)) == dataset.sha256


def fetch_copy(
    dataset: Dataset, registry: Mapping[str, Dataset], path: Path | None = None, mirror: Path | None = None
) -> Source:
    """Fetch the workflow's copy of a dataset, as `biaslab.run.datasets.fetch` does; remember how that went.

    Raises
    ------
    InputError
        As `fetch` does.
    """
    out = Path(verified_copy(dataset))
    try:
        source = fetch(dataset.name, registry, out=out, path=path, mirror=mirror)
    except InputError as error:
        _remember(dataset, str(error))
        raise
    write_text(_mark(out), f"{dataset.sha256}\n")
    _memory(dataset).unlink(missing_ok=True)
    return source


def fetch_wanted(
    names: Iterable[str],
    registry: Mapping[str, Dataset],
    datasets: Mapping,
    say: Callable[[str], None],
) -> dict[str, str]:
    """Fetch the datasets that are not there yet; remember those that cannot be had.

    Parameters
    ----------
    names : iterable of str
        Names of the registry.
    registry : mapping of str to Dataset
    datasets : mapping
        The configuration's ``datasets``.
    say : callable
        Is told what is fetched.

    Returns
    -------
    dict of str to str
        Those that cannot be had, each with the reason.
    """
    absent: dict[str, str] = {}
    failed: dict[str, str] = {}  # wheels, each of which holds several files
    wanted = [registry[name] for name in sorted(names)]
    missing = [dataset for dataset in wanted if not is_fetched(dataset) and not _is_in_place(dataset)]
    for number, dataset in enumerate(missing, start=1):
        of = places(dataset.name, datasets)
        try:
            source = resolve(dataset.name, registry, **of)
            say(f"fetching {dataset.name} ({number} of {len(missing)}) from {source.kind}: {source.location}")
            if source.kind == "wheel":
                _have_wheel(dataset, failed)
            fetch_copy(dataset, registry, **of)
        except InputError as error:
            absent[dataset.name] = str(error)
    return absent


def _have_wheel(dataset: Dataset, failed: dict[str, str]) -> None:
    """Download the wheel of a dataset, but try only once; remember a failure."""
    wheel = dataset.location.partition(":")[0]
    if wheel not in failed:
        try:
            wheel_file(wheel, WHEELS)
            return
        except InputError as error:
            failed[wheel] = str(error)
    reason = without_wheel(dataset.name, failed[wheel])
    _remember(dataset, reason)
    raise InputError(reason)


def _is_in_place(dataset: Dataset) -> bool:
    """Tell whether a dataset is read where it lies, because nobody can verify it."""
    return dataset.sha256 == NO_CHECKSUM


def _mark(copy: Path) -> Path:
    """Return the file beside a copy which says what was verified."""
    return copy.with_name(f".{copy.name}.sha256")


def _memory(dataset: Dataset) -> Path:
    """Return the file which says why a dataset could not be had."""
    return FOLDER / ".absent" / dataset.name


def _remember(dataset: Dataset, reason: str) -> None:
    with contextlib.suppress(InputError):  # what cannot be remembered is tried again
        write_text(_memory(dataset), f"{dataset.sha256}\n{reason}\n")


def _recall(dataset: Dataset) -> str:
    """Return why a dataset could not be had; empty when nobody tried, or tried for another file."""
    memory = _memory(dataset)
    if _first_line(memory) != dataset.sha256:
        return ""
    return memory.read_text(encoding="utf-8").partition("\n")[2].strip()


def _first_line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").partition("\n")[0]
    except OSError:
        return ""
