"""Add the log and the deployment environment to every rule."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from biaslab.run.prefix import RESULTS


def complete_rules(rules: Iterable[Any], folder: str, environment: str) -> None:
    """Add the default log and environment to rules that have a shell command and define none.

    Parameters
    ----------
    folder : str
        The results folder, from `biaslab.run.prefix.limit_prefix`.
    environment : str
        The environment file, relative to the files of the rules.
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

    Parameters
    ----------
    output : str
        First output of the rule, relative to the results: AREA/[{UNIT}/]... Further parts with wildcards
        distinguish its jobs.
    """
    area, *parts = PurePosixPath(output).with_suffix("").parts
    unit = parts[:1] if "{" in parts[0] else []
    others = [part for part in parts[len(unit) :] if "{" in part]
    return f"{RESULTS}logs/{'/'.join([area, *unit, rule, *others])}.log"
