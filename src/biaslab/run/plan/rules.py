"""Prepare the rules of the workflow: their logs, limits of resources, and the prefix of a Snakemake module.

Snakemake adds the prefix of a module to all relative paths of inputs and outputs, but to no parameter.
`limit_prefix` and `move_results` add the prefix only to results, also in parameters, and not to files of
users and of this repository.
"""

import functools
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from biaslab.core.files import write_json
from biaslab.run.record.manifest import CLAIMS, PLANNED


def complete_rules(rules: Iterable[Any], folder: str, environment: str) -> None:
    """Add the default log and environment to rules that have a shell command and define none.

    `folder` is the results folder, from `limit_prefix`; the environment file is relative to the rules' files.
    """
    from snakemake.io import strip_wildcard_constraints

    for rule in rules:
        if not rule.shellcmd:
            continue
        if not rule.log:
            rule.log_modifier = rule.output_modifier
            rule.set_log(log_of(rule.name, strip_wildcard_constraints(rule.output[0]).removeprefix(folder)))
        if not rule.conda_env:
            rule.conda_env = environment


def log_of(rule: str, output: str) -> str:
    """Return the log of a rule: AREA/[UNIT/]RULE[/...].log, below the log folder.

    `output` is its first output below the results, AREA/[{UNIT}/]...; parts with wildcards distinguish jobs.
    """
    area, *parts = PurePosixPath(output).with_suffix("").parts
    unit = parts[:1] if "{" in parts[0] else []
    others = [part for part in parts[len(unit) :] if "{" in part]
    return f"{RESULTS}logs/{'/'.join([area, *unit, rule, *others])}.log"


@dataclass(frozen=True)
class Limits:
    """Upper limits for each step; None for no limit."""

    max_threads: int | None
    max_memory: int | None  # megabytes
    max_runtime: int | None  # minutes
    cores: int | None  # of this machine, shared by the steps; None on a cluster

    def threads(self, wanted: int) -> int:
        """Return the threads of a parallel step: on this machine at most half of the cores.

        A step that needs all cores would wait until no other step runs. This never happens while steps of one
        thread can start.
        """
        shared = wanted if self.cores is None else max(1, self.cores // 2)
        return _smallest(wanted, shared, self.max_threads)

    def memory(self, megabytes: int) -> Callable[[object, int], int]:
        """Return the function for Snakemake that doubles the memory of a step at each retry."""
        return lambda wildcards, attempt: _smallest(megabytes * 2 ** (attempt - 1), self.max_memory)

    def minutes(self, most: int) -> int:
        """Return the time limit of a step in minutes."""
        return _smallest(most, self.max_runtime)


def _smallest(*numbers: int | None) -> int:
    return min(number for number in numbers if number is not None)


RESULTS = "results/"

_NAMED = re.compile(r"(?<![\w./-])results/")


def limit_prefix(workflow: Any) -> str:
    """Restrict the prefix of a module, if any, to the results; return their folder with a slash."""
    modifier = workflow.modifier
    folder = modifier.path_modifier.replace_prefix(RESULTS)
    if folder != RESULTS:
        modifier.path_modifier = type(modifier.path_modifier)({RESULTS: folder}, None, workflow)
    return folder


def move_results(rules: Iterable[Any], folder: str) -> None:
    """Replace the results folder in the parameters of rules by `folder`, from `limit_prefix`."""
    if folder == RESULTS:
        return
    for rule in rules:
        for name, value in list(rule.params.items()):
            setattr(rule.params, name, _replace_folder(value, folder))


def _replace_folder(value: Any, folder: str) -> Any:
    """Return a parameter, or the function that computes it, with the new folder."""
    if type(value) is str:  # exclude subclasses from Snakemake, which have the prefix already
        return _NAMED.sub(folder, value)
    if isinstance(value, list):
        return [_replace_folder(part, folder) for part in value]
    if not callable(value):
        return value

    @functools.wraps(value)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return _replace_folder(value(*arguments, **keywords), folder)

    return run


def write_planned(workflow: Any, folder: str) -> None:
    """Write the list of all results of the planned jobs, if these include the audit."""
    outputs = {str(file) for job in workflow.dag.jobs for file in job.output}
    if f"{folder}{CLAIMS}" in outputs:
        names = (file.removeprefix(folder) for file in outputs if file.startswith(folder))
        write_json(Path(folder, PLANNED), sorted(names))


def cancel_timers() -> None:
    """Cancel the timers of Snakemake's job rate limit, because the process would wait for the last timer."""
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()
