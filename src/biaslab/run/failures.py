"""Steps that failed: which results they cost, and what is said of them.

Snakemake runs on without them (``--keep-going``). At its end `note_failures` writes what is lost to `FILE`,
which is a configuration with the one key `FAILED`: laid over that of the run, it makes the tables of what
there is, and an audit that says what is missing and why.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.files import write_json
from biaslab.run import FAILED
from biaslab.run.crate.contents import is_shown
from biaslab.run.manifest import STALE
from biaslab.run.plan import Plan, listed

FILE = Path("results/logs/failed.json")
"""Where a run notes what it lost."""

_STALE = Path("results") / STALE
_AUDIT = "audit/claims.tsv"
_TAIL = 1 << 16  # bytes of a log that are looked through for its last line
_LENGTH = 300  # characters of that line


def note_failures(workflow: Any, plan: Plan, results: str) -> list[str]:
    """Note what was lost with the steps that failed; return a line for each of them.

    No file is deleted: results of an earlier run stay. They are not this run's, so that its tables, audit and
    manifest leave them out. Where no audit was asked for, what is lost is only named.
    """
    dag, said, asks_audit = workflow.dag, [], False
    stale: set[str] = set(_read_stale())
    lost = {reason: list(files) for reason, files in plan.config[FAILED].items()}
    for job in _failed(workflow):
        behind = [other for other in dag.bfs(dag.depending, job) if dag.needrun(other)]
        files = [str(file) for other in behind for file in other.output]
        asks_audit |= f"{results}/{_AUDIT}" in files
        reason = reason_of(job.rule.name, [Path(str(log)) for log in job.log])
        missing = _lost_files(job, behind, plan, results)
        said += describe({reason: missing})
        if missing:
            lost[reason] = missing
        stale |= {name for file in files if not is_shown(name := _below(file, results))}
    with contextlib.suppress(OSError):  # a full disk: the lines are said all the same
        if asks_audit:
            write_json(_STALE, sorted(stale))
            write_json(FILE, {FAILED: lost})
    return said


def forget() -> None:
    """Delete what an earlier run noted."""
    for file in (FILE, _STALE):
        file.unlink(missing_ok=True)


def _read_stale() -> list[str]:
    try:
        return json.loads(_STALE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []


def _lost_files(job: Any, behind: Sequence[Any], plan: Plan, results: str) -> list[str]:
    """Return the areas' results that cannot be made, relative to `results`, of those that are shown or kept.

    Tables and figures are made of what there is, unless it was their own step that failed.
    """
    made = {_below(file, results) for other in behind for file in other.output}
    ends = {_below(file, results) for other in behind if _is_shown(other, results) for file in other.input}
    own = {_below(file, results) for file in job.output} if _is_shown(job, results) else set()
    found = {file for file in made & ends if not is_shown(file)} | own
    return sorted(file for file in found if file.partition("/")[0] in plan.units)


def _is_shown(job: Any, results: str) -> bool:
    return bool(job.output) and all(is_shown(_below(file, results)) for file in job.output)


def _below(file: Any, results: str) -> str:
    return str(file).removeprefix(f"{results}/")


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
    """Return a line for each failed step, with what it cost."""
    return [
        f"{reason}; without it there is no {listed(files)}" if files else reason
        for reason, files in lost.items()
    ]


def read_lost() -> dict[str, list[str]]:
    """Return the results that the last run in this folder lost, by what failed; often none."""
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))[FAILED]
    except (OSError, ValueError):
        return {}


def _failed(workflow: Any) -> list[Any]:
    """Return the jobs that failed, in an order that does not depend on when they did."""
    jobs = [job for each in workflow.scheduler.failed for job in getattr(each, "jobs", [each])]
    unfinished = [job for job in jobs if not workflow.dag.finished(job)]
    return sorted(unfinished, key=lambda job: (job.rule.name, list(map(str, job.output))))
