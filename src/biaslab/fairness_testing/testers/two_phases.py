"""Shared phases of gradient testers: a global phase from seeds in lock-step, then a local phase."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers.contract import Task, Tester, collect
from biaslab.fairness_testing.testers.discrimination import Check, Subject, check
from biaslab.fairness_testing.testers.trails import Phases, Trail, Visits

MAX_ITER = 10
"""The largest number of steps from a seed in the global phase (Table II)."""


@dataclass(frozen=True)
class Finds:
    """The discriminatory samples of a global phase, from which the local phase starts."""

    samples: np.ndarray  # (g, d) int32
    seeds: np.ndarray  # (g,) int64: the seed of each sample, in ascending order
    partners: np.ndarray  # (g, p) int32: protected values that give each sample another label


def make_tester(
    find: Callable[[Subject, np.ndarray, np.ndarray, Any], tuple[Trail, Finds]],
    walk: Callable[[Subject, Finds, np.ndarray, Any], Trail],
    streams: str,
    **row: Any,
) -> Tester:
    """Return a tester with two phases; `row` are further fields of `Tester`.

    ``find(subject, seeds, draws, settings)`` is the global phase, with (n, MAX_ITER, 2) uniform draws.
    ``walk(subject, finds, draws, settings)`` is the local phase, with (g, hops, 3) uniform draws.
    """

    def draw(seed: int, numbers: np.ndarray, phase: str, shape: tuple[int, int]) -> np.ndarray:
        """Return uniform numbers of a shape for each seed; more steps or hops only extend them."""
        draws = np.empty((len(numbers), *shape))
        for row, number in zip(draws, numbers.tolist(), strict=True):
            row[:] = stream(seed, streams, number, phase).random(shape)
        return draws

    def search(task: Task, settings: Any) -> Iterator[Phases]:
        """Search from rows of the data, each with its own random streams.

        Each local walk begins with the find of the global phase, so that the local trail has all samples that
        the paper counts (#GDiff omits samples that led to a find).
        """
        subject = task.subject
        if not len(subject.free):
            raise InputError("all attributes are protected; leave at least one attribute unprotected")
        for part in task.parts():
            numbers = np.arange(part.first, part.first + len(part.seeds))
            draws = draw(task.seed, numbers, "global", (MAX_ITER, 2))
            global_, finds = find(subject, part.seeds, draws, settings)
            draws = draw(task.seed, numbers[finds.seeds], "local", (task.hops, 3))
            trails = (global_, walk(subject, finds, draws, settings))
            yield Phases(*(replace(trail, seed=trail.seed + np.int32(part.first)) for trail in trails))

    def search_around(task: Task, settings: Any) -> Trail:
        """Search locally from given seeds; a seed that is not discriminatory is first moved."""
        return collect(search(task, settings)).local

    return Tester(search=search, search_around=search_around, **row)


def move_until_found(
    subject: Subject,
    X: np.ndarray,
    n_checks: int,
    move: Callable[[np.ndarray, Check, int], np.ndarray],
) -> tuple[Trail, Finds]:
    """Check samples, (n, d) int32, in lock-step, and move samples that are not yet discriminatory.

    ``move(left, result, iteration)`` returns new positions of the rows `left` of X from their check and two
    gradients each. X is changed in place. The trail has all checked samples, seed by seed.
    """
    of_gradients = 2 * subject.model.n_gradient_queries
    partners = np.zeros((len(X), len(subject.protected.columns)), np.int32)
    is_found = np.zeros(len(X), bool)
    visits, left = Visits(), np.arange(len(X))
    for iteration in range(n_checks):
        result = check(subject, X[left], with_outputs=True)
        visits.add(X[left], result.discriminatory, left, result.queries + of_gradients * (iteration > 0))
        partners[left] = subject.protected.values[result.partners]
        is_found[left] = result.discriminatory
        left, result = left[~result.discriminatory], result.take(~result.discriminatory)
        if iteration == n_checks - 1 or not len(left):
            break
        X[left] = move(left, result, iteration)
    finds = np.flatnonzero(is_found)
    return visits.trail(subject.domain.n_attributes), Finds(X[finds], finds, partners[finds])


def steps(subject: Subject, shares: np.ndarray, way: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return a step of one unit for each walk; `shares` are cumulative weights of `Subject.free`."""
    moves = np.zeros((len(shares), subject.domain.n_attributes), np.int32)
    chosen = (shares <= (way * shares[:, -1])[:, None]).sum(axis=1)
    moves[np.arange(len(moves)), subject.free[chosen]] = np.where(side < 0.5, 1, -1)
    return moves
