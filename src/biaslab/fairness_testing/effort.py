"""How far a user's own classifier is searched."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import SEED, Count, Natural, NotNegative, Seed


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """How much a tester searches, and what ends it."""

    seeds: Annotated[
        Count, "samples, or texts with a sensitive word, to search from; as many as symbolic explores"
    ]
    hops: Annotated[Natural, "steps of the walk around each find"]
    seed: Seed = SEED
    time_limit: Annotated[
        NotNegative | None,
        "seconds for each protected attribute or feature, looked at after some seeds; not by aequitas and"
        " symbolic, which search in one go",
    ] = None
    sample_limit: Annotated[Count | None, "different samples or texts; looked at as the time is"] = None

    def limit_met(self, began: float, count: Callable[[], int], what: str) -> str:
        """Return which limit is met by what `count` counts since the clock showed `began`; "" for none."""
        seconds = time.monotonic() - began
        if self.time_limit is not None and seconds >= self.time_limit:
            return f"the time limit of {self.time_limit:g} s"
        if self.sample_limit is not None and count() >= self.sample_limit:
            return f"the limit of {self.sample_limit} {what}"
        return ""
