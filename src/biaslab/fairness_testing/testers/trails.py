"""The samples that a tester tried, in order, and their counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from biaslab.classifiers.domain import Protected

_WORD = 2**63


class Columns:
    """Base of data classes of arrays with one row per sample."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def take(self, rows: slice | np.ndarray) -> Self:
        """Return the rows at places."""
        return type(self)(*(None if column is None else column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class Trail(Columns):
    """The generated samples of a tester, in order."""

    samples: np.ndarray  # (n, d) int32, with repetitions
    discriminatory: np.ndarray  # (n,) bool: result of the check of each sample
    seed: np.ndarray  # (n,) int32: the number of its seed, in the order in which seeds were used
    # (n,) int64: model queries since the previous visit. A backpropagated gradient counts as one query, a
    # numerical gradient as the number of its samples.
    queries: np.ndarray


@dataclass(frozen=True)
class Phases:
    """The trails of a tester's global phase and of the local phase around its finds."""

    global_: Trail
    local: Trail
    n_idle: int = 0  # model queries that led to no visit

    @property
    def n_queries(self) -> int:
        """The total number of model queries."""
        return int(self.global_.queries.sum() + self.local.queries.sum()) + self.n_idle

    def joined(self) -> Trail:
        """Return the global trail followed by the local trail."""
        return join([self.global_, self.local])


@dataclass(frozen=True)
class Counts:
    """Counts of explored samples, in classes of samples that are equal up to protected attributes."""

    n_samples: int  # different samples generated (#GDiff of Table IV)
    n_discriminatory: int  # different ones among them which a visit found discriminatory (#ID)
    n_queries: int  # samples that the model was asked about


def empty(n_attributes: int) -> Trail:
    """Return an empty trail."""
    samples = np.empty((0, n_attributes), np.int32)
    return Trail(samples, np.empty(0, bool), np.empty(0, np.int32), np.empty(0, np.int64))


def join(trails: Sequence[Trail]) -> Trail:
    """Concatenate trails."""
    return Trail(*map(np.concatenate, zip(*(vars(trail).values() for trail in trails), strict=True)))


def classes(samples: np.ndarray, protected: Protected) -> np.ndarray:
    """Return the class of each sample, (n,) int64 from 0 on; a class differs only in protected attributes."""
    free_values = samples[:, protected.others(samples.shape[1])].astype(np.int64)
    if not len(free_values):
        return np.empty(0, np.int64)
    free_values -= free_values.min(axis=0)
    numbers, n_numbers = np.zeros(len(free_values), np.int64), 1
    for column, size in zip(free_values.T, (free_values.max(axis=0) + 1).tolist(), strict=True):
        if n_numbers * size > _WORD:
            distinct, numbers = np.unique(numbers, return_inverse=True)
            n_numbers = len(distinct)
        numbers = numbers * size + column
        n_numbers *= size
    return np.unique(numbers, return_inverse=True)[1]


def count(trail: Trail, protected: Protected) -> Counts:
    """Count the distinct samples of a trail, and the discriminatory samples."""
    new, new_discriminatory = first_visits(trail, protected)
    return Counts(int(new.sum()), int(new_discriminatory.sum()), int(trail.queries.sum()))


def distinct_discriminatory(trail: Trail, protected: Protected) -> np.ndarray:
    """Return the first discriminatory sample of each class, (#ID, d), in order of visits."""
    return trail.samples[first_visits(trail, protected)[1]]


def first_visits(trail: Trail, protected: Protected) -> tuple[np.ndarray, np.ndarray]:
    """Mark the first generated, and the first discriminatory, sample of each class, (n,) bool."""
    new, new_discriminatory = np.zeros((2, len(trail)), bool)
    numbers = classes(trail.samples, protected)
    new[np.unique(numbers, return_index=True)[1]] = True
    places = np.flatnonzero(trail.discriminatory)
    new_discriminatory[places[np.unique(numbers[places], return_index=True)[1]]] = True
    return new, new_discriminatory


class Visits(list[Trail]):
    """Collects the visits of searches that run in lock-step."""

    def add(
        self, samples: np.ndarray, discriminatory: np.ndarray, seeds: np.ndarray, queries: np.ndarray
    ) -> None:
        """Record the next visits of searches; `seeds` are the searches of the visits."""
        seeds, queries = seeds.astype(np.int32), queries.astype(np.int64)
        self.append(Trail(samples.copy(), discriminatory.copy(), seeds, queries))

    def trail(self, n_attributes: int) -> Trail:
        """Return all visits, search by search, each in the order of recording."""
        together = join([empty(n_attributes), *self])
        return together.take(np.argsort(together.seed, kind="stable"))
