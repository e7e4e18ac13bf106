"""How long a run may take: as its jobs took here or in the recorded default, laid out over the cores."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.run.resources import read_jobs
from biaslab.run.schedule import Task, makespan

RECORDED = "workflow/resources/seconds.tsv"
"""What jobs took in the recorded default, as `job_seconds` returns it; its first row is of `loop`."""

LOOP = "loop"
_STEPS = 3_000_000
_REPORT = "report"
"""All steps that make tables and figures are one rule here: each takes as long as its start."""


class Expected(NamedTuple):
    """The seconds that jobs may take, how many they are, and how many of these are of rules measured here."""

    seconds: float
    jobs: int
    here: int


def loop() -> float:
    """Return how many seconds a loop of Python takes, the shortest of three: how fast this machine is."""
    times = []
    for _ in range(3):
        start, total = time.perf_counter(), 0
        for i in range(_STEPS):
            total += i * i
        times.append(time.perf_counter() - start)
    return min(times)


def job_seconds(results: Path) -> pd.DataFrame:
    """Return the jobs of each rule that ran, by area, and the mean seconds of one, as of one thread.

    That is the processor time, or where it is longer, the time on the clock.
    """
    try:
        jobs = read_jobs(results, (), {})
    except InputError:  # nothing has run
        return pd.DataFrame(columns=["area", "rule", "jobs", "seconds"])
    jobs["rule"] = jobs["rule"].where(jobs["unit"] != _REPORT, _REPORT)
    jobs["one"] = jobs[["seconds", "core_seconds"]].max(axis=1)
    found = jobs.groupby(["area", "rule"])["one"].agg(["size", "mean"]).reset_index()
    return found.set_axis(["area", "rule", "jobs", "seconds"], axis=1)


def expect(tasks: Mapping[str, Task], here: pd.DataFrame, recorded: pd.DataFrame, slots: int) -> Expected:
    """Lay the jobs out over cores, each as long as those of its rule took here, or else where recorded.

    The recorded seconds are those of a machine that may be faster or slower; a job of a rule that neither
    knows counts as one second.
    """
    speed = recorded["seconds"].iloc[0] / loop()
    known = {rule: seconds / speed for rule, seconds in _by_rule(recorded[1:]).items()}
    measured = _by_rule(here)
    known |= measured
    named = {number: Task(_rule(task.rule), task.after) for number, task in tasks.items()}
    rules = [task.rule for task in named.values()]
    seconds = makespan(named, dict.fromkeys(rules, 1.0) | known, slots)
    return Expected(seconds, len(rules), sum(rule in measured for rule in rules))


def describe(expected: Expected, slots: int) -> Iterator[str]:
    """Yield what a person is told, in lines."""
    minutes = expected.seconds / 60
    taken = f"{minutes / 60:.1f} hours" if minutes > 100 else f"{max(minutes, 1):.0f} min"
    yield f"{expected.jobs} jobs, some {taken} at {slots} at a time"
    if elsewhere := expected.jobs - expected.here:
        yield (
            f"{elsewhere} of them as long as in the recorded default, at the speed of this machine; more data"
            " and larger settings take longer, less and smaller ones less. Jobs that have run here count as"
            " they did here"
        )


def read_recorded(path: Path) -> pd.DataFrame:
    """Read what jobs took in the recorded default."""
    return read_tsv(path, ("area", "rule", "jobs", "seconds"))


def _by_rule(table: pd.DataFrame) -> dict[str, float]:
    """Return the mean seconds of a job; a rule of several areas has one."""
    total = (table["jobs"] * table["seconds"]).groupby(table["rule"]).sum()
    return (total / table.groupby("rule")["jobs"].sum()).to_dict()


def _rule(name: str) -> str:
    return _REPORT if name.startswith(f"{_REPORT}_") else name
