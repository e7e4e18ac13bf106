"""What gradient testers share: a global phase from seeds in lock-step, then a local one from its finds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers.contract import Part, Task
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail


@dataclass(frozen=True)
class Finds:
    """The discriminatory samples of a global phase, where the local one starts.

    Attributes
    ----------
    samples : (g, d) int32
    seeds : (g,) int64
        The seed that each one comes from, in rising order.
    partners : (g, p) int32
        Protected values with which each one gets another label.
    """

    samples: np.ndarray
    seeds: np.ndarray
    partners: np.ndarray


@dataclass(frozen=True)
class Algorithm:
    """The two phases of a tester.

    Attributes
    ----------
    name : str
        Of its random streams.
    max_iter : int
        Most steps from a seed.
    find : callable
        ``find(subject, seeds, draws, settings)``, the global phase, returns the trail and the `Finds`; the
        draws are (n, max_iter, 2) uniform numbers.
    walk : callable
        ``walk(subject, finds, draws, settings)``, the local phase, returns the trail, which begins with the
        finds; the draws are (g, hops, 3) uniform numbers.
    """

    name: str
    max_iter: int
    find: Callable[[Subject, np.ndarray, np.ndarray, Any], tuple[Trail, Finds]]
    walk: Callable[[Subject, Finds, np.ndarray, Any], Trail]


def search(task: Task, algorithm: Algorithm, settings: Any) -> Iterator[Part]:
    """Search for discriminatory samples from rows of the data.

    Each seed has its own random streams: however seeds are cut into parts, the trails are the same, one after
    the other.

    Parameters
    ----------
    task : Task
        Its seeds are where the global phase starts, its hops the steps of the local phase from each
        discriminatory sample of the global one.

    Yields
    ------
    Part
        Samples checked, seed by seed. The first ones of each local walk are the global phase's find, so that
        the local trail holds all that the paper counts (#GDiff leaves out samples that led to a find).
        Queries count the samples whose labels or gradients were needed: the protected values of each check,
        then two for each pair of gradients.
    """
    _check_task(task)
    for part in task.parts():
        yield Part(_search_part(part, algorithm, settings), part.n_seeds, part.seeds)


def steps(subject: Subject, shares: np.ndarray, way: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return one step of one unit for each walk (Zhang et al. 2021, Algorithm 9).

    Parameters
    ----------
    shares : (g, k) float64
        Cumulated weights of the attributes that are not protected.
    way, side : (g,) float64
        Uniform numbers: which attribute, and which way.

    Returns
    -------
    (g, d) int32
    """
    moves = np.zeros((len(shares), subject.domain.n_attributes), np.int32)
    chosen = (shares <= (way * shares[:, -1])[:, None]).sum(axis=1)
    moves[np.arange(len(moves)), subject.free[chosen]] = np.where(side < 0.5, 1, -1)
    return moves


def _check_task(task: Task) -> None:
    n_attributes = task.subject.domain.n_attributes
    if task.seeds.ndim != 2 or task.seeds.shape[1] != n_attributes:
        raise InputError(f"the domain has {n_attributes} attributes, the seeds {task.seeds.shape[-1]}")
    if not len(task.subject.free):
        raise InputError("all attributes are protected, so that no sample can be perturbed; leave out one")
    if task.hops < 0:
        raise InputError(f"cannot walk {task.hops} hops; take 0 or more")


def _search_part(task: Task, algorithm: Algorithm, settings: Any) -> Phases:
    """Search from all seeds of a task in lock-step."""
    subject, first, name = task.subject, task.first, algorithm.name
    numbers = range(first, first + len(task.seeds))
    draws = _draws(task.seed, name, numbers, "global", (algorithm.max_iter, 2))
    global_, finds = algorithm.find(subject, task.seeds, draws, settings)
    draws = _draws(task.seed, name, (first + finds.seeds).tolist(), "local", (task.hops, 3))
    local = algorithm.walk(subject, finds, draws, settings)
    return Phases(*(replace(trail, seed=trail.seed + np.int32(first)) for trail in (global_, local)))


def _draws(seed: int, name: str, numbers: Sequence[int], phase: str, shape: tuple[int, int]) -> np.ndarray:
    """Return uniform numbers of the given shape for each seed; more steps or hops only add to them."""
    draws = np.empty((len(numbers), *shape))
    for row, number in zip(draws, numbers, strict=True):
        row[:] = stream(seed, name, number, phase).random(shape)
    return draws
