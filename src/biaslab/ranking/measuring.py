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

VALUES = ("desired", "share", "attention", "relevance", "exposure")
"""What is measured of each value in a list: desired share, share of the top places, share of the attention in
the top, share of the relevance of all candidates (where there are scores), and exposure (mean attention of
its candidates)."""

N_SHARES = 4
"""The first of `VALUES` are shares, 0 in a list without the value."""


class ValueMoments:
    """What `VALUES` says of each value over lists that come in chunks."""

    def __init__(self) -> None:
        self._by_value: dict[str, Moments] = {}
        self._n_lists = np.zeros(N_SHARES, np.int64)  # lists in which the shares are defined

    def add(
        self, rankings: Rankings, chosen: np.ndarray | None = None, seen: np.ndarray | None = None
    ) -> None:
        """Add some lists; `chosen` and `seen` (G,): places and attention of each group, as expected."""
        groups = rankings.pools.groups
        quantities = _quantities(rankings, chosen, seen)
        for number, name in enumerate(groups.names):
            moments = self._by_value.setdefault(name, Moments((len(VALUES),)))
            moments.add(quantities[groups.values == number])
        for i in range(N_SHARES):
            self._n_lists[i] += len(np.unique(groups.lists[np.isfinite(quantities[:, i])]))

    def table(self) -> pd.DataFrame:
        """Return `Measured`'s values. Shares are means over all lists, exposure over those with the value."""
        rows = []
        for value, moments in sorted(self._by_value.items()):
            row, absent = {"value": value, "n_lists": moments.n[0]}, self._n_lists - moments.n[:N_SHARES]
            zeros = np.full((absent.max(), len(VALUES)), np.nan)
            zeros[:, :N_SHARES][np.arange(len(zeros))[:, None] < absent] = 0.0
            moments.add(zeros)
            found = moments.columns()
            for i, name in enumerate(VALUES):
                most = 1.0 if i < N_SHARES else np.inf
                row[name] = found["mean"][i]
                row |= {f"{name}_{end}": np.clip(found[f"ci_{end}"][i], 0, most) for end in ("low", "high")}
            rows.append(row)
        return pd.DataFrame(rows)


def _quantities(rankings: Rankings, chosen: np.ndarray | None, seen: np.ndarray | None) -> np.ndarray:
    """Return `VALUES` of each group, (G, 5)."""
    groups = rankings.pools.groups
    chosen = rankings.by_group() if chosen is None else chosen
    seen = rankings.by_group(rankings.attention) if seen is None else seen
    shares, attention = groups.shares(chosen), groups.shares(seen)
    desired = np.where(np.isfinite(shares), groups.desired, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        exposures = np.where(groups.counts > 0, seen / groups.counts, np.nan)
    return np.stack([desired, shares, attention, exposure.relevance_shares(rankings), exposures], axis=1)


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
    lists, tests, moments, directions = [], [], ValueMoments(), np.zeros(3, np.int64)
    for some in source.lists():
        pools = Pools(some.offsets, group(some, target, source), some.scores, settings)
        order = order_of(some, pools, source)
        directions += directions_of(some, order)
        rankings = top(pools, order, k)
        lists.append(list_table(some.queries, rankings))
        moments.add(rankings)
        if test:
            tests.append(test_table(some.queries, rankings))
    return Measured(
        pd.concat(lists, ignore_index=True),
        moments.table(),
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
