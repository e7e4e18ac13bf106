"""ADF: gradients lead seeds to discriminatory samples; walks around these find more (Zhang et al. 2021)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers import adf_global, adf_local
from biaslab.fairness_testing.testers.adf_settings import PAPER, PUBLISHED, Settings
from biaslab.fairness_testing.testers.contract import Part, Task, Tester, collect
from biaslab.fairness_testing.testers.trails import Phases, Trail


def search(task: Task, settings: Settings) -> Iterator[Part]:
    """Search for discriminatory samples from rows of the data.

    Each seed has its own random streams: however seeds are cut into parts, the trails are the same, one after
    the other.

    Parameters
    ----------
    task : Task
        Its seeds are where the global phase starts, its hops the steps of the local phase from each
        discriminatory sample of the global one; 1000 in the paper.
    settings : Settings

    Yields
    ------
    Part
        Samples checked, seed by seed. The first ones of each local walk are the global phase's find, so that
        the local trail holds all that the paper counts (#GDiff leaves out samples that led to a find).
        Queries count the samples whose labels or gradients were needed: the protected values of each check,
        then two for each pair of gradients.

    Raises
    ------
    InputError
        When seeds do not fit the domain, no attribute is left to perturb, the hops are negative, or several
        protected attributes shall be enumerated.
    """
    _check_task(task)
    for part in task.parts():
        yield Part(_search_part(part, settings), part.n_seeds, part.seeds)


def search_around(task: Task, settings: Settings) -> Trail:
    """Search locally from given seeds, as `search` does; one that is not discriminatory is moved first.

    Parameters
    ----------
    task, settings
        As for `search`.

    Raises
    ------
    InputError
        As `search`.
    """
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


def _check_task(task: Task) -> None:
    n_attributes = task.subject.domain.n_attributes
    if task.seeds.ndim != 2 or task.seeds.shape[1] != n_attributes:
        raise InputError(f"the domain has {n_attributes} attributes, the seeds {task.seeds.shape[-1]}")
    if not len(task.subject.free):
        raise InputError("all attributes are protected, so that no sample can be perturbed; leave out one")
    if task.hops < 0:
        raise InputError(f"cannot walk {task.hops} hops; take 0 or more")


def _search_part(task: Task, settings: Settings) -> Phases:
    """Search from all seeds of a task in lock-step."""
    subject, first = task.subject, task.first
    draws = _draws(task.seed, range(first, first + len(task.seeds)), "global", (settings.max_iter, 2))
    global_, finds = adf_global.generate(subject, task.seeds, draws, settings)
    draws = _draws(task.seed, (first + finds.seeds).tolist(), "local", (task.hops, 3))
    local = adf_local.generate(subject, finds, draws, settings)
    return Phases(*(replace(trail, seed=trail.seed + np.int32(first)) for trail in (global_, local)))


def _draws(seed: int, numbers: Sequence[int], phase: str, shape: tuple[int, int]) -> np.ndarray:
    """Return uniform numbers of the given shape for each seed; more steps or hops only add to them."""
    draws = np.empty((len(numbers), *shape))
    for row, number in zip(draws, numbers, strict=True):
        row[:] = stream(seed, "adf", number, phase).random(shape)
    return draws
