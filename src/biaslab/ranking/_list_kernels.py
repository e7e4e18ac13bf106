"""Compiled loops over lists of any lengths, as read from a file."""

import numpy as np

from biaslab.core.jit import kernel
from biaslab.ranking._kernels import fill_measures, fill_targets, rank


@kernel
def rank_lists(algorithm, scores, rows, group_starts, list_groups, desired, place_starts, chosen, exhausted):
    """Re-rank concatenated lists.

    The groups are the values of all lists, list after list: n candidates, L lists, G groups, P places in all.

    - algorithm: its index in ``algorithms.ALGORITHMS``
    - rows (n,) int64: rows of the input, group after group, each group best first
    - group_starts (G + 1,) int64: where each group begins in `rows`
    - list_groups (L + 1,) int64: the first group of each list
    - desired (G,) float64: desired share of each value; the shares of a list sum to one
    - place_starts (L + 1,) int64: where the places of each list begin; at most as many places as candidates
    - chosen (P,) int64: receives the rows of the re-ranked lists
    - exhausted (L,) int64: receives the number of places that went to another value for lack of candidates
    """
    for i in range(list_groups.size - 1):
        g, end = list_groups[i], list_groups[i + 1]
        first, last = group_starts[g], group_starts[end]
        places = chosen[place_starts[i] : place_starts[i + 1]]
        n_places, m = places.size, end - g
        p = desired[g:end]
        floors = np.empty((n_places + m + 1, m), np.int32)
        ceilings = np.empty((n_places + m + 1, m), np.int32)
        fill_targets(p, floors, ceilings)
        grouped = rows[first:last]
        order = np.empty(n_places, np.int64)
        exhausted[i] = rank(
            algorithm, scores[grouped], grouped, group_starts[g : end + 1] - first, p, floors, ceilings, order
        )
        for k in range(n_places):
            places[k] = grouped[order[k]]


@kernel
def measure_lists(values, gains, ideals, place_starts, list_groups, desired, logs, discounts, measures):
    """Measure concatenated rankings; L lists, G groups and P places as in `rank_lists`.

    - values (P,) int64: counted from the list's first group; below 0 if unknown
    - gains (P,) float64: score at each place
    - ideals (L,) float64: discounted gain of as many places of each list sorted by score
    - logs, discounts: ``measures.log_table`` and ``measures.discount_table`` for the longest list
    - measures (L, 6) float64: receives the measures
    """
    for i in range(list_groups.size - 1):
        g, end = list_groups[i], list_groups[i + 1]
        start, stop = place_starts[i], place_starts[i + 1]
        floors = np.empty((stop - start, end - g), np.int32)
        ceilings = np.empty((stop - start, end - g), np.int32)
        fill_targets(desired[g:end], floors, ceilings)
        fill_measures(
            values[start:stop],
            gains[start:stop],
            ideals[i],
            np.log(desired[g:end]),
            floors,
            logs,
            discounts,
            np.empty(end - g),
            measures[i],
        )
