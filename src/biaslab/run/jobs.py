"""The jobs of a run as Snakemake plans them, without running any."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.run.notes import portable
from biaslab.run.steps import STEP

VARIABLE = "BIASLAB_JOBS"
"""Names the file that the logger plugin writes the planned jobs to."""

_PLUGIN = Path(__file__).with_name("planning")
_UPDATED, _MISSING = "Input files updated by another job", "Missing output files"


@dataclass(frozen=True, eq=False)
class Job:
    """A job of a run."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    command: str  # as `plain_command` returns it
    reason: str = ""  # why Snakemake would run it

    @property
    def step(self) -> str:
        """The name of the step that it calls; "" for none."""
        found = STEP.search(self.command)
        return found[1] if found else ""

    @property
    def follows(self) -> bool:
        """Whether it would make again what is there, for no other reason than that a job before it runs."""
        return bool(self.outputs) and _UPDATED in self.reason and _MISSING not in self.reason

    def input_names(self) -> dict[str, str]:
        """Return its inputs by the names that they have in records."""
        return {portable(file): file for file in self.inputs}


def planned_jobs(arguments: Sequence[str]) -> list[Job]:
    """Return the jobs that Snakemake would run with some arguments, each after those that it waits for."""
    with tempfile.TemporaryDirectory(prefix="biaslab-jobs-") as folder:
        out = Path(folder, "jobs")
        path = os.pathsep.join([str(_PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
        options = ["--dry-run", "--nolock", "--logger", "biaslab"]
        command = [sys.executable, "-m", "snakemake", *arguments, *options]
        environment = os.environ | {"PYTHONPATH": path, VARIABLE: str(out)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            said = done.stderr.strip() or done.stdout.strip()  # the latter of a dry run
            last = "".join(said.splitlines()[-1:]).removeprefix("biaslab: ")
            raise InputError(f"the run cannot be planned: {last.partition(' (if you use ')[0]}")
        lines = out.read_text(encoding="utf-8").splitlines() if out.is_file() else []
    jobs = [json.loads(line) for line in lines]
    return [
        Job(
            job["rule"],
            tuple(job["inputs"] or ()),
            tuple(job["outputs"] or ()),
            plain_command(job["command"] or ""),
            job["reason"] or "",
        )
        for job in jobs
    ]


def plain_command(command: str) -> str:
    """Return a shell command without threads, log, and where the workflow lies: they decide no result."""
    command = re.sub(r" --threads \d+ > .* 2>&1$", "", command)
    return re.sub(r'(?<=")[^"]*?(?=workflow/(?:resources|schemas)/)', "", command)
