"""Compiled loops of FA*IR (Zehlike et al. 2017): probabilities of too few protected candidates in prefixes.

Each candidate is drawn independently and is protected with probability p.
"""

import numpy as np

from biaslab.core.jit import kernel

TIE = 1e-9
"""Probabilities are equal if they differ by at most this share of the smaller probability."""


@kernel
def draw_one(chances, i, p):
    """Update the probabilities of x protected candidates, (k + 1,) float64, from i draws to i + 1 draws."""
    for x in range(i, -1, -1):
        chances[x + 1] += chances[x] * p
        chances[x] *= 1.0 - p


@kernel
def fill_minima(alpha, p, minima):
    """Write the fewest protected candidates that pass in each prefix to `minima` (k,) int32.

    A prefix passes if the probability of at most as many protected candidates is more than alpha. Return the
    probability that a prefix of a drawn ranking has fewer.
    """
    k = minima.size
    free, passing = np.zeros(k + 1), np.zeros(k + 1)
    free[0], passing[0] = 1.0, 1.0
    failed = 0.0
    for i in range(k):
        draw_one(free, i, p)
        draw_one(passing, i, p)
        below = free[0]
        m = 0
        while below <= alpha * (1.0 + TIE) and m <= i:
            m += 1
            below += free[m]
        minima[i] = m
        for x in range(m):
            failed += passing[x]
            passing[x] = 0.0
    return failed


@kernel
def least_chance(is_protected, p):
    """Return the least probability, over prefixes of a ranking (k,) bool, of at most as many protected."""
    k = is_protected.size
    free = np.zeros(k + 1)
    free[0] = 1.0
    least = 1.0
    count = 0
    for i in range(k):
        draw_one(free, i, p)
        count += is_protected[i]
        below = 0.0
        for x in range(count + 1):
            below += free[x]
        least = min(least, below)
    return least


@kernel
def fill_p_values(is_protected, starts, shares, p_values):
    """Write the probability that a drawn ranking has a prefix as unlikely as the least likely of each list.

    is_protected (P,) bool by place, list after list; starts (L + 1,) int64; shares (L,) float64;
    p_values (L,) float64, 1 for a list without places.
    """
    for i in range(starts.size - 1):
        ranking = is_protected[starts[i] : starts[i + 1]]
        least = least_chance(ranking, shares[i])
        minima = np.empty(ranking.size, np.int32)
        failed = fill_minima(least, shares[i], minima)
        p_values[i] = 1.0 if least >= 1.0 - TIE else min(1.0, failed)


@kernel
def rank_with_minima(scores, rows, starts, n_protected, place_starts, minima, chosen, exhausted):
    """Fill each list by score, or by the best protected candidate if a prefix would have too few.

    rows (n,) int64: candidates list after list, the protected candidates of a list first, each part best
    first; starts (L + 1,) int64: where lists begin; n_protected (L,) int64: where the first parts end; minima
    (P,) int32 by place; scores, place_starts, chosen and exhausted as in ``_list_kernels.rank_lists``.
    """
    for i in range(starts.size - 1):
        first = starts[i]
        middle = first + n_protected[i]
        protected, other = first, middle
        exhausted[i] = 0
        for place in range(place_starts[i], place_starts[i + 1]):
            is_short = protected - first < minima[place]
            exhausted[i] += is_short and protected == middle
            if protected == middle or other == starts[i + 1]:
                takes_protected = protected < middle
            else:
                a, b = rows[protected], rows[other]
                is_better = scores[a] > scores[b] or (scores[a] == scores[b] and a < b)
                takes_protected = is_short or is_better
            if takes_protected:
                chosen[place] = rows[protected]
                protected += 1
            else:
                chosen[place] = rows[other]
                other += 1
