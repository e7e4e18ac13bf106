"""Registered input data: where a dataset is found, and proof that it is the right one."""

import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from jsonschema import Draft202012Validator, ValidationError

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import atomic_path, read_text_table, read_yaml
from biaslab.run.wheels import extract_member, wheel_file

NO_CHECKSUM = "-"
PREFIX = "dataset:"
"""What a configuration writes before the name of a registered dataset, where it may also name a file."""
FOLDER = Path("results/datasets")
"""Where the workflow keeps verified copies, wheels, and what could not be had."""
WHEELS = FOLDER / ".wheels"
"""The wheels that registered files are taken from."""

_TIMEOUT_SECONDS = 60
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
        installed), ``url``, or ``local`` (only the user has it).
    location : str
        ``PACKAGE:PATH`` inside the package, ``PACKAGE==VERSION:PATH`` inside the wheel, the https address, or
        ``-``.
    filename : str
        Its path in a mirror folder; the last part is its file name.
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


def without_wheel(name: str, reason: str) -> str:
    """Return why a dataset cannot be had when its wheel cannot, and what to do."""
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
            _download(name, source.location, temporary)
        elif source.kind == "wheel":
            _unpack(name, source.location, Path(wheels), temporary)
        else:
            _copy(source.location, temporary)
        _verify(dataset, source, temporary)
    return source


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
        raise InputError(without_wheel(name, str(error))) from error
    extract_member(wheel, member, target)


def _download(name: str, url: str, target: Path) -> None:
    from tqdm import tqdm  # what plans a run must do with the packages that Snakemake needs itself

    with target.open("wb") as file, tqdm(unit="B", unit_scale=True, desc=name, disable=None) as progress:
        for data in _read_url(name, url):
            progress.update(file.write(data))


def _read_url(name: str, url: str) -> Iterator[bytes]:
    remedy = f"try again, or set datasets: paths: {name}: FILE in the config"
    try:
        with urlopen(url, timeout=_TIMEOUT_SECONDS) as response:
            if not response.url.startswith("https://"):
                raise InputError(f"{url}: led to {response.url}, which is not https; {remedy}")
            while data := response.read(_CHUNK_BYTES):
                yield data
    except (OSError, HTTPException) as error:
        raise InputError(f"{url}: cannot be downloaded ({error}); {remedy}") from error


def _verify(dataset: Dataset, source: Source, copy: Path) -> None:
    with copy.open("rb") as file:
        measured = hashlib.file_digest(file, "sha256").hexdigest()
    if measured != dataset.sha256:
        raise InputError(
            f"{source.location}: wrong checksum for the dataset '{dataset.name}' (sha256 {measured}, not the"
            f" registered {dataset.sha256}); get the registered file, or name this one as the corpus source"
        )
