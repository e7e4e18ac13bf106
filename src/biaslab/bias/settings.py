"""Settings of measures of bias; light, as whatever a run is planned with."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Count


@dataclass(frozen=True, kw_only=True)
class ExactTest:
    """How the p-value of an association test is found."""

    permutations: Annotated[
        Count, "partitions behind a p-value; where there are no more than these, all are taken"
    ] = 100_000
