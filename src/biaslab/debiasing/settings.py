"""How an embedding is measured, and how methods are compared."""

from dataclasses import dataclass
from typing import Annotated

from biaslab.core.settings import Field


@dataclass(frozen=True)
class Settings:
    """How to measure; of more partitions than `permutations`, as many are drawn from `seed`."""

    components: Annotated[int, Field("dimensions of the bias subspace", ge=1)] = 1
    strictness: Annotated[float, Field("the exponent c of DirectBias", ge=0)] = 1.0
    permutations: Annotated[int, Field("up to so many partitions a p-value is exact", ge=1)] = 100_000
    seed: Annotated[int, Field("seed of the whole run; every random stream derives from it", ge=0)] = 1


@dataclass(frozen=True)
class Sizes:
    """How many words are looked at, at most a quarter of the neutral words; as Gonen and Goldberg 2019."""

    clustered: Annotated[int, Field("most biased words of each end to cluster", ge=2)] = 500
    classified: Annotated[int, Field("most biased words of each end to classify", ge=2)] = 2500
    neighbours: Annotated[int, Field("neighbours of an occupation to count", ge=1)] = 100
    random_directions: Annotated[
        int, Field("random directions to remove for comparison; 0 for none", ge=0)
    ] = 10
