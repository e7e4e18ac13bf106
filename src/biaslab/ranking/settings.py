"""The section of the area in the configuration."""

from typing import Annotated

from annotated_types import Ge, Le
from pydantic.dataclasses import dataclass

from biaslab.core.settings import ONE_OR_MORE, PYDANTIC, Count, Integer, Several


@dataclass(frozen=True, config=PYDANTIC)
class Section:
    """The simulation of fairness-aware ranking (Geyik et al. 2019)."""

    attribute_values: Annotated[
        tuple[Annotated[Integer, "a number of values, 2 to 100", Ge(2), Le(100)], ...],
        "list of the numbers of values of the protected attribute, one experiment for each",
        *ONE_OR_MORE,
    ] = tuple(range(2, 11))
    distributions: Annotated[
        Several, "desired distributions drawn for each number of values, with one ranked list each"
    ] = 100_000
    compared_lists: Annotated[
        Several, "ranked lists for each number of values on which all algorithms are compared by all measures"
    ] = 300
    candidates: Annotated[Count, "candidates with each value of the attribute"] = 100
    top: Annotated[Count, "length of the ranked list, at most candidates"] = 100
