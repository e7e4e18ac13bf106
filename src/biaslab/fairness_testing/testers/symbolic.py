"""Symbolic generation (SG; Aggarwal et al. 2019), a baseline of Zhang et al. 2021 (Sections 4.3 and 5).

Samples wait in queues. Each dequeued sample is checked and explained by a path of constraints. Samples that
satisfy the path with a constraint negated join the queues: one for each constraint of a discriminatory sample
(local search), and one for each prefix of the path of any sample (global search).

An explanation is the branch of a sample in a decision tree fitted to a model's labels around the sample. The
neighbourhood is that of LIME for categorical attributes (Ribeiro et al. 2016), as in the authors' published
code. It consists of the sample itself and samples with each attribute drawn from its distribution in the
data, independently of the other attributes *and of the sample*. Neighbours are not weighted by distance, so
that only the sample's own branch makes an explanation local.

Each constraint bounds one attribute, so that a conjunction allows one interval of integers per attribute. No
solver is needed.
"""

import hashlib
import heapq
import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from biaslab.classifiers.domain import Domain
from biaslab.classifiers.models import Model
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import _explanation_trees_kernels
from biaslab.fairness_testing.testers.contract import Columns, Phases, Task, Tester, Trail, check

T1 = 0.3  # the global search stops at the first constraint below this confidence
LOCAL_RANK, GLOBAL_RANK = 1.0, 10.0


@dataclass(frozen=True)
class Path(Columns):
    """The constraints of k nodes of a tree from the root on, as a conjunction."""

    attributes: np.ndarray  # (k,) int64: the column that each node tests
    limits: np.ndarray  # (k,) int64: the limit of its value
    left: np.ndarray  # (k,) bool: True for "value ≤ limit", False for "value > limit"
    confidences: np.ndarray  # (k,) float64: share of the node's neighbours that satisfy the constraint

    def negated(self, node: int) -> "Path":
        """Return the path with one constraint negated and its confidence subtracted from 1."""
        left, confidences = self.left.copy(), self.confidences.copy()
        left[node] = not left[node]
        confidences[node] = 1.0 - confidences[node]
        return Path(self.attributes, self.limits, left, confidences)


class Explainer:
    """Explains a model's labels around samples; the columns of `data` are the attributes' distributions."""

    def __init__(self, model: Model, data: np.ndarray, n_neighbours: int) -> None:
        self.model, self.n_neighbours = model, n_neighbours
        self._columns = np.ascontiguousarray(data.T, np.int32)
        self._low, self._high = data.min(axis=0), data.max(axis=0)

    def neighbours(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the neighbourhood of a sample, (n_neighbours, d) int32; the sample is the first row."""
        d, n_rows = self._columns.shape
        rows = rng.integers(0, n_rows, size=(self.n_neighbours, d), dtype=np.uint32)
        X = self._columns.take(rows + n_rows * np.arange(d))
        X[0] = x
        return X

    def explain(self, x: np.ndarray, rng: np.random.Generator) -> Path:
        """Return the branch of a sample in the unpruned tree of its neighbourhood.

        The tree is CART with Gini's impurity (scikit-learn's ``DecisionTreeClassifier``, as in the authors'
        published code). It splits halfway between values, and breaks ties between attributes at random.
        """
        X = self.neighbours(x, rng)
        labels = self.model.labels(X)
        low = np.minimum(self._low, x)
        starts = np.concatenate([[0], np.cumsum(np.maximum(self._high, x) - low + 1, dtype=np.int64)])
        attributes, limits = np.empty((2, len(X)), np.int64)
        shares = np.empty(len(X))
        depth = _explanation_trees_kernels.grow_branch(
            X, labels, low, starts, self.model.n_classes, rng.random(len(X)), attributes, limits, shares
        )
        attributes, limits, shares = attributes[:depth].copy(), limits[:depth].copy(), shares[:depth]
        left = x[attributes] <= limits
        return Path(attributes, limits, left, np.where(left, shares, 1.0 - shares))


class Choice(StrEnum):
    """The rule for choosing the value of an attribute from its interval."""

    NEAREST = "nearest"  # the value nearest to the sample's value
    LEAST = "least"  # the value nearest to zero, the usual answer of the solver Z3


class Problem(NamedTuple):
    """Constraints that a new sample must satisfy."""

    rank: float  # of the new sample in its queue; the lowest is taken first
    path: Path  # the path with one constraint negated, which identifies equal problems
    constraints: Path  # the constraints to solve


def local_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate each constraint of a path, keep only those on its attribute; rank by 1 + mean confidence."""
    for node, attribute in enumerate(path.attributes.tolist()):
        if attribute not in protected:
            negated = path.negated(node)
            rank = LOCAL_RANK + float(negated.confidences.mean())
            yield Problem(rank, negated, negated.take(negated.attributes == attribute))


def global_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate the last constraint of each prefix of a path, without constraints on protected attributes.

    The rank is 10 minus the average confidence of the prefix (the authors' published code).
    """
    free = path.take(~np.isin(path.attributes, list(protected)))
    for node, confidence in enumerate(free.confidences.tolist()):
        if confidence < T1:
            return
        beginning = free.take(slice(node + 1)).negated(node)
        yield Problem(GLOBAL_RANK - float(beginning.confidences.mean()), beginning, beginning)


def solve(constraints: Path, x: np.ndarray, domain: Domain, choice: Choice) -> np.ndarray | None:
    """Return a sample that satisfies all constraints in the domain, otherwise equal to `x`; or None."""
    low, high = domain.low.astype(np.int64), domain.high.astype(np.int64)
    left, right = constraints.left, ~constraints.left
    np.minimum.at(high, constraints.attributes[left], constraints.limits[left])
    np.maximum.at(low, constraints.attributes[right], constraints.limits[right] + 1)
    mentioned = np.unique(constraints.attributes)
    low, high = low[mentioned], high[mentioned]
    if (low > high).any():
        return None
    solution = x.copy()
    solution[mentioned] = np.clip(x[mentioned] if choice is Choice.NEAREST else 0, low, high)
    return solution


LOCAL, SEED, GLOBAL = range(3)  # the origin of a sample. The queues are served in this order


@dataclass(frozen=True)
class Settings:
    """Differences between the published code and the paper, or open points; the defaults are `PAPER`."""

    # Seeds are moved into the domain first, so that everything reported is inside. The code (False) uses them
    # as in the data, and samples solved from them keep their values outside.
    clip_seeds: bool = True
    # Samples of equal rank, including all seeds, are dequeued in lexicographic order of their values, as in
    # the code's queue (True); otherwise in order of arrival.
    lexicographic_ties: bool = False
    # Results of the global search wait, by rank, until all seeds are dequeued (the code, True); otherwise
    # they alternate with the seeds, so that the search continues from its own results.
    global_last: bool = False
    # Seeds count as generated samples of the global search (the code, True); otherwise only samples derived
    # from them.
    counts_seeds: bool = False
    repeats: bool = False  # a sample is explored as often as generated (the code, True); otherwise once
    choice: Choice = Choice.NEAREST  # the chosen sample among those that satisfy the constraints
    n_neighbours: int = 5000  # model queries per explanation


PAPER = Settings()
PUBLISHED = Settings(
    clip_seeds=False,
    lexicographic_ties=True,
    global_last=True,
    counts_seeds=True,
    repeats=True,
    choice=Choice.LEAST,
)


def search(task: Task, settings: Settings) -> Iterator[Phases]:
    """Search globally and locally at the same time (Table V).

    All results share one queue, so that the search is one part. It explores `Task.n_explored` distinct
    samples, or fewer if none is left or if as many visits in a row were repetitions. Seeds are numbered in
    order of dequeuing.
    """
    explorer = _Explorer(task, settings)
    walk = explorer.walk(task.seeds, {LOCAL, GLOBAL}, (task.seed, "symbolic", "search"))
    visits, n_idle = explorer.collect(walk, task.n_explored, settings.counts_seeds)
    local = [visit for visit in visits if visit.origin == LOCAL]
    global_ = [visit for visit in visits if visit.origin != LOCAL]
    yield Phases(explorer.trail(global_), explorer.trail(local), n_idle)


def search_globally(task: Task, settings: Settings) -> Trail:
    """Run only the global search, for as many samples as there are seeds (Table VI)."""
    explorer = _Explorer(task, settings)
    walk = explorer.walk(task.seeds, {GLOBAL}, (task.seed, "symbolic", "global"))
    return explorer.trail(explorer.collect(walk, task.n_seeds, settings.counts_seeds)[0])


def search_around(task: Task, settings: Settings) -> Trail:
    """Run only the local search, for `Task.hops` distinct samples around each seed (Table VII)."""
    explorer = _Explorer(task, settings)
    trails = [Trail.empty(task.subject.domain.n_attributes)]
    for number, x in enumerate(task.seeds):
        walk = explorer.walk(x[None], {LOCAL}, (task.seed, "symbolic", "local", number), number)
        trails.append(explorer.trail(explorer.collect(walk, task.hops, counts_seeds=False)[0]))
    return Trail.join(trails)


TESTER = Tester(
    name="symbolic",
    title="SG",
    published=PUBLISHED,
    paper=PAPER,
    search=search,
    search_around=search_around,
    search_globally=search_globally,
    is_costly=True,
)


class _Visit(NamedTuple):
    """A waiting sample, and once it is explored its entries of `Trail`."""

    x: tuple[int, ...]
    origin: int
    seed: int  # the number of its seed; -1 for a waiting seed
    discriminatory: bool = False
    queries: int = 0


class _Queues:
    """Candidates by origin; within an origin, the lowest rank is dequeued first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._heaps: tuple[list, list, list] = ([], [], [])
        self._arrivals = itertools.count()
        self._order = (LOCAL, SEED, GLOBAL)

    def put(self, rank: float, candidate: _Visit) -> None:
        tie = candidate.x if self._settings.lexicographic_ties else ()
        heapq.heappush(self._heaps[candidate.origin], (rank, tie, next(self._arrivals), candidate))

    def take(self) -> _Visit | None:
        """Dequeue and return the next candidate; None if there is none."""
        for origin in self._order:
            if self._heaps[origin]:
                if origin != LOCAL:
                    is_globals_turn = origin == SEED and not self._settings.global_last
                    self._order = (LOCAL, GLOBAL, SEED) if is_globals_turn else (LOCAL, SEED, GLOBAL)
                return heapq.heappop(self._heaps[origin])[-1]
        return None


class _Explorer:
    """Explores samples in sequence, each with its own random numbers."""

    def __init__(self, task: Task, settings: Settings) -> None:
        self.subject, self.settings = task.subject, settings
        self.explainer = Explainer(task.subject.model, task.data, settings.n_neighbours)

    def walk(
        self, seeds: np.ndarray, searches: Collection[int], ids: tuple, first: int = 0
    ) -> Iterator[_Visit]:
        """Yield visits, starting from seeds numbered from `first` on; `ids` name the random stream."""
        queues = _Queues(self.settings)
        for x in self.subject.domain.clip(seeds) if self.settings.clip_seeds else seeds:
            queues.put(0.0, _Visit(tuple(x.tolist()), SEED, -1))
        numbers, steps = itertools.count(first), itertools.count()
        explored: set[tuple[int, ...]] = set()
        solved: set[bytes] = set()
        while (candidate := queues.take()) is not None:
            free_values = self._kept(candidate.x)
            if free_values in explored and not self.settings.repeats:
                continue
            explored.add(free_values)
            rng = stream(*ids, next(steps))
            seed = next(numbers) if candidate.origin == SEED else candidate.seed
            x = np.array(candidate.x, np.int32)
            checked = check(self.subject, x[None])
            queries = int(checked.queries[0]) + self.explainer.n_neighbours
            is_found = bool(checked.discriminatory[0])
            visit = candidate._replace(seed=seed, discriminatory=is_found, queries=queries)
            path = self.explainer.explain(x, rng)
            for rank, child in self._children(visit, path, searches, solved):
                queues.put(rank, child)
            yield visit

    def collect(self, walk: Iterator[_Visit], limit: int, counts_seeds: bool) -> tuple[list[_Visit], int]:
        """Return visits up to the `limit`-th distinct sample, and the queries after the last visit.

        Queries of uncounted seeds are added to the next visit.
        """
        visits: list[_Visit] = []
        different: set[tuple[int, ...]] = set()
        queries = repetitions = 0
        while len(different) < limit and repetitions < limit and (visit := next(walk, None)) is not None:
            queries += visit.queries
            if visit.origin == SEED and not counts_seeds:
                continue
            visits.append(visit._replace(queries=queries))
            repetitions = repetitions + 1 if self._kept(visit.x) in different else 0
            different.add(self._kept(visit.x))
            queries = 0
        return visits, queries

    def trail(self, visits: list[_Visit]) -> Trail:
        samples, _, seeds, hits, queries = zip(*visits, strict=True) if visits else [()] * 5
        X = np.array(samples, np.int32).reshape(-1, self.subject.domain.n_attributes)
        return Trail(X, np.array(hits, bool), np.array(seeds, np.int32), np.array(queries, np.int64))

    def _kept(self, x: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(value for a, value in enumerate(x) if a not in self.subject.protected.columns)

    def _children(
        self, visit: _Visit, path: Path, searches: Collection[int], solved: set[bytes]
    ) -> Iterator[tuple[float, _Visit]]:
        """Yield new samples with their ranks; `solved` has digests of paths, to solve each only once."""
        x, columns = np.array(visit.x, np.int32), self.subject.protected.columns
        problems = []
        if visit.discriminatory and LOCAL in searches:
            problems += [(LOCAL, problem) for problem in local_problems(path, columns)]
        if GLOBAL in searches:
            problems += [(GLOBAL, problem) for problem in global_problems(path, columns)]
        for origin, problem in problems:
            arrays = vars(problem.path).values()
            key = hashlib.blake2b(b"".join(array.tobytes() for array in arrays), digest_size=16).digest()
            if key in solved:
                continue
            solved.add(key)
            child = solve(problem.constraints, x, self.subject.domain, self.settings.choice)
            if child is not None:
                yield problem.rank, _Visit(tuple(child.tolist()), origin, visit.seed)
