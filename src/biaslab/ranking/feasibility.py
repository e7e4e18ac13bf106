"""Desired distributions that an algorithm violates: exact searches over all orders of scores.

The shares are n_a / b with integers n_a > 0 (without a common factor; b is their sum), and every value has
enough candidates. A ranking is infeasible if a value has fewer than floor(k p_a) of the first k places.

**DetGreedy, DetCons, DetRelaxed.** A place goes to the best next candidate of a set of values that depends
only on the counts. For every choice of a value from the set at each place, scores that decrease along the
places produce exactly these choices. The rankings for all scores are therefore the paths through these sets,
and `search` follows all paths. At k = b all products k p_a are integers, so that a feasible ranking has
counts n_a there and starts over: feasible up to k = b implies feasible for every k.

DetRelaxed is feasible for all shares. The (c + 1)-th candidate of value a may take place k if c < ceil(k
p_a), from place floor(c / p_a) + 1 on. It must have a place if c + 1 <= floor(k p_a), at place ceil((c + 1) /
p_a) at the latest. These are unit jobs with integer release times and deadlines. Serving value a at rate p_a
is a fractional schedule, so that an integer schedule exists (bipartite matchings), and taking the released
job with the earliest deadline finds one (Horn 1974, Some simple scheduling algorithms). DetRelaxed does
exactly that: an open value has c = floor(k p_a), so that ceil(ceil(k p_a) / p_a) is its deadline, and a short
value has deadline k. DetCons takes the earliest (c + 1) / p_a, also an earliest deadline, and is therefore
also feasible.

**DetConstSort.** A candidate is appended at place k, the sum of the floors, or before, and moves back at most
to place k; so the algorithm is feasible for all shares. `search` follows both answers to every comparison
that the order of appending leaves open, even if answers contradict each other: all orders of scores, and
more. It checks all places wherever the algorithm may stop. Places up to k = b never change later, so that
feasible up to k = b again implies feasible for every k.
"""

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.simulation import COLUMNS

FAIR = ALGORITHMS[1:]  # the algorithms that follow a desired distribution


class Search(NamedTuple):
    """The result of a search over all orders of scores."""

    n_states: int  # distinct states that were reached
    violation: tuple[int, ...]  # values of the shortest infeasible ranking; empty: none


def distributions(n_values: int, denominator: int) -> Iterator[tuple[int, ...]]:
    """Yield shares of `n_values` values: increasing numerators above 0 over a least common denominator."""
    for numerators in itertools.combinations_with_replacement(range(1, denominator + 1), n_values):
        if sum(numerators) == denominator and math.gcd(*numerators) == 1:
            yield numerators


def search(numerators: tuple[int, ...], algorithm: str) -> Search:
    """Search for scores that make an algorithm of `FAIR` infeasible."""
    if algorithm == "det_const_sort":
        return _search_constrained_sort(numerators)
    return _search_greedy(numerators, algorithm)


def search_all(algorithm: str, max_values: int, max_denominator: int) -> pd.DataFrame:
    """Search all distributions over 2 to `max_values` values; return rows of the table `enumeration`."""
    if max_values < 2 or max_denominator < max_values:
        raise InputError(
            f"{algorithm}: no shares of {max_values} values have denominators up to {max_denominator}; "
            "search 2 values or more, and denominators up to their number or more"
        )
    rows = []
    for n_values in range(2, max_values + 1):
        denominators = range(n_values, max_denominator + 1)
        results = [search(p, algorithm) for b in denominators for p in distributions(n_values, b)]
        n_states = sum(result.n_states for result in results)
        n_infeasible = sum(result.violation != () for result in results)
        rows.append((algorithm, n_values, max_denominator, len(results), n_states, n_infeasible))
    return pd.DataFrame(rows, columns=COLUMNS["enumeration"])


def write_search(out: Path, limit: tuple[int, ...] = (6, 18), sort_limit: tuple[int, ...] = (4, 12)) -> None:
    """Write the number of distributions that each algorithm violates; DetConstSort has its own limit."""
    limits = dict.fromkeys(FAIR, limit) | {"det_const_sort": sort_limit}
    write_tsv(
        out, pd.concat([search_all(name, *limit_) for name, limit_ in limits.items()], ignore_index=True)
    )


def qualified_values(
    counts: tuple[int, ...], k: int, numerators: tuple[int, ...], algorithm: str
) -> list[int]:
    """Return the values that qualify for place k, given the counts of the places before."""
    b = sum(numerators)
    short = [a for a, n in enumerate(numerators) if counts[a] < k * n // b]
    if short:
        return short
    due = {a: -(-k * n // b) for a, n in enumerate(numerators)}
    last = {a: Fraction(due[a] * b, numerators[a]) for a in due if counts[a] < due[a]}
    if algorithm == "det_relaxed":
        last = {a: math.ceil(place) for a, place in last.items()}
    if algorithm == "det_greedy":
        return list(last)
    return [a for a in last if last[a] == min(last.values())]


def _search_greedy(numerators: tuple[int, ...], algorithm: str) -> Search:
    b = sum(numerators)
    rankings = {(0,) * len(numerators): ()}  # counts -> one of the rankings that lead to them
    n_states = 0
    for k in range(1, b + 1):
        following = {}
        for counts, ranking in rankings.items():
            for a in qualified_values(counts, k, numerators, algorithm):
                after = (*counts[:a], counts[a] + 1, *counts[a + 1 :])
                following.setdefault(after, (*ranking, a))
        rankings = following
        n_states += len(rankings)
        for counts, ranking in rankings.items():
            if any(c < k * n // b for c, n in zip(counts, numerators, strict=True)):
                return Search(n_states, ranking)
    return Search(n_states, ())


def _search_constrained_sort(numerators: tuple[int, ...]) -> Search:
    b = sum(numerators)
    lists = {(): ()}  # the places that can still change -> a list that ends so; (value, last place) each
    n_states = 0
    for k in range(1, b + 1):
        risen = [a for a, n in enumerate(numerators) if k * n // b > (k - 1) * n // b]
        following = {}
        for order, before in itertools.product(itertools.permutations(risen), lists.values()):
            for placed in insert_all(before, order, k):
                length = first_infeasible(placed, numerators)
                if length:
                    return Search(n_states, tuple(a for a, _ in placed[:length]))
                following.setdefault(placed[n_fixed(placed) :], placed)
        lists = following
        n_states += len(lists)
    return Search(n_states, ())


def n_fixed(placed: tuple[tuple[int, int], ...]) -> int:
    """Return the number of places that can never change: up to the last candidate at its last place."""
    return max((i for i, (_, last) in enumerate(placed, start=1) if last == i), default=0)


def first_infeasible(placed: tuple[tuple[int, int], ...], numerators: tuple[int, ...]) -> int:
    """Return the length of the shortest infeasible prefix, 0 if there is none."""
    b = sum(numerators)
    counts = [0] * len(numerators)
    for k, (value, _) in enumerate(placed, start=1):
        counts[value] += 1
        if any(c < k * n // b for c, n in zip(counts, numerators, strict=True)):
            return k
    return 0


def insert_all(placed: tuple, order: tuple[int, ...], k: int) -> set[tuple]:
    """Return all possible lists after appending a candidate of each value in `order`, due at place k."""
    lists = {placed}
    for a in order:
        lists = {after for before in lists for after in _insertions(before, (a, k))}
    return lists


def _insertions(placed: tuple, candidate: tuple[int, int]) -> Iterator[tuple]:
    """Yield all possible lists after appending a candidate and moving it forward.

    The candidate is worse than candidates of its own value in the list, and than candidates due at the same
    place, which are appended before it.
    """
    i = len(placed)
    yield (*placed, candidate)
    while i > 0 and placed[i - 1][1] > i:
        if placed[i - 1][0] == candidate[0] or placed[i - 1][1] == candidate[1]:
            return
        i -= 1
        yield (*placed[:i], candidate, *placed[i:])
