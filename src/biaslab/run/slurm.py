"""Refuse jobs that a Slurm cluster would never start, before any job is submitted.

Snakemake's plugin waits for such jobs silently: a job above the time limit of its partition stays in the
queue forever.
"""

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError

_PLUGIN = "snakemake_executor_plugin_slurm"
_RUN = re.compile(r"(\w[\w-]*_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The plugin's name of a run and of each of its jobs."""
_SHOWN = 5  # maximum number of jobs in a message


def check_slurm(workflow: Any) -> None:
    """Refuse a run that Slurm could not finish; do nothing for other executors."""
    if type(workflow.executor_settings).__module__ != _PLUGIN:
        return
    refuse_leftovers(_call("squeue", "--me", "--noheader", "--format=%i|%j|%Z"), Path.cwd())
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local and not job.is_norun]
    refuse_impossible(jobs, time_limits(_call("sinfo", "--noheader", "--format=%P|%l")))


def refuse_leftovers(queue: str, folder: Path) -> None:
    """Refuse a run while jobs of an earlier run are queued, because they write the same files.

    `queue` has a line ``NUMBER|NAME|FOLDER`` for each job.
    """
    jobs = [line.split("|", 2) for line in queue.splitlines()]
    left = [j for j in jobs if _RUN.fullmatch(j[1]) and Path(j[2]).resolve() == folder.resolve()]
    if left:
        ids = ", ".join(job[0] for job in left[:_SHOWN]) + (" ..." if len(left) > _SHOWN else "")
        runs = ",".join(dict.fromkeys(job[1] for job in left))
        raise InputError(
            f"{len(left)} jobs of an earlier run in this folder are still in the queue ({ids}); wait for "
            f"them (squeue --name {runs}) or end them (scancel --name {runs}), then run this command again"
        )


def refuse_impossible(jobs: Iterable[Any], limits: Mapping[str, float]) -> None:
    """Refuse jobs that would never start; `limits` are minutes by partition ("": default partition)."""
    checked = set()
    for job in jobs:
        threads, memory, minutes = job.threads, job.resources["mem_mb"], job.resources["runtime"]
        partition = str(job.resources.get("slurm_partition") or "")
        options = [f"--cpus-per-task={threads}", f"--mem={memory}", f"--time={minutes}"]
        options += [f"--partition={partition}"] if partition else []
        if account := job.resources.get("slurm_account"):
            options.append(f"--account={account}")
        if tuple(options) in checked:
            continue
        checked.add(tuple(options))
        limit = limits.get(partition, float("inf"))
        if minutes > limit:
            place = f"partition {partition}" if partition else "the default partition"
            raise InputError(
                f"Slurm would never start {job.rule.name}, which requests {minutes} minutes, and {place}"
                f" allows {limit:g}; name another (default-resources: slurm_partition), or set"
                f" cluster.max_runtime to {limit:g}"
            )
        process = subprocess.run(
            ["sbatch", "--test-only", *options, "--wrap=true"], capture_output=True, text=True, check=False
        )
        if process.returncode:
            line = "".join(process.stderr.strip().splitlines()[-1:]).removeprefix("sbatch: error: ")
            raise InputError(
                f"Slurm would never start {job.rule.name}, which requests {threads} threads, {memory} MB"
                f" and {minutes} minutes, and sbatch reports '{line}'; set"
                " cluster.max_threads or cluster.max_memory to what a node has, or correct"
                " partition, account and set-threads in the profile"
            )


def time_limits(text: str) -> dict[str, float]:
    """Parse ``NAME|LIMIT`` lines of ``sinfo``: minutes by partition, with "" for the default partition.

    A limit is ``[DAYS-]HOURS:MINUTES:SECONDS`` or a word such as ``infinite``.
    """
    limits = {}
    for line in text.splitlines():
        name, _, limit = line.partition("|")
        days, _, clock = limit.rpartition("-")
        parts = [int(part) for part in clock.split(":") if part.isdigit()]
        hours, minutes, seconds = [0] * (3 - len(parts)) + parts
        allowed = (int(days or 0) * 24 + hours) * 60 + minutes + seconds / 60 if parts else float("inf")
        limits[name.rstrip("*")] = allowed
        if name.endswith("*"):
            limits[""] = allowed
    return limits


def _call(*command: str) -> str:
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise InputError(
            f"the command {command[0]} is missing; start the run on a machine with Slurm's commands"
        ) from error
    if process.returncode:
        raise InputError(
            f"{' '.join(command)}: {process.stderr.strip()}; start the run on a machine that reaches Slurm"
        )
    return process.stdout
