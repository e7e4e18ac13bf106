"""What a Slurm cluster would never start, or never report, is said before anything is submitted.

Snakemake's plugin would wait for it without a word: a job above a partition's time limit stays in the queue
for good, and the end of a job is not seen where ``sacct`` has no accounting to ask.
"""

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from biaslab.core.errors import InputError

_PLUGIN = "snakemake_executor_plugin_slurm"
_RUN = re.compile(r"(\w[\w-]*_)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""The plugin's name of a run, which all of its jobs have as their name."""
_POLLS = 3  # a job must be remembered for as many first waits, or the plugin asks sacct after all
_SHOWN = 5  # jobs that a message names


class Request(NamedTuple):
    """What is asked of the cluster for a job."""

    threads: int
    memory: int
    minutes: int
    partition: str = ""
    account: str = ""


def check_slurm(workflow: Any) -> None:
    """Refuse a run that Slurm could not finish; do nothing where another executor runs the jobs."""
    settings = workflow.executor_settings
    if type(settings).__module__ != _PLUGIN:
        return
    _refuse_leftovers(Path.cwd())
    refuse_blind_status(settings.status_command, settings.init_seconds_before_status_checks, _configuration())
    jobs = [job for job in workflow.dag.needrun_jobs() if not job.is_local and not job.is_norun]
    refuse_impossible(requests_of(jobs), time_limits(_ask("sinfo", "--noheader", "--format=%P|%l")))


def refuse_blind_status(command: str, first_wait: int, configuration: Mapping[str, str]) -> None:
    """Refuse a command (``squeue`` or ``sacct``) that cannot see the end of a job."""
    if not configuration.get("AccountingStorageType", "").endswith("/none"):
        return
    if command == "sacct":
        raise InputError(
            "slurm-status-command: sacct never sees a job end here, since Slurm keeps no accounts "
            "(AccountingStorageType is none); write slurm-status-command: squeue"
        )
    remembered = int(re.match(r"\d*", configuration.get("MinJobAge", ""))[0] or 0)
    if remembered < _POLLS * first_wait:
        raise InputError(
            f"Slurm forgets a job {remembered} s after its end (MinJobAge) and keeps no accounts, so that "
            "its end may not be seen; write slurm-init-seconds-before-status-checks: "
            f"{max(1, remembered // _POLLS)}"
        )


def requests_of(jobs: Iterable[Any]) -> dict[Request, str]:
    """Return what jobs ask for, each with the first rule that does."""
    found: dict[Request, str] = {}
    for job in jobs:
        given = job.resources
        places = (str(given.get(f"slurm_{key}") or "") for key in ("partition", "account"))
        found.setdefault(Request(job.threads, given["mem_mb"], given["runtime"], *places), job.rule.name)
    return found


def refuse_impossible(requests: Mapping[Request, str], limits: Mapping[str, float]) -> None:
    """Refuse requests that would never start; `limits` are a partition's minutes, "" the default one's."""
    for request, rule in requests.items():
        if reason := _time_problem(request, limits) or _slurms_problem(request):
            raise InputError(f"Slurm would never start {rule}: {reason}")


def time_limits(text: str) -> dict[str, float]:
    """Return the minutes that each partition allows from ``NAME|LIMIT`` of ``sinfo``; "" is the default's."""
    limits = {}
    for line in text.splitlines():
        name, _, limit = line.partition("|")
        limits[name.rstrip("*")] = minutes_of(limit)
        if name.endswith("*"):
            limits[""] = minutes_of(limit)
    return limits


def minutes_of(limit: str) -> float:
    """Return the minutes of a time limit of Slurm: ``[DAYS-]HOURS:MINUTES:SECONDS``, ``infinite``."""
    if not re.fullmatch(r"(\d+-)?\d+(:\d+)+", limit):
        return float("inf")
    days, _, clock = limit.rpartition("-")
    parts = [int(part) for part in clock.split(":")]
    hours, minutes, seconds = [0] * (3 - len(parts)) + parts
    return (int(days or 0) * 24 + hours) * 60 + minutes + seconds / 60


def _time_problem(request: Request, limits: Mapping[str, float]) -> str:
    limit = limits.get(request.partition, float("inf"))
    if request.minutes <= limit:
        return ""
    place = f"partition {request.partition}" if request.partition else "the default partition"
    return (
        f"it asks for {request.minutes} minutes, and {place} allows {limit:g}; "
        f"name another (default-resources: slurm_partition), or set cluster.max_runtime to {limit:g}"
    )


def _slurms_problem(request: Request) -> str:
    """Return what Slurm says to a request, "" where it would be taken; nothing is submitted."""
    command = ["sbatch", "--test-only", f"--cpus-per-task={request.threads}", f"--mem={request.memory}"]
    command += [f"--time={request.minutes}"]
    command += [f"--partition={request.partition}"] * bool(request.partition)
    command += [f"--account={request.account}"] * bool(request.account)
    done = subprocess.run([*command, "--wrap=true"], capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    said = "".join(done.stderr.strip().splitlines()[-1:]).removeprefix("sbatch: error: ")
    asked = f"{request.threads} threads, {request.memory} MB and {request.minutes} minutes"
    return (
        f"it asks for {asked}, and sbatch says '{said}'; set cluster.max_threads or cluster.max_memory to "
        "what a node has, or correct partition, account and set-threads in the profile"
    )


def _refuse_leftovers(folder: Path) -> None:
    """Refuse a run beside jobs that an earlier one left in the queue: they would make the same files."""
    left = list(leftovers(_ask("squeue", "--me", "--noheader", "--format=%i|%j|%Z"), folder))
    if left:
        ids = ", ".join(job for job, _ in left[:_SHOWN]) + (" ..." if len(left) > _SHOWN else "")
        runs = ",".join(dict.fromkeys(run for _, run in left))
        raise InputError(
            f"{len(left)} jobs of an earlier run in this folder are still in the queue ({ids}); wait for "
            f"them (squeue --name {runs}) or end them (scancel --name {runs}), then run this command again"
        )


def leftovers(text: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield number and run of each job of Snakemake in a folder from ``NUMBER|NAME|FOLDER`` of ``squeue``."""
    for line in text.splitlines():
        number, name, place = line.split("|", 2)
        if _RUN.fullmatch(name) and Path(place).resolve() == folder.resolve():
            yield number, name


def _configuration() -> dict[str, str]:
    pairs = (line.split("=", 1) for line in _ask("scontrol", "show", "config").splitlines() if "=" in line)
    return {key.strip(): value.strip() for key, value in pairs}


def _ask(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise InputError(
            f"there is no command {command[0]}; start the run where Slurm's commands are"
        ) from error
    if done.returncode:
        raise InputError(f"{' '.join(command)}: {done.stderr.strip()}; start the run where Slurm answers")
    return done.stdout
