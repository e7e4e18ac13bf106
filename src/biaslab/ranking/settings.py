"""The section of the area in the configuration."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Count, Field

_Several = Annotated[int, Field(ge=2)]


@dataclass(frozen=True)
class Section:
    """The simulation of fairness-aware ranking (Geyik et al. 2019)."""

    attribute_values: Annotated[
        tuple[Annotated[int, "a number of values, 2 to 100", Field(ge=2, le=100)], ...],
        "list of the numbers of values of the protected attribute, one experiment for each",
        Field(is_filled=True, is_unique=True),
    ] = tuple(range(2, 11))
    distributions: Annotated[
        _Several, "desired distributions drawn for each number of values, with one ranked list each"
    ] = 100_000
    compared_lists: Annotated[
        _Several,
        "ranked lists for each number of values on which all algorithms are compared by all measures",
    ] = 300
    candidates: Annotated[Count, "candidates with each value of the attribute"] = 100
    top: Annotated[Count, "length of the ranked list, at most candidates"] = 100
