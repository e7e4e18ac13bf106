"""Settings of bias measures. This module imports quickly, because planning a run needs it."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Count


@dataclass(frozen=True, kw_only=True)
class ExactTest:
    """Options for the p-value of an association test."""

    permutations: Annotated[
        Count, "partitions behind a p-value; where there are no more than these, all are taken"
    ] = 100_000
