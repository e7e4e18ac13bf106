"""What the jobs of a run took, by rule, from what each of them noted when it ended (`biaslab.run.cost`)."""

from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import NamedTuple

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, write_text
from biaslab.run.notes import made_jobs

RESOURCES = "logs/resources.tsv"
"""The table, in a results folder: beside the logs, since times differ from machine to machine."""

COLUMNS = ("area", "rule", "jobs", "measured_jobs", "core_hours", "median_seconds", "longest_seconds")
COLUMNS += ("largest_memory_mb",)
_COSTS = ("s", "max_rss", "cpu_time")
_MANIFEST = {"audit/write_manifest": "write_manifest"}  # which runs while the table is written


class Cost(NamedTuple):
    """What a job took."""

    seconds: float
    memory_mb: float
    core_seconds: float


def write_resources(results: Path) -> None:
    """Write core-hours, seconds and memory of the jobs that a run has made here, by rule.

    The rules that took most come first, those of which nothing was measured last, with empty fields.
    """
    rows = [_row(*place, costs) for place, costs in sorted(job_costs(results).items())]
    rows.sort(key=lambda row: -float(row[4] or -1))
    write_text(results / RESOURCES, "".join("\t".join(row) + "\n" for row in [COLUMNS, *rows]))


def job_costs(results: Path) -> dict[tuple[str, str], list[Cost | None]]:
    """Return what each job took that was made here, by area and rule; None where a job has noted nothing."""
    found = defaultdict(list)
    for name, rule in sorted((made_jobs(results) | _MANIFEST).items()):
        file = results / "benchmarks" / f"{name}.tsv"
        found[name.partition("/")[0], rule].append(_read(file))
    return dict(found)


def _read(file: Path) -> Cost | None:
    try:
        _, row = read_text_table(file, _COSTS)[-1]
        return Cost(*(float(row[column]) for column in _COSTS))
    except (InputError, IndexError, ValueError):  # no measurement, which must not cost the manifest
        return None


def _row(area: str, rule: str, costs: list[Cost | None]) -> list[str]:
    known = [cost for cost in costs if cost is not None]
    row = [area, rule, str(len(costs)), str(len(known))]
    if not known:
        return [*row, "", "", "", ""]
    seconds = [cost.seconds for cost in known]
    hours = sum(cost.core_seconds for cost in known) / 3600
    row += [f"{hours:.5f}", f"{median(seconds):.2f}", f"{max(seconds):.2f}"]
    return [*row, f"{max(cost.memory_mb for cost in known):.1f}"]
