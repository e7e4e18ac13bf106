"""What ran and when, in a crate's graph: the run, and its jobs with what they read and made."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import quote

from biaslab.run.crate import RESULTS
from biaslab.run.crate.contents import WORKFLOW, Job, Record
from biaslab.run.crate.data import is_copy
from biaslab.run.crate.entities import add, file_at, iso, named

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

_COMPLETED, _ACTIVE = (f"http://schema.org/{which}ActionStatus" for which in ("Completed", "Active"))


def add_actions(
    crate: "ROCrate", record: Record, workflow: "Entity", inputs: list["Entity"], results: "Entity"
) -> list["Entity"]:
    """Describe the run, its jobs and the rules behind them; return run and jobs."""
    rules = _add_rules(crate, record, workflow)
    run = _add_run(crate, record, workflow, inputs, results)
    files = Files(crate, results, inputs)
    return [run, *(_add_job(crate, job, rules[job.rule], files) for job in record.jobs)]


def _add_rules(crate: "ROCrate", record: Record, workflow: "Entity") -> dict[str, "Entity"]:
    """Describe the rules: the version of each is the digest of the code that it runs."""
    digests = record.manifest["code"]
    rules = {}
    for name in sorted({*digests, *(job.rule for job in record.jobs)}):
        version = named(name, digests.get(name, workflow["version"]))
        rules[name] = add(
            crate, f"#rule/{quote(name)}", "SoftwareApplication", url={"@id": WORKFLOW}, **version
        )
    return rules


def _add_run(
    crate: "ROCrate", record: Record, workflow: "Entity", inputs: list["Entity"], results: "Entity"
) -> "Entity":
    """Describe the run as a whole; its times are those of its first and last job, in however many starts."""
    environment = record.manifest["environment"]
    settings = file_at(crate, f"{RESULTS}/config.json")
    machine = [str(environment.get(key, "unknown")) for key in ("platform", "cpu", "cpus")]
    action = add(
        crate,
        "#run",
        "CreateAction",
        name="the run",
        description="{} jobs on {}, {}, {} processors".format(len(record.jobs), *machine),
        instrument=workflow,
        object=[*([settings] if settings else []), *inputs],
        result=results,
        endTime=iso(record.ended),
        actionStatus=_COMPLETED if record.is_whole else _ACTIVE,
    )
    if starts := [job.started for job in record.jobs if job.started]:
        action["startTime"] = iso(min(starts))
    if variables := environment.get("threads"):
        action["environment"] = [
            add(crate, f"#variable/{quote(name)}", "PropertyValue", name=name, value=str(value))
            for name, value in sorted(variables.items())
        ]
    return action


def _add_job(crate: "ROCrate", job: Job, rule: "Entity", files: "Files") -> "Entity":
    """Describe a job: what it read and made, its benchmark file, and when."""
    benchmark = file_at(crate, f"{RESULTS}/benchmarks/{job.name}.tsv")
    action = add(
        crate,
        f"#job/{quote(job.name)}",
        "CreateAction",
        name=job.name,
        description=f"a job of the rule {job.rule} ({job.measured})",
        instrument=rule,
        result=[*files.at(job.outputs), benchmark],
        actionStatus=_COMPLETED,
    )
    if inputs := files.at(job.inputs):
        action["object"] = inputs
    if job.started and job.ended:
        action["startTime"], action["endTime"] = iso(job.started), iso(job.ended)
    return action


class Files:
    """The files of a run in its crate's graph, by their paths; of a folder, those in it."""

    def __init__(self, crate: "ROCrate", results: "Entity", inputs: Sequence["Entity"]) -> None:
        self._crate = crate
        self._results = {entity["name"]: entity for entity in results["hasPart"]}
        self._datasets = {entity["name"]: entity for entity in inputs}

    def at(self, paths: Iterable[str]) -> list["Entity"]:
        """Return what lies at some paths, each once; paths of files that the graph lacks are left out."""
        entities = [entity for path in paths for entity in self._at(path)]
        return list({entity.id: entity for entity in entities}.values())

    def _at(self, path: str) -> Iterator["Entity"]:
        if entity := self._results.get(path) or file_at(self._crate, path):
            yield entity
        elif is_copy(path.removeprefix(f"{RESULTS}/")):
            dataset = self._datasets.get(PurePosixPath(path).parts[2])
            yield from [dataset] if dataset else []
        else:
            yield from (part for name, part in self._results.items() if name.startswith(f"{path}/"))
