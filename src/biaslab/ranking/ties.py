"""Tied scores: results of a ranking by score, averaged over all orders of tied candidates.

Scores leave the order of tied candidates open, and the order of the file must not decide. Shares, selected
candidates, attention and exposure of the ranking by score are exact means over all orders: each of m tied
candidates gets the mean of their m places. Quantities that are not linear in the places (NDKL, Skew, ratios,
p-values), and all results of re-ranking, are means over `n_orders` random orders of the ties. The name of a
list, its scores and its groups determine the orders; the order of the file has no effect.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from biaslab.core.rng import stream
from biaslab.ranking.pools import Pools, members_of, places_of

_BLOCK = 200_000  # candidates of concatenated orders


class LastPlaces(NamedTuple):
    """The candidates that tie for the last places of each list."""

    is_tied: np.ndarray  # (n,) bool
    n_tied: np.ndarray  # (n_lists,) int64: 0 if no candidates tie for the last place
    n_places: np.ndarray  # (n_lists,) int64: the places for which candidates tie


@dataclass(frozen=True)
class TiedLists:
    """The lists in which candidates of several groups tie."""

    lists: np.ndarray  # their indices
    groups: np.ndarray  # the indices of their groups
    pools: Pools
    queries: Sequence[str]


def n_orders(k: int) -> int:
    """Return the number of random orders; fewer for long tops, which vary less and have slow p-values."""
    return 100 if k <= 1000 else 20


def mean_over_places(pools: Pools, k: int, table: np.ndarray) -> np.ndarray:
    """Return the table entry of each candidate's place by score, averaged over ties, (n,) float64.

    `table` has entries for the places from 1, at least of the longest top; places below the top get 0.
    """
    order, lists = pools.by_score, pools.lists
    places = places_of(pools.sizes)
    weights = np.where(places < k, np.append(table[:k], 0.0)[np.minimum(places, len(table[:k]))], 0.0)
    blocks = _blocks(pools)
    means = np.bincount(blocks, weights) / np.bincount(blocks)
    out = np.empty(len(lists))
    out[order] = means[blocks]
    return out


def last_places(pools: Pools, k: int) -> LastPlaces:
    """Return the candidates that tie for the last places of the top k of each list by score."""
    n_lists, blocks, places = len(pools.sizes), _blocks(pools), places_of(pools.sizes)
    inside, size = np.bincount(blocks, places < k), np.bincount(blocks)
    is_cut = (inside > 0) & (inside < size)
    of_block = pools.lists[np.searchsorted(blocks, np.arange(len(size)))]
    is_tied = np.zeros(len(blocks), bool)
    is_tied[pools.by_score] = is_cut[blocks]
    n_tied, n_places = (np.bincount(of_block, x * is_cut, n_lists).astype(np.int64) for x in (size, inside))
    return LastPlaces(is_tied, n_tied, n_places)


def tied_lists(pools: Pools, queries: Sequence[str]) -> TiedLists | None:
    """Return the lists in which candidates of several groups tie; None if there are none."""
    blocks, rows = _blocks(pools), pools.groups.rows[pools.by_score]
    is_mixed = (np.diff(blocks) == 0) & (np.diff(rows) != 0)
    lists = np.unique(pools.lists[1:][is_mixed])
    if not len(lists):
        return None
    members = members_of(pools.groups.list_groups, lists)
    return TiedLists(lists, members, pools.take(lists), [queries[i] for i in lists])


def orders(tied: TiedLists, k: int) -> Iterator[Pools]:
    """Yield the lists with their candidates in random orders, several orders concatenated."""
    pools, n_lists = tied.pools, len(tied.lists)
    canonical = np.lexsort((pools.groups.rows, -pools.scores, pools.lists))
    keys = np.concatenate(
        [
            stream(0, "orders of ties", query).random((n_orders(k), size), np.float32)
            for query, size in zip(tied.queries, pools.sizes.tolist(), strict=True)
        ],
        axis=1,
    )
    step = max(1, _BLOCK // len(canonical))
    for first in range(0, n_orders(k), step):
        part = keys[first : first + step]
        copies = pools.take(np.tile(np.arange(n_lists), len(part)))
        firsts = np.repeat(np.arange(len(part)) * len(canonical), len(canonical))
        order = (np.tile(canonical, len(part)) + firsts)[np.lexsort((part.ravel(), copies.lists))]
        groups = replace(copies.groups, rows=copies.groups.rows[order])
        yield replace(copies, groups=groups, scores=copies.scores[order])


def _blocks(pools: Pools) -> np.ndarray:
    """Return the index, from 0, of the tie at each place of the order by score."""
    scores, lists = pools.scores[pools.by_score], pools.lists
    return np.append(0, np.cumsum((np.diff(scores) != 0) | (np.diff(lists) != 0)))
