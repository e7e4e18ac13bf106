"""Re-rank every list of a file."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from biaslab.core.errors import InputError
from biaslab.ranking import registry, ties
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import choose, group
from biaslab.ranking.lists import OLD_RANK, RANK, ListFile, Lists, check_output, write_ranked
from biaslab.ranking.pools import Groups, Pools, Settings, places_of, top_by_score

RANKINGS = ("before", "after")
"""The top places by score, and the re-ranked ones."""

FEASIBLE = "feasible"
"""Whether a ranking has no infeasible prefix; of tied candidates, in which share of their orders."""


@dataclass(frozen=True)
class Reranked:
    """What is measured in the lists of a file, before and after re-ranking."""

    queries: Sequence[str]
    n_candidates: np.ndarray  # (n_lists,) int64
    n_places: np.ndarray
    n_exhausted: np.ndarray  # places that did not get what the algorithm asks for, for want of candidates
    measures: dict[str, np.ndarray]  # (n_lists, 2) float64 each, before and after
    feasible: np.ndarray  # (n_lists, 2): 1 without an infeasible prefix, else 0
    shares: dict[str, np.ndarray]  # by value, (3,): sums of shares desired, in the top before, and after
    n_shared: int  # lists that have shares: those with a known value in the top
    n_tied: np.ndarray  # candidates of each list that tie for its last places by score
    n_tied_places: np.ndarray  # these places
    is_mixed: np.ndarray  # whether candidates of several values tie, so that measures are means over orders


def rerank_file(
    source: ListFile,
    out: str | os.PathLike,
    desired: str,
    k: int,
    algorithm: str,
    settings: Settings | None = None,
) -> Reranked:
    """Write the re-ranked top k of every list of a file, and measure all lists, in the order of the file.

    `out` receives the top k of each list in the new order: all columns of the input, the new rank, and the
    old one, by score; of equal scores the earlier row is the better in the file that is written, while
    measures and shares are means over all orders of ties (`ties`). The desired distribution is one of
    ``desired.KINDS``, or a file of shares; the algorithm, one of ``registry.ALGORITHMS``; the settings have
    the protected value and the significance of FA*IR.
    """
    settings = settings or Settings()
    check_k(k)
    check_output(out, source)
    if registry.algorithm(algorithm).needs_protected and settings.protected is None:
        raise InputError(f"{algorithm}: needs the protected value; name it (--protected)")
    target, lists = choose(desired, source), source.lists
    pools = Pools(lists.offsets, group(lists, target, source), lists.scores, settings)
    ranked, measured = _rerank(lists, pools, k, algorithm)
    _check_protected(settings.protected, measured.shares, source)
    write_ranked(out, ranked, source)
    return measured


def _check_protected(protected: str | None, values: Sequence[str], source: ListFile) -> None:
    """Refuse a protected value that no list has."""
    if protected is not None and protected not in values:
        known = ", ".join(values)
        raise InputError(
            f"{source.path}: no candidate has the protected value '{protected}' (there is {known})"
        )


def _rerank(lists: Lists, pools: Pools, k: int, algorithm: str) -> tuple[pa.Table, Reranked]:
    """Return the rows of the top k of each list with their ranks, and what is measured."""
    before = top_by_score(pools, k)
    after, exhausted = registry.rerank(algorithm, pools, k)
    old = np.empty(len(pools.by_score), np.int64)
    old[pools.by_score] = places_of(pools.sizes) + 1
    ranked = lists.table.take(pa.array(after.rows))
    ranked = ranked.append_column(RANK, pa.array(places_of(after.n_places) + 1))
    ranked = ranked.append_column(OLD_RANK, pa.array(old[after.rows]))
    found = [registry.measure(rankings) for rankings in (before, after)]
    measures = {name: np.stack([of[name] for of in found], axis=1) for name in found[0]}
    feasible = (measures["infeasible_index"] == 0).astype(np.float64)
    chances = ties.mean_over_places(pools, k, np.ones(before.longest))
    chosen = [ties.sums_by_group(pools.groups, chances), after.by_group().astype(np.float64)]
    tied, is_mixed = ties.tied_lists(pools, lists.queries), np.zeros(len(pools.sizes), bool)
    if tied is not None:
        is_mixed[tied.lists] = True
        means, chosen[1][tied.groups] = _means_over_orders(tied, k, algorithm)
        for name, values in means.items():
            (feasible if name == FEASIBLE else measures[name])[tied.lists] = values
    last = ties.last_places(pools, k)
    n_shared = int((before.n_known > 0).sum())
    measured = Reranked(
        lists.queries,
        pools.sizes,
        after.n_places,
        exhausted,
        measures,
        feasible,
        _shares(pools.groups, *chosen),
        n_shared,
        last.n_tied,
        last.n_places,
        is_mixed,
    )
    return ranked, measured


def _means_over_orders(
    tied: ties.TiedLists, k: int, algorithm: str
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return measures (L, 2) and places of each group after re-ranking (G,), means over orders."""
    n_lists, chosen = len(tied.lists), np.zeros(len(tied.groups))
    sums: dict[tuple[str, int], np.ndarray] = {}
    for pools in ties.orders(tied, k):
        before, (after, _) = top_by_score(pools, k), registry.rerank(algorithm, pools, k)
        for i, rankings in enumerate((before, after)):
            measures = registry.measure(rankings)
            measures[FEASIBLE] = measures["infeasible_index"] == 0
            for name, values in measures.items():
                sums[name, i] = ties.add_orders(sums.get((name, i), 0.0), values, n_lists)
        chosen = ties.add_orders(chosen, after.by_group(), len(chosen))
    n = ties.n_orders(k)
    means = {name: np.stack([sums[name, 0], sums[name, 1]], axis=1) / n for name, _ in sums}
    return means, chosen / n


def _shares(groups: Groups, before: np.ndarray, after: np.ndarray) -> dict[str, np.ndarray]:
    """Return, by value, the desired share and those in two rankings, summed over lists that have shares."""
    shares = [groups.shares(chosen) for chosen in (before, after)]
    desired = np.where(np.isfinite(shares[0]), groups.desired, 0.0)
    parts = (desired, *map(np.nan_to_num, shares))
    sums = [np.bincount(groups.values, of, len(groups.names)) for of in parts]
    return dict(zip(groups.names, np.stack(sums, axis=1), strict=True))
