"""List the jobs that Snakemake plans for a run, without running them."""

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
from biaslab.run.plan.steps import STEP
from biaslab.run.record.notes import portable

VARIABLE = "BIASLAB_JOBS"
"""The environment variable with the file to which the logger plugin writes the planned jobs."""

_PLUGIN = Path(__file__).with_name("planning")


@dataclass(frozen=True, eq=False)
class Job:
    """A job of a run."""

    rule: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    command: str  # as `plain_command` returns it

    @property
    def step(self) -> str:
        """The name of the called step; "" for none."""
        match = STEP.search(self.command)
        return match[1] if match else ""

    def input_names(self) -> dict[str, str]:
        """Return its inputs by their names in records."""
        return {portable(file): file for file in self.inputs}


def planned_jobs(arguments: Sequence[str]) -> list[Job]:
    """Return the jobs that Snakemake would run with the given arguments, each after its prerequisites."""
    with tempfile.TemporaryDirectory(prefix="biaslab-jobs-") as folder:
        out = Path(folder, "jobs")
        path = os.pathsep.join([str(_PLUGIN), *filter(None, [os.environ.get("PYTHONPATH")])])
        options = ["--dry-run", "--nolock", "--logger", "biaslab"]
        command = [sys.executable, "-m", "snakemake", *arguments, *options]
        environment = os.environ | {"PYTHONPATH": path, VARIABLE: str(out)}
        process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if process.returncode:
            message = process.stderr.strip() or process.stdout.strip()  # a dry run prints errors to stdout
            last = "".join(message.splitlines()[-1:]).removeprefix("biaslab: ")
            raise InputError(f"the run cannot be planned: {last.partition(' (if you use ')[0]}")
        lines = out.read_text(encoding="utf-8").splitlines() if out.is_file() else []
    return [
        Job(rule, tuple(inputs or ()), tuple(outputs or ()), plain_command(command or ""))
        for rule, inputs, outputs, command in map(json.loads, lines)
    ]


def unmark(files: Sequence[str], arguments: Sequence[str]) -> None:
    """Let Snakemake forget how files were made."""
    command = [sys.executable, "-m", "snakemake", *arguments, "--nolock", "--cleanup-metadata", *files]
    # The exit code is 1 if a file has no metadata besides its mark, which is removed nevertheless.
    subprocess.run(command, capture_output=True, check=False)


def plain_command(command: str) -> str:
    """Return a shell command without threads, log and location of the workflow, which affect no result."""
    command = re.sub(r" --threads \d+ > .* 2>&1$", "", command)
    return re.sub(r'(?<=")[^"]*?(?=workflow/(?:resources|schemas)/)', "", command)
