"""ADF: gradients lead seeds to discriminatory samples; walks around these find more (Zhang et al. 2021)."""

from collections.abc import Iterator
from dataclasses import replace

from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers import adf_global, adf_local, two_phases
from biaslab.fairness_testing.testers.adf_settings import PAPER, PUBLISHED, Settings
from biaslab.fairness_testing.testers.contract import Task, Tester, collect
from biaslab.fairness_testing.testers.trails import Phases, Trail


def search(task: Task, settings: Settings) -> Iterator[Phases]:
    """Search from rows of the data, with 1000 hops in the paper; see `two_phases.search`."""
    algorithm = two_phases.Algorithm("adf", settings.max_iter, adf_global.generate, adf_local.generate)
    yield from two_phases.search(task, algorithm, settings)


def search_around(task: Task, settings: Settings) -> Trail:
    """Search locally from given seeds, as `search` does; one that is not discriminatory is moved first."""
    return collect(search(task, settings)).local


def with_bounds(settings: Settings, bounds: tuple[int, int]) -> Settings:
    """Return settings whose global phase enumerates the protected values from one bound to the other."""
    return replace(settings, enumerated=bounds)


TESTER = Tester(
    name="adf",
    title="ADF",
    modes={names.PUBLISHED: PUBLISHED, names.PAPER: PAPER},
    search=search,
    search_around=search_around,
    with_bounds=with_bounds,
    is_proposed=True,
)
