"""The data that a run read, in its crate's graph: named with digest and licence, never copied."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from biaslab.run.crate.contents import Packed, Record
from biaslab.run.crate.entities import add, add_elsewhere, digest_address, file_at, media_type
from biaslab.run.datasets import FOLDER, NO_CHECKSUM, PREFIX, Dataset

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate


def add_inputs(
    crate: "ROCrate", record: Record, files: Sequence[Packed], registry: Mapping[str, Dataset]
) -> list["Entity"]:
    """Describe what a run read: registered data, files of the workflow, and files of who ran it."""
    used = _used_datasets(record, registry)
    found = [_add_dataset(crate, dataset) for dataset in used]
    registered = {dataset.sha256 for dataset in used}
    shipped = {file.sha256: file_at(crate, file.place) for file in files}
    for name, digest in record.manifest["inputs"].items():
        if digest in shipped:
            found.append(shipped[digest])
        elif digest not in registered:
            found.append(_add_own(crate, name, digest))
    return list({entity.id: entity for entity in found}.values())


def is_copy(name: str) -> bool:
    """Tell whether a file of the results folder is the verified copy of a dataset."""
    return PurePosixPath(name).is_relative_to(FOLDER.name)


def _used_datasets(record: Record, registry: Mapping[str, Dataset]) -> list[Dataset]:
    """Return registered data that were copied or read in place; without a sha256, those configured."""
    digests = set(record.manifest["inputs"].values())
    copied = {PurePosixPath(name).parts[1] for name in record.elsewhere if is_copy(name)}
    configured = set(_texts(record.manifest["config"]))
    return [
        dataset
        for name, dataset in registry.items()
        if name in copied
        or dataset.sha256 in digests
        or (dataset.sha256 == NO_CHECKSUM and f"{PREFIX}{name}" in configured)
    ]


def _add_dataset(crate: "ROCrate", dataset: Dataset) -> "Entity":
    properties = {
        "name": dataset.name,
        "alternateName": dataset.filename,
        "version": dataset.version,
        "license": dataset.licence,
        "encodingFormat": media_type(dataset.filename),
        "description": dataset.note,
    }
    if dataset.sha256 == NO_CHECKSUM:
        return add(crate, f"#dataset/{dataset.name}", "CreativeWork", **properties)
    is_web = dataset.location.startswith("https://")
    if not is_web and dataset.location != "-":
        is_made = dataset.origin == "recipe"
        what = "a recipe and what it takes" if is_made else "a Python package and a file in it"
        properties["disambiguatingDescription"] = f"{dataset.location} ({what})"
    where = dataset.location if is_web else digest_address(dataset.sha256, dataset.name)
    return add_elsewhere(crate, where, sha256=dataset.sha256, **properties)


def _add_own(crate: "ROCrate", name: str, digest: str) -> "Entity":
    """Describe what no registry knows; a folder's digest is that of the names and digests of its files."""
    about = "a file or folder of who ran this; what licence it has is not known here"
    where, digest = f"#input/{quote(name)}", f"sha256:{digest}"
    return add(crate, where, "CreativeWork", name=name, description=about, identifier=digest)


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a configuration."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, str):
        yield value
