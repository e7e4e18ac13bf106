"""Compiled loop over lists of any lengths, as they come from a file."""

import numpy as np

from biaslab.core.jit import kernel
from biaslab.ranking._kernels import discounted_gain, fill_measures, fill_targets, rank


@kernel
def rerank_lists(
    algorithm,
    scores,
    rows,
    row_groups,
    list_starts,
    group_starts,
    list_groups,
    desired,
    by_score,
    logs,
    discounts,
    place_starts,
    chosen,
    exhausted,
    measures,
):
    """Re-rank lists that stand one after the other, and measure each before and after.

    The groups are the values of all lists, list after list: n rows, L lists, G groups, P places in all.

    Parameters
    ----------
    algorithm : int64
        Place of the algorithm in ``algorithms.ALGORITHMS``.
    scores : (n,) float64
        By row of the input.
    rows : (n,) int64
        Rows of the input, group after group, each group best first.
    row_groups : (n,) int64
        Group of each row of the input.
    list_starts, place_starts : (L + 1,) int64
        Where rows and places of each list begin; a list has no more places than rows.
    group_starts : (G + 1,) int64
        Where each group begins in `rows`.
    list_groups : (L + 1,) int64
        The first group of each list.
    desired : (G,) float64
        Desired share of each value; one in sum over a list.
    by_score : (n,) int64
        Rows of the input, list after list, each list best first.
    logs, discounts : float64
        Of ``measures.log_table`` and ``measures.discount_table``, for the longest list.
    chosen : (P,) int64
        Receives the rows of the re-ranked lists.
    exhausted : (L,) int64
        Receives the places of each list that went to another value, for want of candidates.
    measures : (L, 2, 6) float64
        Receives the measures of the top places by score, and re-ranked.
    """
    for i in range(list_starts.size - 1):
        first, last = list_starts[i], list_starts[i + 1]
        g, end = list_groups[i], list_groups[i + 1]
        places = chosen[place_starts[i] : place_starts[i + 1]]
        n_places, m = places.size, end - g
        p = desired[g:end]
        floors = np.empty((n_places + m + 1, m), np.int32)
        ceilings = np.empty((n_places + m + 1, m), np.int32)
        fill_targets(p, floors, ceilings)
        grouped = rows[first:last]
        order = np.empty(n_places, np.int64)
        exhausted[i] = rank(
            algorithm,
            scores[grouped],
            grouped,
            group_starts[g : end + 1] - first,
            p,
            floors,
            ceilings,
            order,
        )
        places[:] = grouped[order]
        best = by_score[first : first + n_places]
        ideal = discounted_gain(scores[best], discounts)
        log_p, skews = np.log(p), np.empty(m)
        for after, ranking in enumerate((best, places)):
            fill_measures(
                row_groups[ranking] - g,
                scores[ranking],
                ideal,
                log_p,
                floors,
                logs,
                discounts,
                skews,
                measures[i, after],
            )
