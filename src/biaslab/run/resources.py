"""What a run took, from the benchmark files of its jobs, and what a full grid would take at the same cost.

Of an area with a workload (`Area.workload`, a module) jobs are counted by what they deal with, so that a full
grid can be projected; jobs of other areas count as they are.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_tsv
from biaslab.core.tables import Table, text_columns
from biaslab.run.area import ALL, Area
from biaslab.run.schedule import Task, makespan

_COLUMNS = ("s", "max_rss", "cpu_time")
_HOUR, _BYTES_IN_GB = 3600, 1e9
_TOTAL = "total"
_MEASURED_NOTE = (
    "From what each step wrote when it ended. Core-hours: processor time of all threads. Wall-clock hours: "
    "summed over jobs, on a machine that may do other work. Memory: the largest resident set of a job, with "
    "the libraries that it may share with others. Disk: the files of a unit; of rules that train embeddings, "
    "these. Of a job that was killed and resumed only the last start is measured."
)
_PROJECTED_NOTE = (
    "The median core-hours per unit of work (what jobs are counted by) of the measured jobs of each rule, "
    "times the units of the full grid; rules that were not measured are missing. Scaled: times what a unit "
    "of work costs more in the full grid, by the epochs of a training. Memory: the largest measured. Rules "
    "counted by jobs or tests also grow with the number of embeddings they read, which is not extrapolated."
)
_SCHEDULED_NOTE = (
    "The full grid on so many cores, simulated: every job on one core, for the core-hours of the projection "
    "and {start:g} seconds of starting; a free core takes the job that most waits for. Held: the cores, all "
    "the time. Efficiency: used by held. Memory: of all cores, each with the largest job."
)

START_SECONDS = 10
"""What a job of a cluster takes before its step begins."""


class Work(NamedTuple):
    """What a job is counted by, and how many of these it deals with."""

    kind: str
    count: int


ONCE = Work("job", 1)


def read_jobs(results: Path, areas: Sequence[Area], config: Mapping[str, Any]) -> pd.DataFrame:
    """Read what every job of a run took from ``benchmarks`` in its results; seconds are of wall clock."""
    folder = results / "benchmarks"
    loads = {area.name: _workload(area) for area in areas if area.workload}
    settings = {name: load.settings(config) for name, load in loads.items()}
    rows = []
    for path in sorted(folder.rglob("*.tsv")):
        area, unit, rule, parts = _place(path.relative_to(folder).with_suffix("").parts)
        known = settings.get(area, {}).get(unit)
        work = ONCE if known is None else loads[area].work(parts, known)
        seconds, memory, core_seconds = read_tsv(path, _COLUMNS)[list(_COLUMNS)].astype(float).iloc[-1]
        rows.append((area, unit, rule, *work, seconds, core_seconds, memory))
    if not rows:
        raise InputError(f"{folder}: no benchmark file (.tsv); name the results folder of a run")
    columns = ["area", "unit", "rule", "work", "count", "seconds", "core_seconds", "memory_mb"]
    return pd.DataFrame(rows, columns=columns)


def measured_resources(jobs: pd.DataFrame, results: Path, areas: Sequence[Area]) -> Table:
    """Add up what a run took, by rule, and the sizes of its files."""
    loads = {area.name: _workload(area) for area in areas if area.workload}
    rows = []
    for (area, unit, rule), part in jobs.groupby(["area", "unit", "rule"], sort=False):
        disk = loads[area].disk_bytes(rule, results / area / unit) if area in loads else float("nan")
        rows.append(
            {
                "area": area,
                "unit": unit,
                "rule": rule,
                "jobs": len(part),
                "core_hours": part["core_seconds"].sum() / _HOUR,
                "wall_hours": part["seconds"].sum() / _HOUR,
                "memory_mb": part["memory_mb"].max(),
                "disk_gb": disk / _BYTES_IN_GB,
            }
        )
    data = _with_totals(pd.DataFrame(rows), ["jobs", "core_hours", "wall_hours"])
    is_total = (data["rule"] == _TOTAL) & (data["unit"] != ALL)
    folders = [results / row.area / row.unit for row in data[is_total].itertuples()]
    data.loc[is_total, "disk_gb"] = [size_of(folder) / _BYTES_IN_GB for folder in folders]
    shown = {"Area": "{area}", "Unit": "{unit}", "Rule": "{rule}", "Jobs": "{jobs}"}
    shown |= {"Core-hours": "{core_hours:.3f}", "Wall-clock hours": "{wall_hours:.3f}"}
    shown |= {"Memory (MB)": "{memory_mb:.0f}", "Disk (GB)": "{disk_gb:.3f}"}
    return Table(data, text_columns(data, shown), "What the run took", _MEASURED_NOTE)


def projected_resources(
    jobs: pd.DataFrame, results: Path, areas: Sequence[Area], run: Mapping[str, Any], full: Mapping[str, Any]
) -> Table:
    """Project what a full grid would take from what a smaller run of the same units took.

    Areas without a workload are left out; `run` and `full` are complete configurations.
    """
    rows = []
    for area in areas:
        if area.workload:
            load = _workload(area)
            measured = load.settings(run) if area.name in run["areas"] else {}
            for unit, settings in load.settings(full).items():
                if unit not in measured:
                    near = suggest(unit, measured)
                    raise InputError(f"{area.labels[0]} {unit} was not run{near}; run a part of it first")
                of_unit = jobs[(jobs["area"] == area.name) & (jobs["unit"] == unit)]
                rows += _project(of_unit, load, results / area.name / unit, measured[unit], settings)
    if not rows:
        raise InputError("no area of this configuration can be projected; name one that trains embeddings")
    data = _with_totals(pd.DataFrame(rows), ["jobs", "core_hours", "core_hours_scaled", "disk_gb"])
    shown = {"Area": "{area}", "Unit": "{unit}", "Rule": "{rule}", "Jobs": "{jobs}"}
    shown |= {"Counted by": "{work}", "Count": "{count:.0f}", "Core-hours": "{core_hours:.3f}"}
    shown |= {"Cost of one, relative": "{factor:.3g}", "Core-hours, scaled": "{core_hours_scaled:.3f}"}
    shown |= {"Memory (MB)": "{memory_mb:.0f}", "Disk (GB)": "{disk_gb:.2f}"}
    return Table(data, text_columns(data, shown), "What the full grid would take", _PROJECTED_NOTE)


def scheduled_resources(
    projected: pd.DataFrame, tasks: Mapping[str, Task], slots: Sequence[int], start: float = START_SECONDS
) -> Table:
    """Simulate how long a projected grid takes on a cluster; each job waits `start` seconds for its step."""
    rules = projected[projected["rule"] != _TOTAL]
    sums = rules.groupby("rule")[["core_hours_scaled", "jobs"]].sum()
    seconds = (sums["core_hours_scaled"] / sums["jobs"] * _HOUR + start).to_dict()
    used = sums["core_hours_scaled"].sum()
    data = pd.DataFrame({"cores": slots})
    data["hours"] = [makespan(tasks, seconds, n) / _HOUR for n in slots]
    data["core_hours_held"] = data["cores"] * data["hours"]
    data["core_hours_used"] = used
    data["efficiency"] = used / data["core_hours_held"]
    data["memory_gb"] = data["cores"] * rules["memory_mb"].max() / 1000
    shown = {"Cores": "{cores}", "Hours": "{hours:.2f}"}
    shown |= {"Core-hours held": "{core_hours_held:.1f}", "Core-hours used": "{core_hours_used:.1f}"}
    shown |= {"Efficiency": "{efficiency:.3f}", "Memory (GB)": "{memory_gb:.0f}"}
    note = _SCHEDULED_NOTE.format(start=start)
    return Table(data, text_columns(data, shown), "What the full grid would take on a cluster", note)


def size_of(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _workload(area: Area) -> ModuleType:
    return importlib.import_module(area.workload)


def _place(parts: tuple[str, ...]) -> tuple[str, str, str, tuple[str, ...]]:
    """Return area, unit, rule and what distinguishes the job, from the path of its benchmark file."""
    if parts[0] == "datasets":
        return parts[0], ALL, "fetch_dataset", ()
    if len(parts) == 2:
        return parts[0], ALL, parts[1], ()
    return parts[0], parts[1], parts[2], parts[3:]


def _project(
    jobs: pd.DataFrame,
    load: ModuleType,
    folder: Path,
    measured: Mapping[str, Any],
    full: Mapping[str, Any],
) -> Iterator[dict[str, object]]:
    works = load.grid_work(full)
    for (area, unit, rule), part in jobs.groupby(["area", "unit", "rule"], sort=False):
        kind = part["work"].iloc[0]
        count, n_jobs = works[kind]
        hours = (part["core_seconds"] / part["count"]).median() * count / _HOUR
        factor = load.factor(rule, measured, full)
        yield {
            "area": area,
            "unit": unit,
            "rule": rule,
            "jobs": n_jobs,
            "work": kind,
            "count": count,
            "core_hours": hours,
            "factor": factor,
            "core_hours_scaled": hours * factor,
            "memory_mb": part["memory_mb"].max(),
            "disk_gb": load.disk_bytes(rule, folder) / _BYTES_IN_GB / part["count"].sum() * count,
        }


def _with_totals(table: pd.DataFrame, sums: list[str]) -> pd.DataFrame:
    """Put the costliest rules of a unit first, and last a row with sums and the largest memory."""
    places = ["area", "unit"]
    ordered = table.sort_values([*places, "core_hours", "rule"], ascending=[True, True, False, True])
    groups = ordered.groupby(places)
    totals = groups[sums].sum().assign(memory_mb=groups["memory_mb"].max(), rule=_TOTAL).reset_index()
    return pd.concat([ordered, totals]).sort_values(places, kind="stable", ignore_index=True)
