"""Describe a run as the graph of a Workflow Run Crate (https://w3id.org/ro/wfrun/workflow/0.5)."""

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from biaslab.core.errors import InputError
from biaslab.run import REGISTRY
from biaslab.run.data.datasets import FOLDER, NO_CHECKSUM, PREFIX, Dataset, load_registry
from biaslab.run.record.manifest import AUDIT
from biaslab.run.record.provenance import git_state
from biaslab.run.travel.crate import RESULTS
from biaslab.run.travel.crate.contents import CONFIG, WORKFLOW, Packed, Record

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

_RO_CRATE = "1.1"  # the version for version 0.5 of the profile
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_TERMS = {"sha256": "http://schema.org/sha256"}  # terms that are missing in the context of RO-Crate 1.1
_LICENCE = "https://spdx.org/licenses/MIT"
_COMPLETED, _ACTIVE = (f"http://schema.org/{which}ActionStatus" for which in ("Completed", "Active"))
_AUDIT = f"{RESULTS}/{AUDIT}"
_TYPES = {
    ".bz2": "application/x-bzip2",
    ".cff": "application/yaml",
    ".csv": "text/csv",
    ".gz": "application/gzip",
    ".html": "text/html",
    ".json": "application/json",
    ".lock": "text/plain",
    ".md": "text/markdown",
    ".npz": "application/zip",
    ".parquet": "application/vnd.apache.parquet",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".rst": "text/x-rst",
    ".sh": "application/x-sh",
    ".smk": "text/x-python",
    ".svg": "image/svg+xml",
    ".tex": "text/x-tex",
    ".toml": "application/toml",
    ".tsv": "text/tab-separated-values",
    ".yaml": "application/yaml",
}
"""Media types by suffix. The types of the standard library depend on the machine."""
_TEXT, _BYTES = "text/plain", "application/octet-stream"
_TEXTS = {"", ".txt", ".mplstyle", ".j2", ".typed"}


def describe(record: Record, files: Sequence[Packed], root: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the metadata of a run's crate, equal for equal runs, and notices for its readers.

    The notices state where the workflow's files may differ from the files that ran.
    """
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise InputError("rocrate is not installed; pip install 'biaslab[crate]'") from error
    crate = ROCrate(gen_preview=False, version=_RO_CRATE)
    notices = _differences(record, root)
    if not record.is_whole:
        notices.append("The run has not ended; the crate has the results so far")
    for packed in [*files, *record.outputs]:
        if packed.place != WORKFLOW:
            crate.add_file(packed.source, packed.place, properties=_file_properties(packed))
    results = _add_results(crate, record)
    workflow = _add_workflow(crate, record, files, notices)
    inputs = _add_inputs(crate, record, files, load_registry(root / REGISTRY))
    run = _add_run(crate, record, workflow, inputs, results)
    about = "Every claim of the papers, as printed and as measured in this run, with a verdict."
    parts = [_file_at(crate, file.place) for file in record.outputs if file.place.startswith(_AUDIT)]
    properties = {"name": "audit", "description": about, "hasPart": parts}
    audit = crate.add_dataset(dest_path=_AUDIT, properties=properties)
    _fill_root(crate, record, run, audit)
    crate.metadata.extra_terms.update(_TERMS)
    return crate.metadata.generate(), notices


def _fill_root(crate: "ROCrate", record: Record, run: "Entity", audit: "Entity") -> None:
    areas = ", ".join(record.manifest["config"].get("areas", []))
    crate.name = "A run of biaslab"
    crate.description = (
        f"Fairness papers re-run and audited ({areas}): the workflow, its configuration and environment, the"
        " tables and figures it made, and the audit of what the papers print. Input data and results that are"
        " not included are named by their sha256; data have licences of their own."
    )
    crate.datePublished = record.ended
    crate.license = _add(crate, _LICENCE, "CreativeWork", name="MIT License", identifier=_LICENCE)
    root = crate.root_dataset
    root["about"], root["mentions"] = audit, [run]
    root["conformsTo"] = [
        _add(crate, address, "CreativeWork", name=name, version=version)
        for address, (name, version) in _PROFILES.items()
    ]
    if readme := _file_at(crate, "README.md"):
        readme["about"] = root


def _add_workflow(
    crate: "ROCrate", record: Record, files: Sequence[Packed], notices: Sequence[str]
) -> "Entity":
    packed = next(file for file in files if file.place == WORKFLOW)
    workflow = crate.add_workflow(
        packed.source, WORKFLOW, main=True, lang="snakemake", properties=_file_properties(packed)
    )
    environment = record.manifest["environment"]
    versions = environment.get("packages", {})
    workflow["programmingLanguage"]["version"] = versions.get("snakemake", "unknown")
    workflow["name"] = "biaslab"
    workflow["version"] = (environment.get("git") or {}).get("commit") or versions.get("biaslab", "unknown")
    workflow["description"] = " ".join(["The entry of the workflow.", *(f"{n}." for n in notices)])
    workflow["url"] = {"@id": WORKFLOW}
    workflow["license"] = {"@id": _LICENCE}
    workflow["author"] = _add(crate, "#authors", "Organization", name="the biaslab developers")
    workflow["input"] = _add_parameter(crate, "config", "File", f"{RESULTS}/{CONFIG}")
    workflow["output"] = _add_parameter(crate, "results", "Dataset", f"{RESULTS}/")
    locks = [_file_at(crate, file.place) for file in files if file.place.endswith(".lock")]
    addresses = {("Python", str(environment.get("python", "unknown"))): "https://www.python.org/"}
    for name, version in versions.items():
        addresses[name, version] = f"https://pypi.org/project/{quote(name)}/{quote(version)}/"
    software = [
        _add(crate, address, "SoftwareApplication", url={"@id": address}, name=name, softwareVersion=version)
        for (name, version), address in addresses.items()
    ]
    workflow["softwareRequirements"] = [*software, *locks]
    workflow["hasPart"] = [_file_at(crate, file.place) for file in files if file.place.endswith(".smk")]
    return workflow


def _add_parameter(crate: "ROCrate", name: str, kind: str, example: str) -> "Entity":
    parameter = _add(crate, f"#{name}", "FormalParameter", name=name, additionalType=kind)
    if entity := _file_at(crate, example):
        parameter["workExample"] = entity
        entity["exampleOfWork"] = parameter
    return parameter


def _add_results(crate: "ROCrate", record: Record) -> "Entity":
    parts = [_file_at(crate, file.place) for file in record.outputs]
    about = "an intermediate result, not in this crate"
    for name, digest in record.elsewhere.items():
        if not _is_copy(name):
            place = f"{RESULTS}/{name}"
            known = {"name": place, "sha256": digest, "encodingFormat": _media_type(name)}
            parts.append(_add(crate, _digest_address(digest, place), "File", description=about, **known))
    properties = {"name": "results", "description": "results of the run", "hasPart": parts}
    return crate.add_dataset(dest_path=f"{RESULTS}/", properties=properties)


def _add_run(
    crate: "ROCrate", record: Record, workflow: "Entity", inputs: list["Entity"], results: "Entity"
) -> "Entity":
    """Describe the run as an action from the start of its first job to the end of its last job."""
    environment = record.manifest["environment"]
    settings = _file_at(crate, f"{RESULTS}/{CONFIG}")
    machine = [str(environment.get(key, "unknown")) for key in ("platform", "cpu", "cpus")]
    action = _add(
        crate,
        "#run",
        "CreateAction",
        name="the run",
        description="on {}, {}, {} processors".format(*machine),
        instrument=workflow,
        object=[*([settings] if settings else []), *inputs],
        result=results,
        endTime=record.ended.isoformat(timespec="seconds"),
        actionStatus=_COMPLETED if record.is_whole else _ACTIVE,
    )
    if record.started is not None:
        action["startTime"] = record.started.isoformat(timespec="seconds")
    return action


def _add_inputs(
    crate: "ROCrate", record: Record, files: Sequence[Packed], registry: Mapping[str, Dataset]
) -> list["Entity"]:
    """Describe registered data, which are never copied, files of the workflow, and the user's own files."""
    used = _used_datasets(record, registry)
    entities = [_add_dataset(crate, dataset) for dataset in used]
    registered = {dataset.sha256 for dataset in used}
    shipped = {file.sha256: _file_at(crate, file.place) for file in files}
    for name, digest in record.manifest["inputs"].items():
        if digest in shipped:
            entities.append(shipped[digest])
        elif digest not in registered:
            # The digest of a folder covers the names and digests of its files.
            own = {"name": name, "description": "a file or folder of the user; unknown licence"}
            identifier = f"#input/{quote(name)}"
            entities.append(_add(crate, identifier, "CreativeWork", **own, identifier=f"sha256:{digest}"))
    return list({entity.id: entity for entity in entities}.values())


def _used_datasets(record: Record, registry: Mapping[str, Dataset]) -> list[Dataset]:
    """Return registered data that were copied or read in place; without sha256, the configured data."""
    digests = set(record.manifest["inputs"].values())
    copied = {PurePosixPath(name).parts[1] for name in record.elsewhere if _is_copy(name)}
    configured = json.dumps(record.manifest["config"])
    return [
        dataset
        for name, dataset in registry.items()
        if name in copied
        or dataset.sha256 in digests
        or (dataset.sha256 == NO_CHECKSUM and f'"{PREFIX}{name}"' in configured)
    ]


def _add_dataset(crate: "ROCrate", dataset: Dataset) -> "Entity":
    properties = {
        "name": dataset.name,
        "alternateName": dataset.filename,
        "version": dataset.version,
        "license": dataset.licence,
        "encodingFormat": _media_type(dataset.filename),
        "description": dataset.note,
    }
    if dataset.sha256 == NO_CHECKSUM:
        return _add(crate, f"#dataset/{dataset.name}", "CreativeWork", **properties)
    is_web = dataset.location.startswith("https://")
    if not is_web and dataset.location != "-":
        is_made = dataset.origin == "recipe"
        parts = "a recipe and its inputs" if is_made else "a Python package and a file in it"
        properties["disambiguatingDescription"] = f"{dataset.location} ({parts})"
    identifier = dataset.location if is_web else _digest_address(dataset.sha256, dataset.name)
    return _add(crate, identifier, "File", sha256=dataset.sha256, **properties)


def _is_copy(name: str) -> bool:
    return PurePosixPath(name).is_relative_to(FOLDER.name)


def _differences(record: Record, root: Path) -> list[str]:
    """Describe where the current files of the workflow may differ from the files that ran."""
    ran, now = record.manifest["environment"].get("git"), git_state(root)
    if not ran or not now:
        return ["Unknown whether the packed files are those of the run: one of the two has no checkout"]
    notices = []
    if ran["commit"] != now["commit"]:
        notices.append(f"The run ended at commit {ran['commit']}, the packed files are of {now['commit']}")
    for state, subject in ((ran, "The run"), (now, "The files packed")):
        if state["dirty"]:
            notices.append(f"{subject} had uncommitted changes")
    return notices


def _add(crate: "ROCrate", identifier: str, kind: str, /, **properties: object) -> "Entity":
    """Add an entity that is not in the crate; a file is data, and its identifier an absolute address."""
    from rocrate.model import ContextEntity, DataEntity

    entity = DataEntity if kind == "File" else ContextEntity
    return crate.add(entity(crate, identifier, {"@type": kind, **properties}))


def _file_at(crate: "ROCrate", place: str) -> "Entity | None":
    return crate.get(quote(place))


def _file_properties(packed: Packed) -> dict[str, object]:
    return {
        "name": packed.place,
        "sha256": packed.sha256,
        "contentSize": str(packed.source.stat().st_size),
        "encodingFormat": _media_type(packed.place),
    }


def _media_type(name: str) -> str:
    """Return the media type of a file by its name, equal on every machine."""
    suffix = PurePosixPath(name).suffix
    return _TYPES.get(suffix) or (_TEXT if suffix in _TEXTS else _BYTES)


def _digest_address(digest: str, name: str) -> str:
    """Return the address (RFC 6920) of content with a sha256; the name distinguishes equal contents."""
    encoded = base64.urlsafe_b64encode(bytes.fromhex(digest)).decode().rstrip("=")
    return f"ni:///sha-256;{encoded}?name={quote(name)}"
