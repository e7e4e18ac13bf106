"""What every rule has and none says: its log, and the environment that its step is deployed in."""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from biaslab.run.prefix import RESULTS


def complete_rules(rules: Iterable[Any], folder: str, environment: str) -> None:
    """Give the rules that call something the log and the environment that they do not name themselves.

    Parameters
    ----------
    folder : str
        The results, from `biaslab.run.prefix.limit_prefix`.
    environment : str
        The file of the environment, relative to the files of the rules.
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
    """Return the log of a rule: AREA/[UNIT/]RULE[/...].log, below the logs.

    Parameters
    ----------
    output : str
        Its first output, relative to the results: AREA/[{UNIT}/]...; further parts with wildcards tell its
        jobs apart.
    """
    area, *parts = PurePosixPath(output).with_suffix("").parts
    unit = parts[:1] if "{" in parts[0] else []
    others = [part for part in parts[len(unit) :] if "{" in part]
    return f"{RESULTS}logs/{'/'.join([area, *unit, rule, *others])}.log"
