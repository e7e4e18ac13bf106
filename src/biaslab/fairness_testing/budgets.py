"""Testers at equal numbers of model queries, for one protected attribute and for two that vary jointly."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.cases import Case, load_cases
from biaslab.fairness_testing.names import COLUMNS
from biaslab.fairness_testing.testers import trails
from biaslab.fairness_testing.testers.contract import Task, Tester
from biaslab.fairness_testing.testers.registry import TESTERS
from biaslab.fairness_testing.testers.trails import Trail

TOGETHER = 2
"""The largest number of protected attributes that vary jointly."""


@dataclass(frozen=True)
class Effort:
    """The effort of a search; see `query_budgets` and related keys in the configuration."""

    queries: tuple[int, ...]  # the budgets
    hops: int  # steps of a walk
    repetitions: int  # searches with seeds in another order and other random numbers
    seed: int


def write_budgets(
    folder: Path,
    schema: Path,
    effort: Effort,
    counts: Path,
    published_bounds: Path | None = None,
    threads: int = 1,
) -> None:
    """Compare testers on each set of protected attributes; write the table."""
    set_threads(threads)
    cases = load_cases(folder, schema, published_bounds, together=TOGETHER)
    write_tsv(counts, pd.concat([compare(case, effort) for case in cases], ignore_index=True))


def compare(case: Case, effort: Effort) -> pd.DataFrame:
    """Count the finds of every tester, except costly testers, within equal budgets."""
    rows = []
    for repetition in range(effort.repetitions):
        effort_ = replace(effort, seed=effort.seed + repetition)
        for tester, mode in compared():
            run = {"tester": tester.name, "mode": mode, "repetition": repetition}
            for budget in sorted(effort.queries):
                trail = spend(case, tester, mode, budget, effort_)
                rows.append(run | {"budget": budget} | _count(case, trail))
    table = pd.DataFrame(rows).assign(classifier=case.classifier, protected=case.attribute)
    return table[list(COLUMNS["budgets"])]


def compared() -> Iterator[tuple[Tester, str]]:
    """Yield all testers except costly testers, in the modes of code and paper."""
    for tester in TESTERS.values():
        if not tester.is_costly:
            yield from ((tester, mode) for mode in tester.modes)


def spend(case: Case, tester: Tester, mode: str, budget: int, effort: Effort) -> Trail:
    """Return the visits of a tester until its queries are spent; each seed's walk ends before the next seed.

    A tester that runs out of seeds repeats them with other random numbers. The seed of the run determines the
    order of the seeds for all testers. A visit that exceeds the budget of model queries is excluded.
    """
    task = task_of(case, tester, budget, effort)
    visited, n_queries = [], 0
    for trail in _search(task, tester, tester.settings(mode, case.published_bounds)):
        visited.append(trail)
        n_queries += int(trail.queries.sum())
        if n_queries >= budget:
            break
    trail = trails.join(visited)
    return trail.part(np.cumsum(trail.queries) <= budget)


def _search(task: Task, tester: Tester, settings: Any) -> Iterator[Trail]:
    """Yield the visits of each part, without end; a repeated seed has another number."""
    for number in itertools.count():
        seed = int(stream(task.seed, "budgets", "round", number).integers(2**31)) if number else task.seed
        for part in tester.search(replace(task, seed=seed), settings):
            # The visits of both phases from a seed precede the visits from the next seed.
            both = part.joined()
            trail = both.part(np.argsort(both.seed, kind="stable"))
            yield replace(trail, seed=trail.seed + np.int32(number * task.n_seeds))


def task_of(case: Case, tester: Tester, budget: int, effort: Effort) -> Task:
    """Return the task of a tester with a query budget."""
    order = stream(effort.seed, "budgets").permutation(len(case.seeds))
    n_values = len(case.subject.protected.values)
    # Each part spends about half of the queries if walks follow from all its seeds.
    part_seeds = max(1, budget // (2 * effort.hops * n_values))
    return Task(
        subject=case.subject,
        data=case.X,
        seeds=case.seeds[order],
        n_seeds=len(case.seeds),
        hops=effort.hops,
        n_explored=0,
        n_drawn=budget // n_values + 1,
        seed=effort.seed,
        part_seeds=None if tester.draws_seeds else part_seeds,
    )


def _count(case: Case, trail: Trail) -> dict[str, int]:
    counts = trails.count(trail, case.subject.protected)
    return {
        "n_values": len(case.subject.protected.values),
        "n_seeds": len(np.unique(trail.seed)),
        "n_queries": counts.n_queries,
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
    }
