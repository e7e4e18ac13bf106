"""The analyses of the area: each is a folder that says in its ``ANALYSIS`` what it is to the workflow."""

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from biaslab.origins.expansion import Retrainings
from biaslab.run.area import SUFFIXES, TEST, UNIT, Item

ANALYSES = (
    "report",
    "checks.retraining",
    "representations.axis",
    "representations.ppmi_comparison",
    "representations.transfer",
    "checks.ppmi_sets",
    "checks.bias_gradient",
    "checks.cross_fitting",
    "checks.lds",
    "checks.planted",
    "checks.brittleness",
)
"""The folders of all analyses, in the order in which they report: one line adds one."""


@dataclass(frozen=True)
class Analysis:
    """What one folder measures of a setup.

    Attributes
    ----------
    name : str
        The name of its folder, and of its results, settings and page of documentation.
    results : tuple of str
        The files that claims are measured on, relative to the folder of a setup; ``{test}`` stands for each
        of its tests.
    items : tuple of Item
        Its tables and figures, which modules of the folder make, each ``"MODULE:FUNCTION"``.
    steps : mapping of str to str
        The functions of its steps in the same way, by the names that rules call them.
    needs : str
        The setting of a setup, ``"SECTION.KEY"``, that leaves it out if it is 0; by default none does.
    needing : tuple of str
        The results that are left out then; by default all.
    retrains : callable
        Says what of a setup's corpus it leaves out, ``""`` for nothing, and how many embeddings are trained.
    jobs : Retrainings, optional
        How its sets are dealt into jobs, where it trains without sets of its own.
    """

    name: str
    results: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    needing: tuple[str, ...] = ()
    retrains: Callable[[Mapping], tuple[str, int]] = lambda setup: ("", 0)
    jobs: Retrainings | None = None


@functools.cache
def analyses() -> tuple[Analysis, ...]:
    """Return all analyses, with whole names of functions."""
    found = []
    for package in (f"biaslab.origins.{folder}" for folder in ANALYSES):
        analysis = importlib.import_module(package).ANALYSIS
        items = tuple(replace(item, make=f"{package}.{item.make}") for item in analysis.items)
        steps = {name: f"{package}.{function}" for name, function in analysis.steps.items()}
        found.append(replace(analysis, items=items, steps=steps))
    return tuple(found)


def named(name: str) -> Analysis:
    """Return the analysis of a name."""
    return next(analysis for analysis in analyses() if analysis.name == name)


def items() -> tuple[Item, ...]:
    """Return the tables, then the figures; of all setups, of a setup, of a test."""
    kinds, widths = list(SUFFIXES), (UNIT, TEST)
    found = [item for analysis in analyses() for item in analysis.items]
    return tuple(
        sorted(found, key=lambda item: (kinds.index(item.kind), item.per in widths, item.per == TEST))
    )


def steps() -> dict[str, str]:
    """Return the functions of all steps."""
    return {name: function for analysis in analyses() for name, function in analysis.steps.items()}


def rule_files() -> list[str]:
    """Return the files with the rules of all analyses that have steps."""
    return [f"origins_{analysis.name}.smk" for analysis in analyses() if analysis.steps]


def lacks(setup: Mapping[str, Any]) -> dict[str, str]:
    """Return the results that a setup does without, as patterns below its folder, each with the reason."""
    found = {}
    for analysis in analyses():
        section, _, key = analysis.needs.partition(".")
        if analysis.needs and not setup[section][key]:
            reason = f"{analysis.needs} is {setup[section][key]}"
            found |= {file.format(test="*"): reason for file in analysis.needing or analysis.results}
    return found


def result_files(folder: str, setups: Mapping[str, Mapping]) -> list[str]:
    """Return the files of each setup that tables, figures and claims are drawn from."""
    left_out = {name: lacks(setup) for name, setup in setups.items()}
    return [
        f"{folder}/{name}/{file.format(test=test)}"
        for name, setup in setups.items()
        for analysis in analyses()
        for file in analysis.results
        if file.format(test="*") not in left_out[name]
        for test in (setup["bias"]["weats"] if "{test}" in file else [""])
    ]


def summary(name: str, setup: Mapping[str, Any]) -> str:
    """Say in one line what a setup will train."""
    removed, trainings = zip(*(analysis.retrains(setup) for analysis in analyses()), strict=True)
    parts = [f"{setup['baselines']} baselines", *filter(None, removed), f"{sum(trainings)} retrainings"]
    return f"{name}: {', '.join(parts)}"
