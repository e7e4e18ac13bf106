"""Common settings, which belong to no area."""

from dataclasses import dataclass, field
from typing import Annotated

from biaslab.core.settings import SEED, Count, Field, Seed
from biaslab.run.areas import AREAS


@dataclass(frozen=True, kw_only=True)
class Datasets:
    """Where registered input data lie (see workflow/resources/datasets.tsv)."""

    mirror: Annotated[
        str | None,
        "folder that is searched for registered files before anything is downloaded (the default may be"
        " missing); null for none",
    ] = "../shared/data"
    paths: Annotated[
        dict[str, Annotated[str, "a file or folder"]],
        "own copies of registered data, as dataset name to file or folder",
    ] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """What no step asks for more than, however much it would like; results do not depend on it."""

    max_threads: Annotated[Count | None, "threads of a step; null for as many as it can use, at most 8"] = (
        None
    )
    max_memory: Annotated[
        Count | None,
        "megabytes that a node of the cluster has; null for as many as a step needs, and twice that at a"
        " retry",
    ] = None
    max_runtime: Annotated[
        Count | None, "minutes that the cluster lets a job run; null for as many as a step could take"
    ] = None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The keys that no area owns; those of the areas follow `areas`."""

    seed: Seed = SEED
    areas: Annotated[
        tuple[Annotated[str, "an area"], ...],
        "list of the areas to run; by default all areas",
        Field(is_filled=True, is_unique=True),
    ] = AREAS
    failed: Annotated[
        dict[str, Annotated[tuple[Annotated[str, "a result"], ...], "files below results/"]],
        "results that a run skips because a step failed before, by failed step;"
        " biaslab run sets this value for the audit of the available results; leave it empty",
    ] = field(default_factory=dict)
    datasets: Datasets = Datasets()
    cluster: Cluster = Cluster()
