"""Measure the lists of a file as they are, as a stream: no re-ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.ranking import exposure, fa_ir, registry
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import choose, group
from biaslab.ranking.lists import ListFile, Lists
from biaslab.ranking.moments import Moments
from biaslab.ranking.pools import UNKNOWN, Pools, Rankings, Settings, top
from biaslab.ranking.reranking import top_shares

VALUES = {
    "desired": lambda rankings: rankings.pools.groups.desired,
    "share": top_shares,
    "attention": exposure.attention_shares,
    "relevance": exposure.relevance_shares,
    "exposure": exposure.exposures,
}
"""What is measured of each value in a list: desired share, share of the top places, share of the attention in
the top, share of the relevance of all candidates (where there are scores), and exposure (mean attention of
its candidates)."""


@dataclass(frozen=True)
class Measured:
    """What was measured of the lists of a file; `tests` are FA*IR's, where they were asked for."""

    lists: pd.DataFrame  # query, n_candidates, n_places, n_unknown (of the places), and the measures
    values: pd.DataFrame  # value, n_lists (that have or should have it), and `VALUES`
    tests: pd.DataFrame | None
    n_unsorted: int = 0  # lists whose scores do not fall from place to place
    n_rising: int = 0  # those of them whose scores rise more often than they fall
    n_gaps: int = 0  # lists whose places do not count up from 0 or 1


def measure_file(source: ListFile, desired: str, k: int, settings: Settings, test: bool = False) -> Measured:
    """Measure the top k of every list of a file.

    The lists are in the order of their column of ranks, or without one in the order of the file. The desired
    distribution is one of ``desired.KINDS``, or a file of shares; `test` tells whether to test, by FA*IR,
    each value of each list for too few places.
    """
    check_k(k)
    target = choose(desired, source)
    lists, tests, moments, directions = [], [], {}, np.zeros(3, np.int64)
    for some in source.lists():
        pools = Pools(some.offsets, group(some, target, source), some.scores, settings)
        order = order_of(some, pools, source)
        directions += directions_of(some, order)
        rankings = top(pools, order, k)
        lists.append(list_table(some.queries, rankings))
        add_values(moments, rankings)
        if test:
            tests.append(test_table(some.queries, rankings))
    return Measured(
        pd.concat(lists, ignore_index=True),
        value_table(moments),
        pd.concat(tests, ignore_index=True) if test else None,
        *directions.tolist(),
    )


def summarize(lists: pd.DataFrame) -> pd.DataFrame:
    """Return the means (``registry.mean_of``) of the measures over lists; `fair`: where nothing is unfair."""
    return pd.DataFrame(
        {"measure": name, "title": measure.title, "fair": measure.fair}
        | registry.mean_of(name, lists[name].to_numpy())
        for name, measure in registry.MEASURES.items()
        if name in lists
    )


def order_of(lists: Lists, pools: Pools, source: ListFile) -> np.ndarray:
    """Return the candidates list after list, best place first."""
    if lists.ranks is None:
        return np.arange(len(pools.lists))
    broken = lists.ranks % 1 != 0
    if broken.any():
        row = int(broken.argmax())
        raise InputError(
            f"{source.where(lists.first_row + row)}: the {source.columns.rank} {lists.ranks[row]:g} is no"
            " place, which is a whole number, 1 for the best; for scores sort the file by them, and name them"
            " with --score"
        )
    order = np.lexsort((lists.ranks, pools.lists))
    same = (np.diff(lists.ranks[order]) == 0) & (np.diff(pools.lists[order]) == 0)
    if same.any():
        row = int(order[int(same.argmax()) + 1])
        raise InputError(
            f"{source.where(lists.first_row + row)}: the {source.columns.rank} {lists.ranks[row]:g} is there"
            " twice in a list; give each candidate a place of its own"
        )
    return order


def directions_of(lists: Lists, order: np.ndarray) -> np.ndarray:
    """Return `Measured`'s n_unsorted, n_rising and n_gaps of some lists."""
    sizes = np.diff(lists.offsets)
    of_place = np.repeat(np.arange(len(sizes)), sizes)
    of_step, inside = of_place[1:], of_place[1:] == of_place[:-1]
    found = np.zeros(3, np.int64)
    if lists.scores is not None:
        steps = np.diff(lists.scores[order])
        up, down = (
            np.bincount(of_step[inside & (sign * steps > 0)], minlength=len(sizes)) for sign in (1, -1)
        )
        found[:2] = (up > 0).sum(), (up > down).sum()
    if lists.ranks is not None:
        ranks = lists.ranks[order]
        first, last = ranks[lists.offsets[:-1]], ranks[lists.offsets[1:] - 1]
        found[2] = ((first != 0) & (first != 1) | (last - first != sizes - 1)).sum()
    return found


def list_table(queries: Sequence[str], rankings: Rankings) -> pd.DataFrame:
    """Return `Measured`'s lists of some rankings."""
    pools = rankings.pools
    columns = {
        "query": np.array(queries, dtype=object),
        "n_candidates": pools.sizes,
        "n_places": rankings.n_places,
        "n_unknown": rankings.n_places - rankings.n_known,
    }
    return pd.DataFrame(columns | registry.measure(rankings))


def add_values(moments: dict[str, Moments], rankings: Rankings) -> None:
    """Add what `VALUES` says of each value in each list to the moments of the value."""
    groups = rankings.pools.groups
    quantities = np.stack([of(rankings) for of in VALUES.values()], axis=1)
    for number, name in enumerate(groups.names):
        moments.setdefault(name, Moments((len(VALUES),))).add(quantities[groups.values == number])


def value_table(moments: dict[str, Moments]) -> pd.DataFrame:
    """Return `Measured`'s values from what `add_values` added."""
    rows = []
    for value, of_value in sorted(moments.items()):
        row = {"value": value, "n_lists": of_value.n[0]}
        found = of_value.columns()
        for i, name in enumerate(VALUES):
            row[name] = found["mean"][i]
            row |= {f"{name}_low": found["ci_low"][i], f"{name}_high": found["ci_high"][i]}
        rows.append(row)
    return pd.DataFrame(rows)


def test_table(queries: Sequence[str], rankings: Rankings) -> pd.DataFrame:
    """Return FA*IR's p-values of each value in each list, with the desired share and from the candidates."""
    groups = rankings.pools.groups
    p_values = np.full((2, len(groups.values)), np.nan)
    for name in groups.names:
        chosen = groups.of_value(name)
        there = chosen != UNKNOWN
        for row, finite in zip(p_values, (False, True), strict=True):
            row[chosen[there]] = fa_ir.p_values(rankings, chosen, finite)[there]
    return pd.DataFrame(
        {
            "query": np.array(queries, dtype=object)[groups.lists],
            "value": np.array(groups.names, dtype=object)[groups.values],
            "n_places": rankings.n_known[groups.lists],
            "n_value": rankings.by_group(),
            "desired": groups.desired,
            "p_value": p_values[0],
            "p_value_pool": p_values[1],
        }
    )
