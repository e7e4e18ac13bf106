"""Settings of bias measures. This module imports quickly, because planning a run needs it."""

from typing import Annotated

from pydantic.dataclasses import dataclass

from biaslab.core.settings import PYDANTIC, Count


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class ExactTest:
    """Options for the p-value of an association test."""

    permutations: Annotated[
        Count, "largest number of partitions for a p-value; a test with no more partitions uses all of them"
    ] = 100_000
