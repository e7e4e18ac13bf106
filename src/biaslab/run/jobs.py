"""The jobs of a run as Snakemake plans them, without running any.

``python -m biaslab.run.jobs FILE ...`` calls Snakemake with these arguments and writes the jobs to the file.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run.notes import portable
from biaslab.run.records import code_of


@dataclass(frozen=True, eq=False)
class Job:
    """A job of a run."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    is_done: bool  # whether Snakemake sees no reason to run it
    sha256: str  # the registered checksum of its only output, where there is one
    note: Mapping[str, Any]  # what Snakemake notes when it is done, but times and checksums

    @property
    def code(self) -> str:
        """The digest of the code of its step."""
        return code_of(self.note["params"])[0]

    @property
    def settings(self) -> tuple[str, ...]:
        """What else its step is told."""
        return code_of(self.note["params"])[1]

    def input_names(self) -> dict[str, str]:
        """Return its inputs by the names that they have in records."""
        return {portable(file): file for file in self.inputs}


def planned_jobs(arguments: Sequence[str]) -> list[Job]:
    """Return the jobs that arguments of Snakemake ask for, each after those that it waits for."""
    with tempfile.TemporaryDirectory(prefix="biaslab-jobs-") as folder:
        out = Path(folder, "jobs.json")
        command = [sys.executable, "-m", "biaslab.run.jobs", str(out), *arguments, "--dag"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or not out.is_file():
            said = done.stderr.strip() or done.stdout.strip()  # the latter of a dry run
            last = "".join(said.splitlines()[-1:]).removeprefix("biaslab: ")
            raise InputError(f"the run cannot be planned: {last.partition(' (if you use ')[0]}")
        jobs = json.loads(out.read_text(encoding="utf-8"))
    return [Job(**{**job, "inputs": tuple(job["inputs"]), "outputs": tuple(job["outputs"])}) for job in jobs]


def note_done(job: Job, checksums: Mapping[str, str], time: float) -> None:
    """Let Snakemake know that a job was done, of inputs with these sha256, by path."""
    from snakemake.persistence import RECORD_FORMAT_VERSION, MetadataRecord
    from snakemake.persistence.file import FilePersistence

    sums = {name: f"sha256:{digest}" for name, digest in checksums.items() if digest}
    moment = {"starttime": time, "endtime": time, "incomplete": False}
    version = {"record_format_version": RECORD_FORMAT_VERSION}
    record = MetadataRecord(**job.note, **moment, **version, input_checksums=sums)
    persistence = FilePersistence(nolock=True)
    for output in job.outputs:
        persistence._write_record(output, record)


def _write_jobs(out: Path, arguments: list[str]) -> None:
    from snakemake.cli import main
    from snakemake.workflow import Workflow

    def write(workflow: Any) -> None:  # instead of the graph in the language of Graphviz
        workflow._prepare_dag(forceall=False, ignore_incomplete=True, lock_warn_only=True)
        workflow._build_dag()
        jobs = [_described(job, workflow) for level in workflow.dag.toposorted() for job in level]
        out.write_text(json.dumps([vars(job) for job in jobs]), encoding="utf-8")

    Workflow.printdag = write
    main(arguments)


def _described(job: Any, workflow: Any) -> Job:
    noted = workflow.persistence
    note = {
        "rule": job.rule.name,
        "code": noted._code(job.rule),
        "input": [str(file) for file in noted._input(job)],
        "log": [str(file) for file in noted._log(job)],
        "params": noted._params(job),
        "shellcmd": job.shellcmd,
        "conda_env": noted._conda_env(job),
        "software_stack_hash": noted._software_stack_hash(job),
        "container_img_url": job.container_img_url,
    }
    files = (tuple(str(file) for file in some) for some in (job.input, job.output))
    is_done = not workflow.dag.needrun(job)
    return Job(job.rule.name, *files, is_done, job.params.get("sha256") or "", note)


if __name__ == "__main__":
    _write_jobs(Path(sys.argv[1]), sys.argv[2:])
