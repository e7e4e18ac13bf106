"""The algorithms and measures of Geyik et al. 2019 for many lists of any lengths."""

import numpy as np

from biaslab.ranking.algorithms import ALGORITHMS
from biaslab.ranking.measures import MEASURES, discount_table, log_table
from biaslab.ranking.pools import UNKNOWN, Pools, Rankings, starts_of, top


def rank_pools(algorithm: str, pools: Pools, n_places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Re-rank lists like ``algorithms.rerank_report``, without unknown values; see `fa_ir.rank_pools`."""
    from biaslab.ranking._list_kernels import rank_lists

    groups = pools.groups
    chosen = np.empty(n_places.sum(), np.int64)
    exhausted = np.empty(len(n_places), np.int64)
    rank_lists(
        ALGORITHMS.index(algorithm),
        pools.scores,
        pools.by_group,
        starts_of(groups.counts),
        groups.list_groups,
        groups.desired,
        starts_of(n_places),
        chosen,
        exhausted,
    )
    return chosen, exhausted


def measure(rankings: Rankings) -> np.ndarray:
    """Return ``measures.MEASURES`` of rankings, (n_lists, 6) float64, in their order.

    Shares and floors are of the known candidates in a prefix; NDKL ignores prefixes without any. Without
    scores, or with a score below 0, NDCG is NaN.
    """
    from biaslab.ranking._list_kernels import measure_lists

    pools = rankings.pools
    groups = pools.groups
    n_lists, longest = len(rankings.n_places), rankings.longest
    out = np.empty((n_lists, len(MEASURES)))
    first_groups = np.repeat(groups.list_groups[:-1], rankings.n_places)
    gains, ideals = np.full(len(rankings.rows), np.nan), np.full(n_lists, np.nan)
    if pools.scores is not None:
        gains, best = pools.scores[rankings.rows], top(pools, longest)
        scores = np.where(pools.scores < 0, np.nan, pools.scores)[best.rows]
        ideals = np.bincount(best.lists, scores * best.table_at_places(discount_table(best.longest)), n_lists)
    measure_lists(
        np.where(rankings.groups == UNKNOWN, UNKNOWN, rankings.groups - first_groups),
        gains,
        ideals,
        starts_of(rankings.n_places),
        groups.list_groups,
        groups.desired,
        log_table(longest),
        discount_table(longest),
        out,
    )
    return out
