"""Results in another folder: what the ``prefix`` of a module asks for, in a workflow that uses this one.

Snakemake puts the prefix before all relative paths of inputs and outputs, and before no parameter. Here it
moves the results, in parameters, too, and leaves alone what users and this repository have.
"""

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

RESULTS = "results/"

_NAMED = re.compile(r"(?<![\w./-])results/")


def limit_prefix(workflow: Any) -> str:
    """Let the prefix of a module, if any, apply to the results alone; return their folder, with a slash."""
    modifier = workflow.modifier
    folder = modifier.path_modifier.replace_prefix(RESULTS)
    if folder != RESULTS:
        modifier.path_modifier = type(modifier.path_modifier)({RESULTS: folder}, None, workflow)
    return folder


def move_results(rules: Iterable[Any], folder: str) -> None:
    """Name the folder of the results, from `limit_prefix`, in the parameters of rules."""
    if folder == RESULTS:
        return
    for rule in rules:
        for name, value in list(rule.params.items()):
            setattr(rule.params, name, _moved(value, folder))


def _moved(value: Any, folder: str) -> Any:
    """Return a parameter, or the function that makes it, with the other folder."""
    if type(value) is str:  # not what Snakemake derives from outputs, which it has moved
        return _NAMED.sub(folder, value)
    if isinstance(value, list):
        return [_moved(part, folder) for part in value]
    return _with_moved_value(value, folder) if callable(value) else value


def _with_moved_value(function: Callable[..., Any], folder: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return _moved(function(*arguments, **keywords), folder)

    return run
