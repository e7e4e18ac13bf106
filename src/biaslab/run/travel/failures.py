"""Record failed steps and the results that depend on them.

Snakemake continues without failed steps (``--keep-going``). At its end `note_failures` writes lost results to
`FILE`, a configuration with the single key `FAILED`. A run with this overlay writes tables of the available
results, and an audit that lists missing results with reasons.
"""

import contextlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from biaslab.core.files import write_json
from biaslab.run import FAILED
from biaslab.run.plan.plan import Plan, listed
from biaslab.run.record.manifest import AUDIT, STALE, read_stale
from biaslab.run.travel.crate.contents import is_shown

FILE = Path("results/logs/failed.json")  # the file of the lost results of a run

_STALE = Path("results") / STALE
_TAIL = 1 << 16  # bytes at the end of a log that contain its last line
_LENGTH = 300  # maximum characters of this line


def note_failures(workflow: Any, plan: Plan, results: str) -> list[str]:
    """Record the results lost to failed steps; return a line for each failed step.

    No file is deleted: results of an earlier run stay. Tables, audit and manifest of this run omit them.
    A run without audit only returns the lost results and does not record them.
    """
    dag, lines, has_audit = workflow.dag, [], False
    stale: set[str] = set(read_stale(Path("results")))
    lost = {reason: list(files) for reason, files in plan.config[FAILED].items()}
    failed = [job for entry in workflow.scheduler.failed for job in getattr(entry, "jobs", [entry])]
    failed = [job for job in failed if not dag.finished(job)]
    for job in sorted(failed, key=lambda job: (job.rule.name, list(map(str, job.output)))):
        dependents = [other for other in dag.bfs(dag.depending, job) if dag.needrun(other)]
        files = [str(file) for other in dependents for file in other.output]
        has_audit |= any(file.startswith(f"{results}/{AUDIT}") for file in files)
        reason = reason_of(job.rule.name, [Path(str(log)) for log in job.log])
        missing = _lost_files(job, dependents, plan, results)
        lines += describe({reason: missing})
        if missing:
            lost[reason] = missing
        stale |= {name for file in files if not is_shown(name := _below(file, results))}
    with contextlib.suppress(OSError):  # a full disk: return the lines nevertheless
        if has_audit:
            write_json(_STALE, sorted(stale))
            write_json(FILE, {FAILED: lost})
    return lines


def forget() -> None:
    """Delete the records of an earlier run."""
    for file in (FILE, _STALE):
        file.unlink(missing_ok=True)


def _lost_files(job: Any, jobs: Sequence[Any], plan: Plan, results: str) -> list[str]:
    """Return the lost results of areas that tables and figures read, relative to `results`.

    Tables and figures themselves are lost only if their own step failed; otherwise they omit missing results.
    """
    outputs = {_below(file, results) for other in jobs for file in other.output}
    ends = {_below(file, results) for other in jobs if _is_shown(other, results) for file in other.input}
    own = {_below(file, results) for file in job.output} if _is_shown(job, results) else set()
    lost = {file for file in outputs & ends if not is_shown(file)} | own
    return sorted(file for file in lost if file.partition("/")[0] in plan.units)


def _is_shown(job: Any, results: str) -> bool:
    return bool(job.output) and all(is_shown(_below(file, results)) for file in job.output)


def _below(file: Any, results: str) -> str:
    return str(file).removeprefix(f"{results}/")


def reason_of(step: str, logs: Sequence[Path]) -> str:
    """Return the reason of a failure: the last line of the step's log, and the log's path."""
    log = next(iter(logs), None)
    if log is None:
        return f"step {step} failed"
    return f"step {step} failed: {last_line(log) or 'its log is empty'} ({log})"


def last_line(log: Path) -> str:
    """Return the last non-empty line of a log without unprintable characters; "" if there is none."""
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
    """Return a line for each failed step, with its lost results."""
    return [
        f"{reason}; the following results are missing: {listed(files)}" if files else reason
        for reason, files in lost.items()
    ]


def read_lost() -> dict[str, list[str]]:
    """Return the results that the last run in this folder lost, by reason; often none."""
    try:
        return json.loads(FILE.read_text(encoding="utf-8"))[FAILED]
    except (OSError, ValueError):
        return {}
