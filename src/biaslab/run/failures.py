"""Steps that failed: which units of which areas they cost, and what is said of them.

Snakemake runs on without them (``--keep-going``). At its end `note_failures` writes what is lost to `FILE`,
which is a configuration with the one key `FAILED`: laid over that of the run, it makes the tables of other
units, and an audit that says why these are missing.
"""

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.files import write_json
from biaslab.run import FAILED
from biaslab.run.plan import Plan

FILE = Path("results/logs/failed.json")
"""Where a run notes what it lost."""

_AUDIT = "audit/claims.tsv"
_TAIL = 1 << 16  # bytes of a log that are looked through for its last line
_LENGTH = 300  # characters of that line


def note_failures(workflow: Any, plan: Plan, results: str) -> list[str]:
    """Note what was lost with the steps that failed, and delete what is older than they are.

    The results of an earlier run that depend on a failed step are out of date, and must not be taken for this
    run's. Where no audit was asked for, the units are only named.
    """
    dag, said, asks_audit = workflow.dag, [], False
    lost = {unit: list(reasons) for unit, reasons in plan.config[FAILED].items()}
    for job in _failed(workflow):
        behind = [other for other in dag.bfs(dag.depending, job) if dag.needrun(other)]
        files = [str(file) for other in behind for file in other.output]
        reason = reason_of(job.rule.name, [Path(str(log)) for log in job.log])
        units = lost_units(files, plan, results)
        for unit in units:
            lost.setdefault(unit, []).append(reason)
        said += describe({unit: [reason] for unit in units}) or [reason]
        asks_audit |= f"{results}/{_AUDIT}" in files
        for file in files:
            with contextlib.suppress(OSError):
                Path(file).unlink()
    with contextlib.suppress(OSError):  # a full disk: the lines are said all the same
        if asks_audit:
            write_json(FILE, {FAILED: lost})
    return said


def lost_units(files: Iterable[str], plan: Plan, results: str = "results") -> list[str]:
    """Return the units, as ``AREA/UNIT``, that are not whole without some files.

    Tables and figures are made of what there is. Where they alone are missing, all units of their area count.
    """
    missing = set(files)
    lost, without_tables = [], []
    for area in plan.areas:
        tables = {f"{results}/{area.name}/{file}" for made in plan.made(area) for file in made.files}
        names = [unit.name for unit in plan.whole(area)]
        folders = {name: area.folder(name, results) + "/" for name in names}
        lost += [f"{area.name}/{n}" for n in names if any(f.startswith(folders[n]) for f in missing - tables)]
        without_tables += [f"{area.name}/{name}" for name in names if missing & tables]
    return lost or without_tables


def reason_of(step: str, logs: Sequence[Path]) -> str:
    """Return what happened to a step: the last line of its log, and where that lies."""
    log = next(iter(logs), None)
    if log is None:
        return f"step {step} failed"
    return f"step {step} failed: {last_line(log) or 'its log is empty'} ({log})"


def last_line(log: Path) -> str:
    """Return the last line of a log, without what cannot be printed; "" where there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL))
            text = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = ["".join(c if c.isprintable() else " " for c in line).strip() for line in text.splitlines()]
    last = next(filter(None, reversed(lines)), "").removeprefix("biaslab: ")
    return last if len(last) <= _LENGTH else f"{last[:_LENGTH]} ..."


def describe(lost: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each failed step, with the units that it cost."""
    units: dict[str, list[str]] = {}
    for unit, reasons in lost.items():
        for reason in reasons:
            units.setdefault(reason, []).append(unit)
    return [f"{reason}; without it there is no {', '.join(names)}" for reason, names in units.items()]


def read_lost() -> dict[str, list[str]]:
    """Return the units that the last run in this folder lost, each with what failed; often none."""
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))[FAILED]
    except (OSError, ValueError):
        return {}


def _failed(workflow: Any) -> list[Any]:
    """Return the jobs that failed, in an order that does not depend on when they did."""
    jobs = [job for each in workflow.scheduler.failed for job in getattr(each, "jobs", [each])]
    unfinished = [job for job in jobs if not workflow.dag.finished(job)]
    return sorted(unfinished, key=lambda job: (job.rule.name, list(map(str, job.output))))
