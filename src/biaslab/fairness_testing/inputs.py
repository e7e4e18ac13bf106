"""What the rules of the area ask for: files of a step, from its wildcards."""

from collections.abc import Callable
from typing import Any

from biaslab.fairness_testing.area import TRAIN
from biaslab.fairness_testing.names import TABULAR
from biaslab.run.plan import Plan
from biaslab.run.sources import file_of


class Inputs:
    """Functions of wildcards for the rules of a run; the wildcard ``classifier`` names one that is tested."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.section = plan.config["fairness_testing"]
        self.classifiers = [u.name for u in plan.units["fairness_testing"].chosen if TABULAR in u.marks]

    def file(self, part: str) -> Callable[[Any], str | list[str]]:
        """Return a function that gives a file of a classifier; none where the configuration names none."""

        def named(wildcards: Any) -> str | list[str]:
            source = self.section["classifiers"][wildcards.classifier][part]
            is_none = source is None or (part, source) == ("network", TRAIN)
            return [] if is_none else file_of(source, self.plan.registry, self.plan.root)

        return named
