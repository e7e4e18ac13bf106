"""A run as the graph of a Workflow Run Crate (https://w3id.org/ro/wfrun/workflow/0.5), made with rocrate."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from biaslab.core.errors import InputError
from biaslab.run import REGISTRY
from biaslab.run.crate import RESULTS
from biaslab.run.crate.actions import add_actions
from biaslab.run.crate.audit import add_audit
from biaslab.run.crate.contents import WORKFLOW, Packed, Record
from biaslab.run.crate.data import add_inputs, is_copy
from biaslab.run.crate.entities import (
    add,
    add_elsewhere,
    digest_address,
    file_at,
    file_properties,
    media_type,
    named,
)
from biaslab.run.datasets import load_registry
from biaslab.run.provenance import git_state

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

_RO_CRATE = "1.1"  # what version 0.5 of the profile is written for
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": ("Workflow RO-Crate", "1.0"),
}
_TERMS = {
    "environment": "https://w3id.org/ro/terms/workflow-run#environment",
    "sha256": "http://schema.org/sha256",
}
"""What the context of RO-Crate 1.1 lacks."""
_LICENCE = "https://spdx.org/licenses/MIT"


def describe(record: Record, files: Sequence[Packed], root: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the metadata of a run's crate, the same for the same run, and what its reader must know.

    The latter: where the workflow's files may not be those that ran.
    """
    crate = _new_crate()
    notices = _differences(record, root)
    if not record.is_whole:
        notices.append("The run has not ended: these are the results that it had")
    for packed in [*files, *record.outputs]:
        if packed.place != WORKFLOW:
            crate.add_file(packed.source, packed.place, properties=file_properties(packed))
    results = _add_results(crate, record)
    workflow = _add_workflow(crate, record, files, notices)
    inputs = add_inputs(crate, record, files, load_registry(root / REGISTRY))
    actions = add_actions(crate, record, workflow, inputs, results)
    audit = add_audit(crate, record)
    _fill_root(crate, record, actions, audit)
    crate.metadata.extra_terms.update(_TERMS)
    return crate.metadata.generate(), notices


def _new_crate() -> "ROCrate":
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise InputError("rocrate is not installed; pip install 'biaslab[crate]'") from error
    return ROCrate(gen_preview=False, version=_RO_CRATE)


def _fill_root(crate: "ROCrate", record: Record, actions: list["Entity"], audit: "Entity") -> None:
    areas = ", ".join(record.manifest["config"].get("areas", []))
    crate.name = "A run of biaslab"
    crate.description = (
        f"Fairness papers re-run and audited ({areas}): the workflow, its configuration and environment, the"
        " tables and figures it made, and the audit of what the papers print. Input data and results that are"
        " not included are named by their sha256; data have licences of their own."
    )
    crate.datePublished = record.ended
    crate.license = add(crate, _LICENCE, "CreativeWork", name="MIT License", identifier=_LICENCE)
    root = crate.root_dataset
    root["about"], root["mentions"] = audit, actions
    root["conformsTo"] = [
        add(crate, address, "CreativeWork", name=name, version=version)
        for address, (name, version) in _PROFILES.items()
    ]
    if readme := file_at(crate, "README.md"):
        readme["about"] = root


def _add_workflow(
    crate: "ROCrate", record: Record, files: Sequence[Packed], notices: Sequence[str]
) -> "Entity":
    """Describe the workflow: who wrote it, what it takes and makes, and the software it needs."""
    packed = next(file for file in files if file.place == WORKFLOW)
    workflow = crate.add_workflow(
        packed.source, WORKFLOW, main=True, lang="snakemake", properties=file_properties(packed)
    )
    environment = record.manifest["environment"]
    versions = environment.get("packages", {})
    workflow["programmingLanguage"]["version"] = versions.get("snakemake", "unknown")
    workflow["name"] = "biaslab"
    workflow["version"] = (environment.get("git") or {}).get("commit") or versions.get("biaslab", "unknown")
    workflow["description"] = " ".join(["The entry of the workflow.", *(f"{n}." for n in notices)])
    workflow["url"] = {"@id": WORKFLOW}
    workflow["license"] = {"@id": _LICENCE}
    workflow["author"] = add(crate, "#authors", "Organization", name="the biaslab developers")
    workflow["input"] = _add_parameter(crate, "config", "File", f"{RESULTS}/config.json")
    workflow["output"] = _add_parameter(crate, "results", "Dataset", f"{RESULTS}/")
    locks = [file_at(crate, file.place) for file in files if file.place.endswith(".lock")]
    workflow["softwareRequirements"] = [*_add_software(crate, environment), *locks]
    workflow["hasPart"] = [file_at(crate, file.place) for file in files if file.place.endswith(".smk")]
    return workflow


def _add_software(crate: "ROCrate", environment: dict[str, Any]) -> list["Entity"]:
    """Describe Python and the packages that the run had."""
    addresses = {("Python", str(environment.get("python", "unknown"))): "https://www.python.org/"}
    for name, version in environment.get("packages", {}).items():
        addresses[name, version] = f"https://pypi.org/project/{quote(name)}/{quote(version)}/"
    return [
        add(crate, address, "SoftwareApplication", url={"@id": address}, **named(*software))
        for software, address in addresses.items()
    ]


def _add_parameter(crate: "ROCrate", name: str, kind: str, example: str) -> "Entity":
    """Describe what the workflow takes or makes, with what this run took or made."""
    parameter = add(crate, f"#{name}", "FormalParameter", name=name, additionalType=kind)
    if entity := file_at(crate, example):
        parameter["workExample"] = entity
        entity["exampleOfWork"] = parameter
    return parameter


def _add_results(crate: "ROCrate", record: Record) -> "Entity":
    """Describe what the run made: what is in the crate, and by digest what is not."""
    parts = [file_at(crate, file.place) for file in record.outputs]
    about = "an intermediate result, not in this crate"
    for name, digest in record.elsewhere.items():
        if not is_copy(name):
            place = f"{RESULTS}/{name}"
            address = digest_address(digest, place)
            known = {"name": place, "sha256": digest, "encodingFormat": media_type(name)}
            parts.append(add_elsewhere(crate, address, description=about, **known))
    properties = {"name": "results", "description": "what the run made", "hasPart": parts}
    return crate.add_dataset(dest_path=f"{RESULTS}/", properties=properties)


def _differences(record: Record, root: Path) -> list[str]:
    """Say where the workflow's files, as they are now, may differ from what ran."""
    ran, now = record.manifest["environment"].get("git"), git_state(root)
    if not ran or not now:
        return ["It is not known whether the files packed are those that ran: one of both is of no checkout"]
    notices = []
    if ran["commit"] != now["commit"]:
        notices.append(f"The run ended at commit {ran['commit']}, the files packed are of {now['commit']}")
    for state, whose in ((ran, "The run"), (now, "The files packed")):
        if state["dirty"]:
            notices.append(f"{whose} had changes that are in no commit")
    return notices
