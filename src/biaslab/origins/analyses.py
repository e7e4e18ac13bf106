"""The analyses of the area: in each folder, ``ANALYSIS`` describes the analysis to the workflow."""

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
"""The folders of all analyses, in the order of their reports."""


@dataclass(frozen=True)
class Analysis:
    """An analysis of a setup: one folder.

    Attributes
    ----------
    name : str
        Name of the folder, and of the results, settings and documentation page.
    results : tuple of str
        Files that claims use, relative to the folder of a setup; ``{test}`` is replaced by each test.
    items : tuple of Item
        Tables and figures. Modules of the folder make them: ``"MODULE:FUNCTION"``.
    steps : mapping of str to str
        Functions of the steps, ``"MODULE:FUNCTION"``, by the step names of rules.
    needs : str
        Setting of a setup, ``"SECTION.KEY"``, that disables the analysis if 0; by default none.
    needing : tuple of str
        Results that are disabled with it; by default all.
    retrains : callable
        Maps a setup to a phrase for the removed sets, ``""`` if none, and the number of trained embeddings.
    jobs : Retrainings, optional
        Distribution of the sets over jobs, if the analysis has its own sets.
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
    """Return all analyses, with fully qualified names of functions."""
    result = []
    for package in (f"biaslab.origins.{folder}" for folder in ANALYSES):
        analysis = importlib.import_module(package).ANALYSIS
        items = tuple(replace(item, make=f"{package}.{item.make}") for item in analysis.items)
        steps = {name: f"{package}.{function}" for name, function in analysis.steps.items()}
        result.append(replace(analysis, items=items, steps=steps))
    return tuple(result)


def named(name: str) -> Analysis:
    """Return the analysis with a name."""
    return next(analysis for analysis in analyses() if analysis.name == name)


def items() -> tuple[Item, ...]:
    """Return the tables, then the figures; each first of all setups, then of a setup, then of a test."""
    kinds, widths = list(SUFFIXES), (UNIT, TEST)
    unsorted = [item for analysis in analyses() for item in analysis.items]
    return tuple(
        sorted(unsorted, key=lambda item: (kinds.index(item.kind), item.per in widths, item.per == TEST))
    )


def steps() -> dict[str, str]:
    """Return the functions of all steps."""
    return {name: function for analysis in analyses() for name, function in analysis.steps.items()}


def rule_files() -> list[str]:
    """Return the rule files of all analyses with steps."""
    return [f"origins_{analysis.name}.smk" for analysis in analyses() if analysis.steps]


def lacks(setup: Mapping[str, Any]) -> dict[str, str]:
    """Return the results that a setup omits, as patterns below its folder, each with the reason."""
    reasons = {}
    for analysis in analyses():
        section, _, key = analysis.needs.partition(".")
        if analysis.needs and not setup[section][key]:
            reason = f"{analysis.needs} is {setup[section][key]}"
            reasons |= {file.format(test="*"): reason for file in analysis.needing or analysis.results}
    return reasons


def result_files(folder: str, setups: Mapping[str, Mapping]) -> list[str]:
    """Return the files of each setup that tables, figures and claims use."""
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
    """Summarise in one line the trainings of a setup."""
    removed, trainings = zip(*(analysis.retrains(setup) for analysis in analyses()), strict=True)
    parts = [f"{setup['baselines']} baselines", *filter(None, removed), f"{sum(trainings)} retrainings"]
    return f"{name}: {', '.join(parts)}"
