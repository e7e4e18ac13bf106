"""Measure the resources of a step, and summarize those of the jobs of a run by rule."""

import fcntl
import os
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, write_text
from biaslab.run.record.notes import made_jobs

RESOURCES = "logs/resources.tsv"
"""Path of the table in a results folder: next to the logs, because times differ between machines."""

COLUMNS = ("area", "rule", "jobs", "measured_jobs", "core_hours", "median_seconds", "longest_seconds")
COLUMNS += ("largest_memory_mb",)
_COSTS = ("s", "max_rss", "cpu_time")
_LOGS, _BENCHMARKS = "/results/logs/", "/results/benchmarks/"
_UNITS_IN_MB = 2**20 if sys.platform == "darwin" else 2**10  # units of ``ru_maxrss`` in a megabyte
_AUDIT = {"audit/audit": "audit"}  # this job runs while the table is written


class Cost(NamedTuple):
    """The resources that a job used."""

    seconds: float
    memory_mb: float
    core_seconds: float


def note_cost(began: float) -> None:
    """Write the resources of a step, which began at a `time.monotonic`, next to its log (standard error).

    The numbers include finished child processes.
    """
    before, is_log, name = _standard_error().rpartition(_LOGS)
    if not is_log or not name.endswith(".log"):
        return
    seconds = time.monotonic() - began
    usages = [resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    memory = max(usage.ru_maxrss for usage in usages) / _UNITS_IN_MB
    processor = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    file = f"{before}{_BENCHMARKS}{name.removesuffix('.log')}.tsv"
    columns = "\t".join(_COSTS)
    write_text(file, f"{columns}\n{seconds:.2f}\t{memory:.1f}\t{processor:.2f}\n")


def _standard_error() -> str:
    """Return the file of standard error; "" if it has no name."""
    try:
        if sys.platform == "darwin":
            return fcntl.fcntl(2, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
        return os.readlink("/proc/self/fd/2")
    except (OSError, UnicodeDecodeError):
        return ""


def write_resources(results: Path) -> None:
    """Write core-hours, seconds and memory of the jobs that a run has executed here, by rule.

    Rules are sorted by decreasing core-hours. Rules without measurement come last, with empty fields.
    """
    rows = [_row(*place, costs) for place, costs in sorted(job_costs(results).items())]
    rows.sort(key=lambda row: -float(row[4] or -1))
    write_text(results / RESOURCES, "".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]))


def job_costs(results: Path) -> dict[tuple[str, str], list[Cost | None]]:
    """Return the costs of the jobs that ran here, by area and rule; None for a job without measurement."""
    costs = defaultdict(list)
    for name, rule in sorted((made_jobs(results) | _AUDIT).items()):
        file = results / "benchmarks" / f"{name}.tsv"
        costs[name.partition("/")[0], rule].append(_read(file))
    return dict(costs)


def _read(file: Path) -> Cost | None:
    try:
        _, row = read_text_table(file, _COSTS)[-1]
        return Cost(*(float(row[column]) for column in _COSTS))
    except (InputError, IndexError, ValueError):  # a missing measurement must not prevent the manifest
        return None


def _row(area: str, rule: str, costs: list[Cost | None]) -> list[str]:
    measured = [cost for cost in costs if cost is not None]
    row = [area, rule, str(len(costs)), str(len(measured))]
    if not measured:
        return [*row, "", "", "", ""]
    seconds = [cost.seconds for cost in measured]
    hours = sum(cost.core_seconds for cost in measured) / 3600
    row += [f"{hours:.5f}", f"{median(seconds):.2f}", f"{max(seconds):.2f}"]
    return [*row, f"{max(cost.memory_mb for cost in measured):.1f}"]
