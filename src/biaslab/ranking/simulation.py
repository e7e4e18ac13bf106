"""The simulation of Geyik et al. 2019: random desired distributions and scores, five rankings, all measures.

For every number of values m, a desired distribution is m uniform draws divided by their sum. Every value has
the same number of candidates with uniform scores, and the top of each ranking is measured. All rankings use
the same lists, so that differences can be measured list by list.
"""

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.batches import Moments, measure_batch
from biaslab.ranking.measures import MEASURES

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))  # the columns of the tables of the area
RATIO = "min_ratio"
"""The smallest ratio of observed to desired share, exp(MinSkew): 0 if MinSkew is minus infinity."""

QUANTITIES = (*MEASURES, RATIO)
COMPARED = ("min_skew", "max_skew", "ndkl", "ndcg")
PAIRS = tuple(itertools.combinations(range(len(ALGORITHMS)), 2))

_CHUNK = 2_000_000  # scores drawn at once; the size affects the random numbers


class Simulation(NamedTuple):
    """The tables of the simulation; infinite and undefined values are counted and excluded from means."""

    measures: pd.DataFrame
    feasibility: pd.DataFrame
    differences: pd.DataFrame


def simulate(
    sizes: Sequence[int], distributions: int, candidates: int, top: int, seed: int, threads: int
) -> Simulation:
    """Simulate attributes with different numbers of values; the result does not depend on the threads."""
    check_top(top, candidates)
    parts = []
    total = len(sizes) * distributions
    with tqdm(total=total, desc="simulation", unit="list", disable=None) as progress:
        for m in sizes:
            parts.append(_simulate_size(m, distributions, candidates, top, seed, threads, progress))
    return Simulation(*(pd.concat(tables, ignore_index=True) for tables in zip(*parts, strict=True)))


def check_top(top: int, candidates: int) -> None:
    """Refuse rankings that are longer than the number of candidates of a value."""
    if top > candidates:
        raise InputError(
            f"the top is {top}, but each value has {candidates} candidates and could run out; lower the top"
        )


def write_simulation(
    attribute_values: list[int],
    distributions: int,
    candidates: int,
    top: int,
    seed: int,
    measures: Path,
    feasibility: Path,
    differences: Path,
    threads: int = 1,
) -> None:
    """Run the simulation and write its three tables."""
    tables = simulate(attribute_values, distributions, candidates, top, seed, threads)
    for path, table in zip((measures, feasibility, differences), tables, strict=True):
        write_tsv(path, table)


def draw(m: int, n_lists: int, candidates: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores (n_lists, m, candidates), the best of each value first, and desired shares (n_lists, m)."""
    desired = rng.random((n_lists, m))
    desired /= desired.sum(axis=1, keepdims=True)
    scores = rng.random((n_lists, m, candidates))
    np.negative(scores, out=scores)
    scores.sort(axis=-1)
    np.negative(scores, out=scores)
    return scores, desired


def _simulate_size(
    m: int, distributions: int, candidates: int, top: int, seed: int, threads: int, progress: tqdm
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    quantities = Moments((len(ALGORITHMS), len(QUANTITIES)))
    differences = Moments((len(PAIRS), len(COMPARED)))
    infeasible = np.zeros(len(ALGORITHMS), dtype=np.int64)
    compared = [MEASURES.index(measure) for measure in COMPARED]
    first, second = np.transpose(PAIRS)
    chunk = max(1, _CHUNK // (m * candidates))
    for number, start in enumerate(range(0, distributions, chunk)):
        n_lists = min(chunk, distributions - start)
        rng = stream(seed, "ranking simulation", m, number)
        values = measure_batch(*draw(m, n_lists, candidates, rng), top, threads)
        ratio = np.exp(values[..., MEASURES.index("min_skew"), None])
        quantities.add(np.concatenate([values, ratio], axis=-1))
        with np.errstate(invalid="ignore"):  # two infinite skews have no difference
            differences.add(values[:, first][..., compared] - values[:, second][..., compared])
        infeasible += (values[..., MEASURES.index("infeasible_index")] > 0).sum(axis=0)
        progress.update(n_lists)
    keys = itertools.product([m], [candidates], [top], ALGORITHMS, QUANTITIES)
    measures = pd.DataFrame(keys, columns=["n_values", "candidates", "top", "algorithm", "measure"])
    measures = measures.assign(
        n_lists=distributions, n_infinite=distributions - quantities.n.ravel(), **quantities.columns()
    )
    rows = [
        (m, algorithm, distributions, k, k / distributions, *share_interval(int(k), distributions))
        for algorithm, k in zip(ALGORITHMS, infeasible, strict=True)
    ]
    feasibility = pd.DataFrame(rows, columns=COLUMNS["feasibility"])
    rows = [(m, measure, ALGORITHMS[a], ALGORITHMS[b]) for a, b in PAIRS for measure in COMPARED]
    pairs = pd.DataFrame(rows, columns=["n_values", "measure", "algorithm", "other"])
    return measures, feasibility, pairs.assign(n_lists=differences.n.ravel(), **differences.columns())
