"""Refuse jobs that a Slurm cluster would never start: Snakemake's plugin waits for them silently."""

import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError

_RUN = re.compile(r"(\w[\w-]*_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")  # of a run and each of its jobs


def check_slurm(workflow: Any) -> None:
    """Refuse a run that Slurm could not finish; do nothing for other executors."""
    if type(workflow.executor_settings).__module__ != "snakemake_executor_plugin_slurm":
        return
    refuse_leftovers(_call("squeue", "--me", "--noheader", "--format=%i|%j|%Z"), Path.cwd())
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local and not job.is_norun]
    refuse_impossible(jobs, time_limits(_call("sinfo", "--noheader", "--format=%P|%l")))


def refuse_leftovers(queue: str, folder: Path) -> None:
    """Refuse a run if `queue` (lines ``NUMBER|NAME|FOLDER``) has jobs of an earlier run in the folder."""
    jobs = [line.split("|", 2) for line in queue.splitlines()]
    left = [j for j in jobs if _RUN.fullmatch(j[1]) and Path(j[2]).resolve() == folder.resolve()]
    if left:
        runs = ",".join(dict.fromkeys(job[1] for job in left))
        raise InputError(
            f"{len(left)} jobs of an earlier run in this folder are still in the queue; wait for them (squeue"
            f" --name {runs}) or end them (scancel --name {runs}), then run this command again"
        )


def refuse_impossible(jobs: Iterable[Any], limits: Mapping[str, float]) -> None:
    """Refuse jobs that would never start; `limits` are minutes by partition ("": default partition)."""
    requests = {}
    for job in jobs:
        threads, memory, minutes = job.threads, job.resources["mem_mb"], job.resources["runtime"]
        partition, account = (job.resources.get(f"slurm_{name}") or "" for name in ("partition", "account"))
        requests.setdefault((threads, memory, minutes, partition, account), job.rule.name)
    for (threads, memory, minutes, partition, account), rule in requests.items():
        start = f"Slurm would never start {rule} ({minutes} minutes, {memory} MB, threads: {threads}):"
        if minutes > (limit := limits.get(partition, float("inf"))):
            raise InputError(
                f"{start} its partition{f' {partition}' * bool(partition)} allows {limit:g} minutes; name"
                f" another (default-resources: slurm_partition), or set cluster.max_runtime to {limit:g}"
            )
        options = [f"--cpus-per-task={threads}", f"--mem={memory}", f"--time={minutes}"]
        options += [f"--partition={partition}"] * bool(partition) + [f"--account={account}"] * bool(account)
        command = ["sbatch", "--test-only", *options, "--wrap=true"]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            raise InputError(
                f"{start} {process.stderr.strip().rpartition(chr(10))[2]}; set cluster.max_threads or"
                " cluster.max_memory to what a node has, or correct partition, account and set-threads in the"
                " profile"
            )


def time_limits(text: str) -> dict[str, float]:
    """Parse lines ``NAME|LIMIT`` of ``sinfo``; limits are ``[DAYS-]HOURS:MINUTES:SECONDS`` or words."""
    limits = {}
    for line in text.splitlines():
        name, _, limit = line.partition("|")
        numbers = [int(number) for number in re.findall(r"\d+", limit)]
        minutes = sum(n * m for n, m in zip(reversed(numbers), (1 / 60, 1, 60, 1440), strict=False))
        allowed = minutes if numbers else float("inf")
        limits |= {name.rstrip("*"): allowed} | ({"": allowed} if name.endswith("*") else {})
    return limits


def _call(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (FileNotFoundError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", "").strip() or "no such command"
        raise InputError(f"{command[0]}: {reason}; start the run on a machine that reaches Slurm") from error
