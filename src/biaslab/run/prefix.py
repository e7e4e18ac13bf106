"""Apply the ``prefix`` of a Snakemake module, in a workflow that uses this workflow, to the results.

Snakemake adds the prefix to all relative paths of inputs and outputs, but to no parameter. This module adds
the prefix only to results, also in parameters, and not to files of users and of this repository.
"""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

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
    return _wrap_function(value, folder) if callable(value) else value


def _wrap_function(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return _replace_folder(function(*arguments, **keywords), folder)

    return run
