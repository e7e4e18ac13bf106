"""How far a user's own classifier is searched."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import SEED, Count, Natural, Seed


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """How much a tester searches."""

    seeds: Annotated[
        Count, "samples, or texts with a sensitive word, to search from; as many as symbolic explores"
    ]
    hops: Annotated[Natural, "steps of the walk around each find"]
    seed: Seed = SEED
