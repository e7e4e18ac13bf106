"""Symbolic generation (SG; Aggarwal et al. 2019), which Zhang et al. 2021 compare with (Sections 4.3 and 5).

Samples wait in queues. Each one that is taken is checked, and explained by a path of constraints
(`explanation_trees`). Samples that fulfil the path with a constraint negated (`path_constraints`) wait in
turn: one for each constraint of a discriminatory sample (local search), and one for each beginning of the
path of any sample (global search).
"""

import hashlib
import heapq
import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.explanation_trees import Explainer, Path
from biaslab.fairness_testing.testers.path_constraints import Choice, global_problems, local_problems, solve
from biaslab.fairness_testing.testers.trails import Phases, Trail, join

LOCAL, SEED, GLOBAL = range(3)
"""Where a sample comes from. The queues are served in this order."""


@dataclass(frozen=True)
class Settings:
    """Where the authors' published code and the paper differ, or where the paper leaves open what is done.

    Attributes
    ----------
    clip_seeds : bool
        Seeds are moved into the domain first, so that everything reported is inside; published: they are
        taken as they are in the data, and what is solved from them keeps their values outside.
    lexicographic_ties : bool
        Samples of equal rank, and so all seeds, are taken in lexicographic order of their values (published:
        the queue compares them); otherwise in the order in which they came.
    global_last : bool
        Results of the global search wait until all seeds are taken (published, by their rank); otherwise they
        and the seeds take turns, so that the search goes on from its own results.
    counts_seeds : bool
        Seeds count as samples that the global search generates (published); otherwise only what it makes of
        them.
    repeats : bool
        A sample is explored as often as it is generated (published); otherwise once.
    choice : Choice
        Which of the samples that fulfil the constraints is taken.
    n_neighbours : int
        Samples that an explanation asks the model about.
    """

    clip_seeds: bool
    lexicographic_ties: bool
    global_last: bool
    counts_seeds: bool
    repeats: bool
    choice: Choice
    n_neighbours: int = 5000


PUBLISHED = Settings(
    clip_seeds=False,
    lexicographic_ties=True,
    global_last=True,
    counts_seeds=True,
    repeats=True,
    choice=Choice.LEAST,
)
"""As the authors' published code does."""
PAPER = Settings(
    clip_seeds=True,
    lexicographic_ties=False,
    global_last=False,
    counts_seeds=False,
    repeats=False,
    choice=Choice.NEAREST,
)
"""As the paper describes."""


def search(
    model: Model,
    data: np.ndarray,
    seeds: np.ndarray,
    domain: Domain,
    protected: Protected,
    *,
    limit: int,
    seed: int,
    settings: Settings,
) -> Phases:
    """Search globally and locally at a time (Table V).

    Parameters
    ----------
    model : Model
    data : (N, d) int32
        Rows from which the neighbourhoods of explanations are drawn.
    seeds : (n, d) int32
        Starting samples.
    domain : Domain
    protected : Protected
    limit : int
        Different samples to explore (classes of `trails.count`); fewer when nothing is left, or when as many
        visits in a row were repetitions.
    seed : int
        Of the random numbers.
    settings : Settings

    Returns
    -------
    Phases
        The samples that the global search made, with the seeds if `Settings.counts_seeds`, and those that the
        local search made, each in order of exploration. Seeds are numbered in the order in which they are
        taken.

    Raises
    ------
    InputError
        When the limit is negative, a neighbourhood is empty, there are no data, or samples do not fit the
        domain.
    """
    explorer = _Explorer(Explainer(model, data, settings.n_neighbours), domain, protected, settings)
    walk = explorer.walk(seeds, {LOCAL, GLOBAL}, (seed, "symbolic", "search"))
    visits = explorer.collect(walk, limit, settings.counts_seeds)
    local = [visit for visit in visits if visit.origin == LOCAL]
    global_ = [visit for visit in visits if visit.origin != LOCAL]
    return Phases(_trail(global_, domain), _trail(local, domain))


def global_search(
    model: Model,
    data: np.ndarray,
    seeds: np.ndarray,
    domain: Domain,
    protected: Protected,
    *,
    limit: int,
    seed: int,
    settings: Settings,
) -> Trail:
    """Search globally alone (Table VI): as `search`, but not around discriminatory samples."""
    explorer = _Explorer(Explainer(model, data, settings.n_neighbours), domain, protected, settings)
    walk = explorer.walk(seeds, {GLOBAL}, (seed, "symbolic", "global"))
    return _trail(explorer.collect(walk, limit, settings.counts_seeds), domain)


def local_search(
    model: Model,
    data: np.ndarray,
    seeds: np.ndarray,
    domain: Domain,
    protected: Protected,
    *,
    hops: int,
    seed: int,
    settings: Settings,
    first: int = 0,
) -> Trail:
    """Search locally alone, around each seed by itself (Table VII).

    Parameters
    ----------
    seeds : (n, d) int32
        Discriminatory samples; around others there is no local search.
    hops : int
        Different samples to explore around each, itself not counted; see the limit of `search`.
    first : int
        Number of the first seed: seeds searched in parts give the same trail as all at once.
    model, data, domain, protected, seed, settings
        As for `search`.
    """
    explorer = _Explorer(Explainer(model, data, settings.n_neighbours), domain, protected, settings)
    trails = [_trail([], domain)]
    for number, x in enumerate(_rows(seeds, domain), start=first):
        walk = explorer.walk(x[None], {LOCAL}, (seed, "symbolic", "local", number), number)
        trails.append(_trail(explorer.collect(walk, hops, counts_seeds=False), domain))
    return join(trails)


class _Candidate(NamedTuple):
    """A sample that waits: its values, where it comes from, and the number of its seed (-1 for a seed)."""

    x: tuple[int, ...]
    origin: int
    seed: int


class _Visit(NamedTuple):
    """An explored sample, and what `Trail` tells of it."""

    x: tuple[int, ...]
    origin: int
    discriminatory: bool
    seed: int
    queries: int


class _Queues:
    """Candidates by origin; of one origin, the lowest rank is taken first."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._heaps: tuple[list, list, list] = ([], [], [])
        self._arrivals = itertools.count()
        self._order = (LOCAL, SEED, GLOBAL)

    def put(self, rank: float, candidate: _Candidate) -> None:
        tie = candidate.x if self._settings.lexicographic_ties else ()
        heapq.heappush(self._heaps[candidate.origin], (rank, tie, next(self._arrivals), candidate))

    def take(self) -> _Candidate | None:
        """Return the next candidate, which waits no more; None when there is none."""
        for origin in self._order:
            if self._heaps[origin]:
                if origin != LOCAL:
                    is_globals_turn = origin == SEED and not self._settings.global_last
                    self._order = (LOCAL, GLOBAL, SEED) if is_globals_turn else (LOCAL, SEED, GLOBAL)
                return heapq.heappop(self._heaps[origin])[-1]
        return None


@dataclass(frozen=True)
class _Explorer:
    """Explores samples one after the other, each with its own random numbers."""

    explainer: Explainer
    domain: Domain
    protected: Protected
    settings: Settings

    def walk(
        self, seeds: np.ndarray, searches: Collection[int], ids: tuple, first: int = 0
    ) -> Iterator[_Visit]:
        """Yield visits, from seeds on, which are numbered from `first` on; `ids` name the random numbers."""
        queues = _Queues(self.settings)
        rows = _rows(seeds, self.domain)
        for x in self.domain.clip(rows) if self.settings.clip_seeds else rows:
            queues.put(0.0, _Candidate(tuple(x.tolist()), SEED, -1))
        numbers, steps = itertools.count(first), itertools.count()
        explored: set[tuple[int, ...]] = set()
        solved: set[bytes] = set()
        while (candidate := queues.take()) is not None:
            kept = self._kept(candidate.x)
            if kept in explored and not self.settings.repeats:
                continue
            explored.add(kept)
            rng = stream(*ids, next(steps))
            number = next(numbers) if candidate.origin == SEED else candidate.seed
            visit, path = self._explore(candidate, number, rng)
            for rank, child in self._children(visit, path, searches, solved, rng):
                queues.put(rank, child)
            yield visit

    def collect(self, walk: Iterator[_Visit], limit: int, counts_seeds: bool) -> list[_Visit]:
        """Return visits up to the `limit`-th different sample; queries of uncounted seeds go to the next."""
        if limit < 0:
            raise InputError(f"symbolic generation cannot explore {limit} samples; ask for 0 or more")
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
        return visits

    def _kept(self, x: tuple[int, ...]) -> tuple[int, ...]:
        """Return a sample without its protected attributes."""
        return tuple(value for a, value in enumerate(x) if a not in self.protected.columns)

    def _explore(self, candidate: _Candidate, number: int, rng: np.random.Generator) -> tuple[_Visit, Path]:
        """Check and explain a sample."""
        x = np.array(candidate.x, np.int32)
        found = bool(check(self.explainer.model, x[None], self.protected).discriminatory[0])
        is_variant = self.protected.positions(x[None])[0] >= 0
        queries = len(self.protected.values) + (not is_variant) + self.explainer.n_neighbours
        return _Visit(candidate.x, candidate.origin, found, number, queries), self.explainer.explain(x, rng)

    def _children(
        self,
        visit: _Visit,
        path: Path,
        searches: Collection[int],
        solved: set[bytes],
        rng: np.random.Generator,
    ) -> Iterator[tuple[float, _Candidate]]:
        """Yield new samples with their ranks; paths join `solved` and are not solved again."""
        x = np.array(visit.x, np.int32)
        problems = []
        if visit.discriminatory and LOCAL in searches:
            problems.append((LOCAL, local_problems(path, self.protected.columns)))
        if GLOBAL in searches:
            problems.append((GLOBAL, global_problems(path, self.protected.columns)))
        for origin, of_origin in problems:
            for problem in of_origin:
                key = _digest(problem.path)
                if key in solved:
                    continue
                solved.add(key)
                child = solve(problem.constraints, x, self.domain, self.settings.choice, rng)
                if child is not None:
                    yield problem.rank, _Candidate(tuple(child.tolist()), origin, visit.seed)


def _digest(path: Path) -> bytes:
    """Return a short name of a path's constraints and confidences."""
    columns = (path.attributes, path.limits, path.left, path.confidences)
    return hashlib.blake2b(b"".join(column.tobytes() for column in columns), digest_size=16).digest()


def _trail(visits: list[_Visit], domain: Domain) -> Trail:
    return Trail(
        np.array([visit.x for visit in visits], np.int32).reshape(-1, domain.n_attributes),
        np.array([visit.discriminatory for visit in visits], bool),
        np.array([visit.seed for visit in visits], np.int32),
        np.array([visit.queries for visit in visits], np.int64),
    )


def _rows(seeds: np.ndarray, domain: Domain) -> np.ndarray:
    if seeds.ndim != 2 or seeds.shape[1] != domain.n_attributes:
        raise InputError(f"seeds have {domain.n_attributes} attributes, but these are of shape {seeds.shape}")
    return seeds.astype(np.int32)
