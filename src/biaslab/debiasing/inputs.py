"""What the rules of the area ask for: files and options of a step, from its wildcards."""

import shlex
from collections.abc import Callable
from typing import Any

from biaslab.core.files import locate
from biaslab.debiasing.area import AUTHORS, BENCHMARKS, LISTS
from biaslab.debiasing.items import SETUP
from biaslab.run.command import options, repeated
from biaslab.run.plan import Plan

_QUESTIONS = ("msr",)  # benchmarks of analogies; the others are of rated pairs
_OWN_BENCHMARKS = "workflow/resources/benchmarks"


class Inputs:
    """Functions of wildcards for the rules of a run; ``embedding`` names one that is debiased."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["debiasing"]
        self.units = {unit.name: unit for unit in plan.units["debiasing"].chosen}
        left_out = plan.units["debiasing"].left_out
        self.benchmarks = [name for name in self.section["benchmarks"] if name not in left_out]
        self.word_lists = [str(locate(self.section[key], plan.root)) for key in LISTS]
        sembias = self.section["comparison"]["sembias"]
        self.sembias = [str(locate(sembias, plan.root))] if sembias else []
        self.tests = [str(locate(file, plan.root)) for file in self.section["weats"]]

    @property
    def setups(self) -> list[str]:
        """Names of the embeddings that are baselines of setups."""
        return [name for name, unit in self.units.items() if SETUP in unit.marks]

    def embedding(self, wildcards: Any) -> str:
        """Return the file of an embedding."""
        return self.units[wildcards.embedding].embedding

    def authors_lists(self, *keys: str) -> Callable[[Any], list[str]]:
        """Return a function that gives lists of the authors if all are there, for a registered embedding."""
        datasets = [AUTHORS[key] for key in keys]
        known = all(name not in self.plan.absent for name in datasets)

        def files(wildcards: Any) -> list[str]:
            is_setup = wildcards.embedding in self.setups
            return [self.plan.copy(name) for name in datasets] if known and not is_setup else []

        return files

    @staticmethod
    def authors_options(*names: str) -> Callable[[Any, Any], list[str]]:
        """Return a function that gives the options for the lists of the authors that are there."""

        def named(wildcards: Any, input: Any) -> list[str]:
            paths = input.get("authors") or []  # of all the options, or of none
            options = zip(names, paths, strict=True) if paths else ()
            return [f"{option} {shlex.quote(str(path))}" for option, path in options]

        return named

    def options(self, *keys: str) -> list[str]:
        """Return the word lists, and further keys of the section."""
        lists = dict(zip(LISTS, self.word_lists, strict=True))
        return options(lists | {key: self.section[key] for key in keys})

    def benchmark_files(self) -> list[str]:
        """Return the files of the benchmarks."""
        return [self._benchmark(name) for name in self.benchmarks]

    def benchmark_options(self) -> list[str]:
        """Return the options that name the benchmarks."""
        return [
            f"--{'questions' if name in _QUESTIONS else 'pairs'} {name}={shlex.quote(self._benchmark(name))}"
            for name in self.benchmarks
        ]

    def compare_options(self) -> list[str]:
        """Return the options of the comparison of methods."""
        section = self.section["comparison"]
        keys = ("clustered", "classified", "neighbours", "random_directions")
        return [
            *repeated("method", section["methods"]),
            *options({key: section[key] for key in keys}),
            *repeated("sembias", self.sembias),
        ]

    def weat_options(self, wildcards: Any, input: Any) -> list[str]:
        """Return the options that name the files with the words of tests."""
        return repeated("weat", input.get("word_sets"))

    # --- what debiasing does to the ranking of documents

    def stages(self) -> list[str]:
        """Return the kinds of debiasing after which documents are ranked anew."""
        return ["hard", *[f"soft-{penalty:g}" for penalty in self.section["document_lambdas"]]]

    def transform_options(self, wildcards: Any) -> list[str]:
        """Return method and weight of a stage."""
        method, _, penalty = wildcards.stage.partition("-")
        return options({"method": method, "lambda": penalty or None})

    @staticmethod
    def transforms_given(wildcards: Any, input: Any) -> list[str]:
        """Return the options that name what debiasing does to every word."""
        return repeated("transform", input.transforms)

    def _benchmark(self, name: str) -> str:
        dataset = BENCHMARKS[name]
        return self.plan.copy(dataset) if dataset else str(self.plan.root / f"{_OWN_BENCHMARKS}/{name}.tsv")
