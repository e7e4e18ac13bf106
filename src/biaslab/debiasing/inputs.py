"""Inputs of the area's rules: files and parameters of a step, from its wildcards."""

from collections.abc import Callable
from typing import Any

from biaslab.core.files import locate
from biaslab.debiasing.area import AUTHORS, LISTS
from biaslab.debiasing.settings import BENCHMARKS
from biaslab.run.plan.plan import Plan
from biaslab.run.plan.sources import setups_of

_OWN_BENCHMARKS = "workflow/resources/benchmarks"


class Inputs:
    """Functions of wildcards for the rules of a run; ``embedding`` names a debiased embedding."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["debiasing"]
        self.units = {unit.name: unit for unit in plan.units["debiasing"].chosen}
        left_out = plan.units["debiasing"].left_out
        self.benchmarks = {
            name: plan.copy(dataset) if dataset else str(plan.root / f"{_OWN_BENCHMARKS}/{name}.tsv")
            for name in self.section["benchmarks"]
            if name not in left_out
            for dataset in [BENCHMARKS[name].dataset]
        }
        # The files of the benchmarks by type and name, as the steps take them.
        self.tasks: dict[str, dict[str, str]] = {"pairs": {}, "questions": {}}
        for name, file in self.benchmarks.items():
            self.tasks["questions" if BENCHMARKS[name].is_of_questions else "pairs"][name] = file
        self.word_lists = [str(locate(self.section[key], plan.root)) for key in LISTS]
        self.tests = [
            str(locate(self.section["word_sets"][weat], plan.root)) for weat in self.section["weats"]
        ]

    def embedding(self, wildcards: Any) -> str:
        """Return the file of an embedding."""
        return self.units[wildcards.embedding].embedding

    def authors_lists(self, *keys: str) -> Callable[[Any], list[str]]:
        """Return a function that returns the authors' lists, if all exist, for a registered embedding."""
        datasets = [AUTHORS[key] for key in keys]
        if any(name in self.plan.absent for name in datasets):
            return lambda wildcards: []
        setups, copy = setups_of(self.plan.config), self.plan.copy
        return lambda wildcards: [] if wildcards.embedding in setups else [*map(copy, datasets)]
