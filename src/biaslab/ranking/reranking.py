"""Re-rank every list of a file."""

import dataclasses
import os
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from biaslab.core.errors import InputError
from biaslab.ranking import registry
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import read_pools
from biaslab.ranking.lists import OLD_RANK, RANK, ListFile, check_output, write_ranked
from biaslab.ranking.pools import Settings, places_of

RANKINGS = ("before", "after")  # the top places by score, and the re-ranked top places


def rerank_file(
    source: ListFile,
    out: str | os.PathLike,
    desired: str,
    k: int,
    algorithm: str,
    settings: Settings | None = None,
) -> np.ndarray:
    """Write the re-ranked top k of every list of a file, with the new rank and the old rank by score.

    `desired` is one of ``desired.KINDS`` or a file of shares. Return for each list, (n_lists,), the number of
    places that miss the algorithm's target because a value ran out of candidates.
    """
    settings = settings or Settings()
    check_k(k)
    check_output(out, source)
    if registry.algorithm(algorithm).needs_protected and settings.protected is None:
        raise InputError(f"{algorithm}: the protected value is missing; name it with --protected")
    pools = dataclasses.replace(read_pools(source, desired), settings=settings)
    if settings.protected not in (None, *pools.groups.names):
        names = ", ".join(pools.groups.names)
        raise InputError(
            f"{source.path}: no candidate has the protected value '{settings.protected}' (values: {names})"
        )
    after, n_exhausted = registry.rerank(algorithm, pools, k)
    old = np.empty(len(pools.by_score), np.int64)
    old[pools.by_score] = places_of(pools.sizes) + 1
    ranked = source.lists.table.take(pa.array(after.rows))
    ranked = ranked.append_column(RANK, pa.array(places_of(after.n_places) + 1))
    ranked = ranked.append_column(OLD_RANK, pa.array(old[after.rows]))
    write_ranked(out, ranked, source)
    return n_exhausted


def describe_exhausted(queries: Sequence[str], n_exhausted: np.ndarray) -> str:
    """Describe in one line which lists ran out of candidates of a value; "" if no list did."""
    lists = np.flatnonzero(n_exhausted)
    if not len(lists):
        return ""
    first = queries[lists[0]]
    where = f"{len(lists)} of {len(queries)} lists (first: '{first}')" if first else "the list"
    return (
        f"in {where} a value ran out of candidates: {n_exhausted.sum()} places went to the best"
        " remaining candidates of other values"
    )
