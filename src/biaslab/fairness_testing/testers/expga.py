"""ExpGA: a genetic algorithm that begins where explanations point to protected attributes (Fan et al. 2022).

"Explanation-Guided Fairness Testing through Genetic Algorithm" (ICSE 2022), for tables. It asks a model for
outputs alone. Samples drawn from the domain are explained (`linear_explanations`); those in whose explanation
a protected attribute ranks high are the first population. A generation checks everyone, draws as many of them
with chances by their fitness, crosses and mutates them, and is the next one.

The algorithm and its numbers are those of the authors' published code, which is what could be established:
the mode ``published`` is that code, ``paper`` the same without its slips (`Settings`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from biaslab.classifiers.domain import Domain
from biaslab.core.rng import stream
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers import random_search
from biaslab.fairness_testing.testers.contract import Part, Task, Tester
from biaslab.fairness_testing.testers.discrimination import Check, check
from biaslab.fairness_testing.testers.linear_explanations import LinearExplainer
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail, empty, join

FIT, UNFIT = 3, 1
"""Fitness of who is discriminatory, and of the others: 2 |y - y'| + 1 with labels 0 and 1."""


@dataclass(frozen=True)
class Settings:
    """The numbers of ExpGA, and its switches: what the authors' code does by a slip, and what is meant."""

    # Protected attributes of the samples that are drawn are 0, in the domain or not (published); otherwise
    # they are drawn as the others.
    zero_protected: bool
    # A crossing takes the attributes from a to b from another one, b uniform below d - a, so that most take
    # none (published); otherwise b is uniform above a.
    short_segments: bool
    # A mutation never draws the greatest value of an attribute, and so changes binary ones to 0 alone
    # (published); otherwise it draws any.
    top_excluded: bool
    # Of a sample met before, a seed included, the fitness depends on the last other protected value alone
    # (published); otherwise on all.
    last_value_fitness: bool
    n_neighbours: int = 5000  # samples that an explanation asks the model about
    n_population: int = 100  # drawing ends with so many seeds
    crossing: float = 0.9
    mutation: float = 0.05


PUBLISHED = Settings(zero_protected=True, short_segments=True, top_excluded=True, last_value_fitness=True)
PAPER = Settings(zero_protected=False, short_segments=False, top_excluded=False, last_value_fitness=False)


def search(task: Task, settings: Settings) -> Iterator[Part]:
    """Explain samples drawn from the domain; those that are chosen evolve for `Task.hops` generations.

    A part is an explanation or a generation; the first population is the global phase. Finds have the number
    of the drawn sample that their selected ancestors go back to.
    """
    X = random_search.draw(task.subject, task.n_seeds, stream(task.seed, "expga", "seeds"))
    if settings.zero_protected:
        X[:, task.subject.protected.columns] = 0
    nothing, ranks, limit = empty(X.shape[1]), [], highest_rank(X.shape[1])
    for number, rank in enumerate(_ranks(task, X, settings)):
        ranks.append(rank)
        n_taken = number + 1
        if n_taken == len(X) or sum(each < limit for each in ranks) == settings.n_population:
            break
        yield Part(Phases(nothing, nothing, settings.n_neighbours), 1, X[number:n_taken])
    # The last sample that was explained counts with those that never will be, when all is done.
    yield Part(Phases(nothing, nothing, settings.n_neighbours), 0, X[:0])
    numbers = _chosen(np.array(ranks), limit)[: settings.n_population]
    for generation, trail in enumerate(_evolve(task, X[numbers], numbers, settings)):
        phases = Phases(nothing, trail) if generation else Phases(trail, nothing)
        yield Part(phases, 0, X[:0])
    yield Part(Phases(nothing, nothing), len(X) - number, X[number:])


def search_around(task: Task, settings: Settings) -> Trail:
    """Let given seeds evolve: they are the first population, and the first that the trail has."""
    numbers = np.arange(len(task.seeds), dtype=np.int32)
    generations = _evolve(task, task.seeds.astype(np.int32), numbers, settings)
    return join([empty(task.subject.domain.n_attributes), *generations])


TESTER = Tester(
    name="expga",
    title="ExpGA",
    modes={names.PUBLISHED: PUBLISHED, names.PAPER: PAPER},
    search=search,
    search_around=search_around,
    draws_seeds=True,
    is_costly=True,
    is_later=True,
)


def highest_rank(n_attributes: int) -> int:
    """Return below which rank, counted from 0, a protected attribute must be for a sample to be a seed.

    7 of 13, 10 of 16 and 14 of 20 attributes in the authors' code, which leaves six out; here at least half
    of them, as the authors tried no fewer.
    """
    return max(n_attributes - 6, (n_attributes + 1) // 2)


def _ranks(task: Task, X: np.ndarray, settings: Settings) -> Iterator[int]:
    """Yield of one sample after the other the rank, from 0, of a protected attribute in its explanation."""
    explainer = LinearExplainer(task.subject, task.data, settings.n_neighbours)
    for number, x in enumerate(X):
        coefficients = explainer.explain(x, stream(task.seed, "expga", "explanation", number))
        order = np.argsort(-np.abs(coefficients), kind="stable")
        yield int(np.isin(order, task.subject.protected.columns).argmax())


def _chosen(ranks: np.ndarray, limit: int) -> np.ndarray:
    """Return the numbers of the samples that are seeds, (k,) int32: with ranks below the limit.

    Where there are none, with which the authors' code cannot go on, those with the best rank of all.
    """
    return np.flatnonzero(ranks < max(limit, ranks.min() + 1)).astype(np.int32)


class Draws(NamedTuple):
    """Random numbers of one generation of n individuals."""

    selection: np.ndarray  # (n,) float64, uniform
    crossing: np.ndarray  # (n,) float64, uniform
    other: np.ndarray  # (n,) int64: whom an individual is crossed with
    begin: np.ndarray  # (n,) int64, as end: the attributes taken from the other
    end: np.ndarray
    mutation: np.ndarray  # (n, d) float64, uniform
    values: np.ndarray  # (n, d) int32, what mutations lead to

    @classmethod
    def of(cls, rng: np.random.Generator, n: int, domain: Domain, settings: Settings) -> "Draws":
        """Draw the numbers."""
        d = domain.n_attributes
        selection, crossing = rng.random((2, n))
        other, begin = rng.integers(n, size=n), rng.integers(d, size=n)
        low, high = (0, d - begin) if settings.short_segments else (begin + 1, d + 1)
        end = rng.integers(low, high)
        top = np.maximum(domain.high - settings.top_excluded, domain.low)
        values = rng.integers(domain.low, top, size=(n, d), endpoint=True, dtype=np.int32)
        return cls(selection, crossing, other, begin, end, rng.random((n, d)), values)


def _evolve(task: Task, population: np.ndarray, numbers: np.ndarray, settings: Settings) -> Iterator[Trail]:
    """Yield what each generation visits, the first population first."""
    if not len(population):
        return
    subject, known = task.subject, set(map(tuple, population.tolist()))
    for generation in range(task.hops + 1):
        found = check(subject, population)
        yield Trail(population, found.discriminatory, numbers, found.queries)
        fitness = _fitness(subject, population, found, known, settings)
        rng = stream(task.seed, "expga", "generation", generation)
        draws = Draws.of(rng, len(population), subject.domain, settings)
        chosen = _select(fitness, draws)
        population, numbers = population[chosen], numbers[chosen]
        _cross(population, draws, settings)
        hit = draws.mutation < settings.mutation
        population[hit] = draws.values[hit]


def _select(fitness: np.ndarray, draws: Draws) -> np.ndarray:
    """Return whom each place of the next generation goes to, (n,) int64, by chances as their fitness is."""
    ends = fitness.cumsum()
    return np.searchsorted(ends, draws.selection * ends[-1], side="right")


def _cross(population: np.ndarray, draws: Draws, settings: Settings) -> None:
    """Let individuals take attributes from others, in turn: who comes later takes from who is crossed."""
    for place in np.flatnonzero(draws.crossing < settings.crossing):
        segment = slice(draws.begin[place], draws.end[place])
        population[place, segment] = population[draws.other[place], segment]


def _fitness(
    subject: Subject, population: np.ndarray, found: Check, known: set[tuple[int, ...]], settings: Settings
) -> np.ndarray:
    """Return the fitness of everyone, (n,) int64; discriminatory samples become `known`, which is changed."""
    fit = found.discriminatory
    if settings.last_value_fitness:
        fit, m = fit.copy(), len(subject.protected.values)
        last = np.where(subject.protected.positions(population) == m - 1, m - 2, m - 1)
        for place, x in enumerate(map(tuple, population.tolist())):
            if x in known:
                fit[place] = found.flips[place, last[place]]
            elif fit[place]:
                known.add(x)
    return np.where(fit, FIT, UNFIT)
