"""Re-rank every list of a file, as a stream: a chunk of the file and its longest list are in memory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from biaslab.ranking._list_kernels import rerank_lists
from biaslab.ranking.algorithms import algorithm_number, check_k
from biaslab.ranking.desired import Groups, choose, group
from biaslab.ranking.lists import OLD_RANK, RANK, ListFile, Lists, check_suffix, open_output
from biaslab.ranking.measures import MEASURES, discount_table, log_table

RANKINGS = ("before", "after")
"""The top places by score, and the re-ranked ones."""


@dataclass(frozen=True)
class Part:
    """What is measured in some lists (n_lists of them).

    Attributes
    ----------
    queries : sequence of str
        Names of the lists.
    n_candidates, n_places, n_exhausted : (n_lists,) int64
        Candidates; re-ranked places; places that went to another value because one had no candidates left.
    measures : (n_lists, 2, 6) float64
        Before and after, in the order of ``measures.MEASURES``.
    shares : dict of str to (3,) float64
        Sums over the lists, by value: the desired share, and that in the top places before and after.
    """

    queries: Sequence[str]
    n_candidates: np.ndarray
    n_places: np.ndarray
    n_exhausted: np.ndarray
    measures: np.ndarray
    shares: dict[str, np.ndarray]


def rerank_file(source: ListFile, out: str | os.PathLike, desired: str, k: int, algorithm: str) -> Part:
    """Write the re-ranked top k of every list of a file, and measure them.

    Parameters
    ----------
    source : ListFile
        The candidates.
    out : path-like
        Receives the top k of each list in the new order: all columns of the input, the new rank, and the old
        one, by score; of equal scores the earlier row is the better.
    desired : str
        One of ``desired.KINDS``, or a file of shares.
    k : int
        Places; a shorter list is re-ranked whole.
    algorithm : str
        One of ``algorithms.ALGORITHMS``.

    Returns
    -------
    Part
        Of all lists; they are in the order of the file.

    Raises
    ------
    InputError
        When an argument or a line of a file is wrong; then `out` is untouched.
    """
    check_k(k)
    check_suffix(out)
    number = algorithm_number(algorithm)
    target = choose(desired, source)
    parts = []
    with open_output(out, source) as write:
        for lists in source.lists():
            ranked, part = _rerank(lists, group(lists, target, source), k, number)
            write(ranked)
            parts.append(part)
    return _merge(parts)


def _rerank(lists: Lists, groups: Groups, k: int, algorithm: int) -> tuple[pa.Table, Part]:
    """Return the rows of the top k of each list with their ranks, and what is measured."""
    sizes = np.diff(lists.offsets)
    n_places = np.minimum(sizes, k)
    place_starts = _starts(n_places)
    by_score = np.lexsort((-lists.scores, np.repeat(np.arange(len(sizes)), sizes)))
    longest = int(n_places.max())
    chosen = np.empty(place_starts[-1], np.int64)
    exhausted = np.empty(len(sizes), np.int64)
    measures = np.empty((len(sizes), len(RANKINGS), len(MEASURES)))
    rerank_lists(
        algorithm,
        lists.scores,
        by_score[np.argsort(groups.rows[by_score], kind="stable")],
        groups.rows,
        lists.offsets,
        _starts(groups.counts),
        groups.list_groups,
        groups.desired,
        by_score,
        log_table(longest),
        discount_table(longest),
        place_starts,
        chosen,
        exhausted,
        measures,
    )
    places = _places(n_places)
    best = by_score[places + np.repeat(lists.offsets[:-1], n_places)]
    shares = _shares(groups, n_places, [groups.rows[best], groups.rows[chosen]])
    old = np.empty(len(by_score), np.int64)
    old[by_score] = _places(sizes) + 1
    ranked = lists.table.take(pa.array(chosen))
    ranked = ranked.append_column(RANK, pa.array(places + 1)).append_column(OLD_RANK, pa.array(old[chosen]))
    return ranked, Part(lists.queries, sizes, n_places, exhausted, measures, shares)


def _starts(sizes: np.ndarray) -> np.ndarray:
    """Return where things of these sizes begin when they stand side by side, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def _places(sizes: np.ndarray) -> np.ndarray:
    """Return 0, 1, … of each list, one after the other."""
    starts = _starts(sizes)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)


def _shares(groups: Groups, n_places: np.ndarray, rankings: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Return, by value, the desired share and those in two rankings (given by groups), summed over lists."""
    places = np.repeat(n_places, np.diff(groups.list_groups))
    found = [np.bincount(ranking, minlength=len(places)) / places for ranking in rankings]
    sums = [np.bincount(groups.values, shares, len(groups.names)) for shares in (groups.desired, *found)]
    return dict(zip(groups.names, np.stack(sums, axis=1), strict=True))


def _merge(parts: Sequence[Part]) -> Part:
    shares: dict[str, np.ndarray] = {}
    for part in parts:
        for name, sums in part.shares.items():
            shares[name] = shares.get(name, 0) + sums
    arrays = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("n_candidates", "n_places", "n_exhausted", "measures")
    ]
    return Part([q for part in parts for q in part.queries], *arrays, dict(sorted(shares.items())))
