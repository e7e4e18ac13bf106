"""The contract of a tester: the check, the trail of tried samples, its task, and its row in the registry."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import pandas as pd

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.settings import PAPER, PUBLISHED


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

    @classmethod
    def empty(cls, n_attributes: int) -> Self:
        """Return a trail without samples."""
        return cls(
            np.empty((0, n_attributes), np.int32),
            np.empty(0, bool),
            np.empty(0, np.int32),
            np.empty(0, np.int64),
        )

    @classmethod
    def join(cls, trails: Sequence["Trail"]) -> Self:
        """Concatenate trails."""
        return cls(*map(np.concatenate, zip(*(vars(trail).values() for trail in trails), strict=True)))

    def count(self, protected: Protected) -> "Counts":
        """Count the distinct samples, and the discriminatory samples."""
        new, new_discriminatory = self.first_visits(protected)
        return Counts(int(new.sum()), int(new_discriminatory.sum()), int(self.queries.sum()))

    def distinct_discriminatory(self, protected: Protected) -> np.ndarray:
        """Return the first discriminatory sample of each class, (#ID, d), in order of visits."""
        return self.samples[self.first_visits(protected)[1]]

    def first_visits(self, protected: Protected) -> tuple[np.ndarray, np.ndarray]:
        """Mark the first generated, and the first discriminatory, sample of each class, (n,) bool.

        The samples of a class differ only in protected attributes.
        """
        samples = self.samples.copy()
        samples[:, protected.columns] = 0
        new = ~pd.DataFrame(samples).duplicated().to_numpy()
        new_discriminatory = self.discriminatory.copy()
        is_repeated = pd.DataFrame(samples[self.discriminatory]).duplicated().to_numpy()
        new_discriminatory[self.discriminatory] = ~is_repeated
        return new, new_discriminatory


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
        return Trail.join([self.global_, self.local])


@dataclass(frozen=True)
class Counts:
    """Counts of explored samples, in classes of samples that are equal up to protected attributes."""

    n_samples: int  # different samples generated (#GDiff of Table IV)
    n_discriminatory: int  # different ones among them which a visit found discriminatory (#ID)
    n_queries: int  # samples that the model was asked about


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
        together = Trail.join([Trail.empty(n_attributes), *self])
        return together.take(np.argsort(together.seed, kind="stable"))


@dataclass(frozen=True)
class Subject:
    """A classifier under test, the domain of its samples, and the attributes that vary within a pair."""

    model: Model
    domain: Domain
    protected: Protected

    @cached_property
    def free(self) -> np.ndarray:
        """The columns that are not protected, (d - p,) int64, in ascending order."""
        return self.protected.others(self.domain.n_attributes)


BATCH = 8192  # samples per batch; results do not depend on it


@dataclass(frozen=True)
class Check(Columns):
    """The check of n samples against m combinations of protected values."""

    labels: np.ndarray  # (n,) int64, the samples' own
    variant_labels: np.ndarray  # (n, m) int64: their labels with each combination
    queries: np.ndarray  # (n,) int64: model queries for each
    # (n, k) and (n, m, k): the outputs behind the labels; None if not requested.
    outputs: np.ndarray | None = None
    variant_outputs: np.ndarray | None = None

    @property
    def flips(self) -> np.ndarray:
        """Whether a combination gives a sample another label, (n, m) bool."""
        return self.variant_labels != self.labels[:, None]

    @property
    def discriminatory(self) -> np.ndarray:
        """Whether samples are discriminatory, (n,) bool (Definition 2.1)."""
        return self.flips.any(axis=1)

    @property
    def partners(self) -> np.ndarray:
        """The first combination with another label, (n,) int64; -1 if there is none."""
        return np.where(self.discriminatory, self.flips.argmax(axis=1), -1)


def check(subject: Subject, X: np.ndarray, with_outputs: bool = False) -> Check:
    """Check samples, (n, d) int32 (Algorithm 2); a sample that is none of its variants is also queried."""
    protected = subject.protected
    n, m = len(X), len(protected.values)
    variants = protected.variants(X)
    own = protected.positions(X)
    is_variant = own >= 0
    queried = np.concatenate([variants.reshape(n * m, X.shape[1]), X[~is_variant]])
    queries = m + (~is_variant).astype(np.int64)

    def split(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        of_variants = answers[: n * m].reshape(n, m, *answers.shape[1:])
        of_samples = of_variants[np.arange(n), own]
        of_samples[~is_variant] = answers[n * m :]
        return of_samples, of_variants

    if not with_outputs:
        return Check(*split(subject.model.labels(queried)), queries)
    labels, outputs = subject.model.answers(queried)
    return Check(*split(labels), queries, *split(outputs))


def are_discriminatory(subject: Subject, X: np.ndarray) -> np.ndarray:
    """Return whether samples, (n, d) int32, are discriminatory, (n,) bool, in batches."""
    parts = [check(subject, X[i : i + BATCH]).discriminatory for i in range(0, len(X), BATCH)]
    return np.concatenate([np.empty(0, bool), *parts])


def discriminatory_share(subject: Subject, X: np.ndarray) -> float:
    """Return the discriminatory share of samples; for uniform samples, AEQUITAS' estimate of fairness."""
    return float(are_discriminatory(subject, X).mean())


def uniform_fairness(subject: Subject, *, n: int, seed: int) -> tuple[float, float, float]:
    """Estimate the discriminatory share of the domain, with its interval (Table XII, "Before")."""
    X = subject.domain.draw(n, stream(seed, "uniform fairness"))
    k = int(are_discriminatory(subject, X).sum())
    return k / n, *share_interval(k, n)


def visit(subject: Subject, X: np.ndarray) -> Trail:
    """Check samples of the domain, (n, d) int32, each as its own seed."""
    queries = np.full(len(X), len(subject.protected.values), np.int64)
    return Trail(X, are_discriminatory(subject, X), np.arange(len(X), dtype=np.int32), queries)


def find_partners(subject: Subject, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the other members of discriminatory pairs, (n, d) int32, and the labels of both, (n,) int64."""
    protected = subject.protected
    others, labels, other_labels = X.copy(), np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    for begin in range(0, len(X), BATCH):
        part = slice(begin, begin + BATCH)
        checked = check(subject, X[part])
        others[part, protected.columns] = protected.values[checked.partners]
        labels[part] = checked.labels
        other_labels[part] = checked.variant_labels[np.arange(len(checked)), checked.partners]
    return others, labels, other_labels


@dataclass(frozen=True)
class Task:
    """The scope of a search; a tester uses only the fields that it needs."""

    subject: Subject
    data: np.ndarray  # (N, d) int32, the rows of the classifier's data
    seeds: np.ndarray  # (n, d) int32: rows from which a search starts; none for a tester that draws its seeds
    n_seeds: int  # number of seeds, or of seeds to draw
    seed: int
    hops: int = 0  # steps of a walk around a find
    n_explored: int = 0  # distinct samples to explore, if each costs as much as a walk of other testers
    n_drawn: int = 0  # samples to draw for a tester that only draws
    first: int = 0  # the number of the first seed, if these seeds are a part
    part_seeds: int | None = None  # largest number of seeds per yielded part, if the search can be cut

    def parts(self) -> Iterator["Task"]:
        """Yield the task cut into parts of `part_seeds` of its seeds, at least one part."""
        size = self.part_seeds or max(1, len(self.seeds))
        for begin in range(0, max(1, len(self.seeds)), size):
            seeds = self.seeds[begin : begin + size]
            yield replace(self, seeds=seeds, n_seeds=len(seeds), first=self.first + begin)


@dataclass(frozen=True)
class Tester:
    """A row of the registry."""

    name: str  # in files and on the command line
    title: str  # display name
    # Yields the trails of the seeds in sequence; a search that cannot be cut yields once. Seeds searched in
    # parts give the same trails as all seeds at once.
    search: Callable[[Task, Any], Iterator[Phases]]
    # Settings as in the authors' code, and as in the paper; None for a tester without switches, which is the
    # same in both.
    published: Any = None
    paper: Any = None
    # The local phase alone, from given seeds, numbered from 0; None without such a phase.
    search_around: Callable[[Task, Any], Trail] | None = None
    # The global phase alone, for a tester that mixes its phases; None if it equals the one in `Phases`.
    search_globally: Callable[[Task, Any], Trail] | None = None
    draws_seeds: bool = False  # from the domain, instead of rows of the data
    # Whether a sample, or a seed, costs so much that local phases are compared once, on few seeds that share
    # `Task.n_explored`, and that a small budget of queries is spent before the first find.
    is_costly: bool = False
    # Returns settings with the protected attribute's bounds of the authors' code; None if the code uses the
    # domain's bounds.
    with_bounds: Callable[[Any, tuple[int, int]], Any] | None = None
    # Whether the paper proposes the tester: its quirks are ablated one at a time, and its finds are labelled
    # by every rule.
    is_proposed: bool = False
    is_retrained: bool = True  # whether networks are retrained with its finds
    # Whether the tester is younger than the paper: the paper's experiment excludes it, and it is compared
    # only at equal budgets.
    is_later: bool = False

    @property
    def modes(self) -> tuple[str, ...]:
        """The modes in which the tester differs."""
        return (PUBLISHED,) if self.paper is None else (PUBLISHED, PAPER)

    def settings(self, mode: str, published_bounds: tuple[int, int] | None = None) -> Any:
        """Return the settings in a mode; the bounds are the authors' code's, if not the domain's."""
        if mode == PAPER:
            return self.paper
        if published_bounds and self.with_bounds:
            return self.with_bounds(self.published, published_bounds)
        return self.published


def collect(parts: Iterable[Phases]) -> Phases:
    """Return the trails of all parts of a search as a single part."""
    parts = list(parts)
    global_, local = ([getattr(part, name) for part in parts] for name in ("global_", "local"))
    return Phases(Trail.join(global_), Trail.join(local), sum(part.n_idle for part in parts))
