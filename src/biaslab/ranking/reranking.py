"""Re-rank every list of a file, as a stream: a chunk of the file and its longest list are in memory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from biaslab.core.errors import InputError
from biaslab.ranking import registry
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import choose, group
from biaslab.ranking.lists import OLD_RANK, RANK, ListFile, Lists, check_suffix, open_output
from biaslab.ranking.pools import Pools, Rankings, Settings, places_of, top_by_score

RANKINGS = ("before", "after")
"""The top places by score, and the re-ranked ones."""


@dataclass(frozen=True)
class Part:
    """What is measured in some lists."""

    queries: Sequence[str]
    n_candidates: np.ndarray  # (n_lists,) int64
    n_places: np.ndarray
    n_exhausted: np.ndarray  # places that did not get what the algorithm asks for, for want of candidates
    measures: dict[str, np.ndarray]  # (n_lists, 2) float64 each, before and after
    shares: dict[str, np.ndarray]  # by value, (3,): sums of shares desired, in the top before, and after


def rerank_file(
    source: ListFile,
    out: str | os.PathLike,
    desired: str,
    k: int,
    algorithm: str,
    settings: Settings | None = None,
) -> Part:
    """Write the re-ranked top k of every list of a file, and measure all lists, in the order of the file.

    `out` receives the top k of each list in the new order: all columns of the input, the new rank, and the
    old one, by score; of equal scores the earlier row is the better. The desired distribution is one of
    ``desired.KINDS``, or a file of shares; the algorithm, one of ``registry.ALGORITHMS``; the settings have
    the protected value and the significance of FA*IR.
    """
    settings = settings or Settings()
    check_k(k)
    check_suffix(out)
    if registry.algorithm(algorithm).needs_protected and settings.protected is None:
        raise InputError(f"{algorithm}: needs the protected value; name it (--protected)")
    target = choose(desired, source)
    parts = []
    with open_output(out, source) as write:
        for lists in source.lists():
            pools = Pools(lists.offsets, group(lists, target, source), lists.scores, settings)
            ranked, part = _rerank(lists, pools, k, algorithm)
            write(ranked)
            parts.append(part)
        merged = _merge(parts)
        _check_protected(settings.protected, merged.shares, source)
    return merged


def _check_protected(protected: str | None, values: Sequence[str], source: ListFile) -> None:
    """Refuse a protected value that no list has."""
    if protected is not None and protected not in values:
        known = ", ".join(values)
        raise InputError(
            f"{source.path}: no candidate has the protected value '{protected}' (there is {known})"
        )


def _rerank(lists: Lists, pools: Pools, k: int, algorithm: str) -> tuple[pa.Table, Part]:
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
    shares = _shares(before, after)
    return ranked, Part(lists.queries, pools.sizes, after.n_places, exhausted, measures, shares)


def top_shares(rankings: Rankings) -> np.ndarray:
    """Return the share of each group in the top, of the known ones there, (G,) float64; NaN without any."""
    with np.errstate(invalid="ignore"):
        return rankings.by_group() / rankings.n_known[rankings.pools.groups.lists]


def _shares(before: Rankings, after: Rankings) -> dict[str, np.ndarray]:
    """Return, by value, the desired share and those in two rankings, summed over lists."""
    groups = before.pools.groups
    parts = (groups.desired, *(np.nan_to_num(top_shares(rankings)) for rankings in (before, after)))
    sums = [np.bincount(groups.values, shares, len(groups.names)) for shares in parts]
    return dict(zip(groups.names, np.stack(sums, axis=1), strict=True))


def _merge(parts: Sequence[Part]) -> Part:
    shares: dict[str, np.ndarray] = {}
    for part in parts:
        for name, sums in part.shares.items():
            shares[name] = shares.get(name, 0) + sums
    arrays = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("n_candidates", "n_places", "n_exhausted")
    ]
    measures = {name: np.concatenate([part.measures[name] for part in parts]) for name in parts[0].measures}
    return Part([q for part in parts for q in part.queries], *arrays, measures, dict(sorted(shares.items())))
