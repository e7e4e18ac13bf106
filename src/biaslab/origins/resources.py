"""What a run took, from the benchmark files of its jobs, and what a full grid would take at the same cost."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_tsv
from biaslab.core.tables import Table, text_columns
from biaslab.origins import grid

EVERY = "all"
"""The setup of jobs that serve all setups."""

ONCE, TEST, CORPUS, BASELINE, SET = "job", "test", "corpus", "baseline training", "retraining"
"""What a job is counted by: itself, the test or corpus (whole, or without a set) it is for, or trainings."""

_COLUMNS = ("s", "max_rss", "cpu_time")
_HOUR, _BYTES_IN_GB = 3600, 1e9
_BATCH, _TOTAL = "batch-", "total"
_GLOVE_RULES = ("train_baseline", "train_without_set")
_MEASURED_NOTE = (
    "From the benchmark files of Snakemake. Core-hours: processor time of all threads; of a job too short to "
    "be sampled its wall time. Wall-clock hours: summed over jobs, on a machine that may do other work. "
    "Memory: the largest resident set of a job. Disk: the files of a setup; at GloVe's trainings, those of "
    "their embeddings. Of a job that was killed and resumed only the last start is measured."
)
_PROJECTED_NOTE = (
    "The median core-hours per unit (what its jobs are counted by) of the measured jobs of each rule, times "
    "the units of the full grid; rules that were not measured are missing. Memory: the largest measured. "
    "Core-hours at the epochs of the grid: those of GloVe's trainings times the ratio of the epochs. Rules "
    "counted by jobs or tests also grow with the number of embeddings they read, which is not extrapolated."
)


class Unit(NamedTuple):
    """What a job is counted by (`ONCE`, `TEST`, …), and how many of these it deals with."""

    kind: str
    count: int


def read_jobs(results: Path, setups: Mapping[str, Mapping]) -> pd.DataFrame:
    """Read what every job of a run took.

    Parameters
    ----------
    results : path
        The results folder; its ``benchmarks`` are read.
    setups : mapping of str to mapping
        The complete configurations of the setups that were run, by name.

    Returns
    -------
    pandas.DataFrame
        A row a job: setup, rule, unit and units (see `Unit`), seconds (wall clock), core_seconds, memory_mb.

    Raises
    ------
    InputError
        When there is no benchmark file, or one lacks a column.
    """
    folder = results / "benchmarks"
    rows = []
    for path in sorted(folder.rglob("*.tsv")):
        setup, rule, parts = _place(path.relative_to(folder).with_suffix("").parts, setups)
        unit = _unit(parts, setups.get(setup))
        measured = read_tsv(path, _COLUMNS)[list(_COLUMNS)].apply(pd.to_numeric, errors="coerce").iloc[-1]
        seconds, memory, core_seconds = measured.fillna({"cpu_time": measured["s"]})
        rows.append((setup, rule, unit.kind, unit.count, seconds, core_seconds, memory))
    if not rows:
        raise InputError(f"{folder}: no benchmark file (.tsv); name the results folder of a run")
    columns = ["setup", "rule", "unit", "units", "seconds", "core_seconds", "memory_mb"]
    return pd.DataFrame(rows, columns=columns)


def _place(parts: tuple[str, ...], setups: Mapping) -> tuple[str, str, tuple[str, ...]]:
    """Return setup, rule and what distinguishes the job, from the path of its benchmark file."""
    if parts[0] == "datasets":
        return EVERY, "fetch_dataset", ()
    if parts[0] in setups and len(parts) > 1:
        return parts[0], parts[1], parts[2:]
    return EVERY, parts[0], parts[1:]


def _unit(parts: tuple[str, ...], setup: Mapping | None) -> Unit:
    """Return what a job is counted by; `parts` are those of its path after the rule."""
    if setup is None or not parts:
        return Unit(ONCE, 1)
    if not parts[-1].startswith(_BATCH):
        is_test, is_corpus = parts[0] in setup["bias"]["weats"], parts[0] in _corpora(setup)
        return Unit(TEST if is_test else CORPUS if is_corpus else ONCE, 1)
    name = parts[0] if len(parts) > 1 else grid.BASELINE
    batches, index = grid.batches_of(name, setup), int(parts[-1].removeprefix(_BATCH))
    count = batches[index].count if index < len(batches) else setup["trainings_per_job"]
    return Unit(BASELINE if name == grid.BASELINE else SET, count)


def _corpora(setup: Mapping) -> list[str]:
    return [grid.BASELINE, *grid.perturbation_sets(setup)]


def grid_units(setup: Mapping) -> dict[str, tuple[int, int]]:
    """Return how many units and jobs of each kind a rule of a setup has.

    Parameters
    ----------
    setup : mapping
        The setup's complete configuration.
    """
    n_tests, n_corpora = len(setup["bias"]["weats"]), len(_corpora(setup))
    counts = {ONCE: (1, 1), TEST: (n_tests, n_tests), CORPUS: (n_corpora, n_corpora)}
    retrained = grid.retrained_sets(setup)
    for kind, names in ((BASELINE, [grid.BASELINE]), (SET, retrained)):
        trainings = sum(grid.trainings_of(name, setup) for name in names)
        counts[kind] = (trainings, sum(len(grid.batches_of(name, setup)) for name in names))
    return counts


def measured_resources(jobs: pd.DataFrame, results: Path) -> Table:
    """Add up what a run took, by rule.

    Parameters
    ----------
    jobs : pandas.DataFrame
        What `read_jobs` returned.
    results : path
        The results folder, for the sizes of its files.
    """
    rows = []
    for (setup, rule), part in jobs.groupby(["setup", "rule"], sort=False):
        rows.append(
            {
                "setup": setup,
                "rule": rule,
                "jobs": len(part),
                "core_hours": part["core_seconds"].sum() / _HOUR,
                "wall_hours": part["seconds"].sum() / _HOUR,
                "memory_mb": part["memory_mb"].max(),
                "disk_gb": _embeddings_gb(results, setup, rule),
            }
        )
    data = _with_totals(pd.DataFrame(rows), ["jobs", "core_hours", "wall_hours"])
    is_total = (data["rule"] == _TOTAL) & (data["setup"] != EVERY)
    data.loc[is_total, "disk_gb"] = [_disk_gb(results / "origins" / s) for s in data.loc[is_total, "setup"]]
    shown = {"Setup": "{setup}", "Rule": "{rule}", "Jobs": "{jobs}", "Core-hours": "{core_hours:.3f}"}
    shown |= {"Wall-clock hours": "{wall_hours:.3f}", "Memory (MB)": "{memory_mb:.0f}"}
    shown["Disk (GB)"] = "{disk_gb:.3f}"
    return Table(data, text_columns(data, shown), "What the run took", _MEASURED_NOTE)


def projected_resources(
    jobs: pd.DataFrame, results: Path, measured: Mapping[str, Mapping], full: Mapping[str, Mapping]
) -> Table:
    """Project what a full grid would take from what a smaller run of the same setups took.

    Parameters
    ----------
    jobs : pandas.DataFrame
        What `read_jobs` returned.
    results : path
        The results folder, for the sizes of its files.
    measured, full : mapping of str to mapping
        The complete configurations of the setups, by name: those that were run, and those to project.

    Raises
    ------
    InputError
        When a setup to project was not run.
    """
    rows = [row for name in full for row in _project(name, jobs, results, measured, full[name])]
    data = _with_totals(pd.DataFrame(rows), ["jobs", "core_hours", "core_hours_at_epochs", "disk_gb"])
    shown = {
        "Setup": "{setup}",
        "Rule": "{rule}",
        "Jobs": "{jobs}",
        "Counted by": "{unit}",
        "Units": "{units:.0f}",
    }
    shown |= {
        "Epochs measured": "{epochs_measured:.0f}",
        "Core-hours, epochs as measured": "{core_hours:.3f}",
    }
    shown |= {"Epochs": "{epochs:.0f}", "Core-hours at these epochs": "{core_hours_at_epochs:.3f}"}
    shown |= {"Memory (MB)": "{memory_mb:.0f}", "Disk (GB)": "{disk_gb:.2f}"}
    return Table(data, text_columns(data, shown), "What the full grid would take", _PROJECTED_NOTE)


def _project(
    name: str, jobs: pd.DataFrame, results: Path, measured: Mapping[str, Mapping], full: Mapping
) -> Iterator[dict[str, object]]:
    if name not in measured:
        raise InputError(f"setup {name} was not run{suggest(name, measured)}; run a part of it first")
    units, epochs = grid_units(full), (measured[name]["glove"]["epochs"], full["glove"]["epochs"])
    for rule, part in jobs[jobs["setup"] == name].groupby("rule", sort=False):
        kind = part["unit"].iloc[0]
        n_units, n_jobs = units[kind]
        hours = (part["core_seconds"] / part["units"]).median() * n_units / _HOUR
        scale = epochs[1] / epochs[0] if rule in _GLOVE_RULES else 1
        disk = _embeddings_gb(results, name, rule) / part["units"].sum() * n_units
        yield {
            "setup": name,
            "rule": rule,
            "jobs": n_jobs,
            "unit": kind,
            "units": n_units,
            "epochs_measured": epochs[0],
            "core_hours": hours,
            "epochs": epochs[1],
            "core_hours_at_epochs": hours * scale,
            "memory_mb": part["memory_mb"].max(),
            "disk_gb": disk,
        }


def _with_totals(table: pd.DataFrame, sums: list[str]) -> pd.DataFrame:
    """Put the costliest rules of a setup first, and last a row with sums and the largest memory."""
    ordered = table.sort_values(["setup", "core_hours", "rule"], ascending=[True, False, True])
    groups = ordered.groupby("setup")
    totals = groups[sums].sum().assign(memory_mb=groups["memory_mb"].max(), rule=_TOTAL).reset_index()
    return pd.concat([ordered, totals]).sort_values("setup", kind="stable", ignore_index=True)


def _embeddings_gb(results: Path, setup: str, rule: str) -> float:
    """Return the size of the embeddings that a rule trains with GloVe; NaN for other rules."""
    if rule not in _GLOVE_RULES:
        return float("nan")
    folder = results / "origins" / setup / "embeddings"
    baselines = _disk_gb(folder / grid.BASELINE)
    return baselines if rule == _GLOVE_RULES[0] else _disk_gb(folder) - baselines


def _disk_gb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / _BYTES_IN_GB
