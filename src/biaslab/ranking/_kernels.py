"""Compiled loops of the rankings and their measures, on arrays only.

The n candidates of a list are sorted by value, best first: candidates of value a are at starts[a] to
starts[a + 1] - 1. The order is strict: the higher score first, and of equal scores the lower position.
"""

import math

import numpy as np

from biaslab.core.jit import kernel, parallel_kernel, prange

TOLERANCE = 1e-9
SCORE_ONLY, DET_GREEDY, DET_CONS, DET_RELAXED, DET_CONST_SORT = range(5)
_BELOW_MINIMUM, _NOT_QUALIFIED = -1.0, 1e300


@kernel
def ceiling_of(x):
    """Return the least integer that is at least x, up to the tolerance."""
    return math.ceil(x - TOLERANCE)


@kernel
def fill_targets(desired, floors, ceilings):
    """Write floor(k p) and ceil(k p), k = 1, 2, …, to the rows of floors and ceilings, (k_max, m) int32."""
    for row in range(floors.shape[0]):
        for a in range(desired.size):
            floors[row, a] = math.floor((row + 1) * desired[a] + TOLERANCE)
            ceilings[row, a] = math.ceil((row + 1) * desired[a] - TOLERANCE)


@kernel
def precedes(i, j, scores, positions):
    """Return whether candidate i comes before candidate j by score, then position."""
    return scores[i] > scores[j] or (scores[i] == scores[j] and positions[i] < positions[j])


@kernel
def best_value(allowed, heads, head_scores, positions):
    """Return the allowed value with the best next candidate; some value of allowed (m,) bool is true."""
    top = -math.inf
    for a in range(allowed.size):
        top = max(top, head_scores[a] if allowed[a] else -math.inf)
    best = -1
    for a in range(allowed.size):
        is_top = allowed[a] and head_scores[a] == top
        if is_top and (best < 0 or positions[heads[a]] < positions[heads[best]]):
            best = a
    return best


@kernel
def advance(value, starts, scores, heads, head_scores):
    """Return the next candidate of a value, and move on to the candidate after it."""
    taken = heads[value]
    heads[value] += 1
    if heads[value] < starts[value + 1]:
        head_scores[value] = scores[heads[value]]
    return taken


@kernel
def rank_greedily(algorithm, scores, positions, starts, desired, floors, ceilings, order):
    """Fill the slots in order, by any algorithm except DetConstSort.

    scores (n,) float64; positions (n,) int64; starts (m + 1,) int64; desired (m,) float64; floors and
    ceilings (k_max or more, m) int32; order (k_max,) int64 receives the candidates, k_max <= n. Return the
    number of slots that the best remaining candidate took because no value with candidates left qualified.
    """
    m = desired.size
    heads = starts[:m].copy()
    head_scores = np.empty(m)
    for a in range(m):
        head_scores[a] = scores[heads[a]] if heads[a] < starts[a + 1] else -math.inf
    urgency = np.empty(m)  # ties go to the best candidate
    allowed = np.empty(m, np.bool_)
    n_unqualified = 0
    for slot in range(order.size):
        least = math.inf
        for a in range(m):
            count = heads[a] - starts[a]
            low = 0.0
            if algorithm in (DET_CONS, DET_RELAXED) and desired[a] > 0.0:
                low = ceilings[slot, a] / desired[a]
            if algorithm == DET_RELAXED:
                low = ceiling_of(low)
            if algorithm != SCORE_ONLY:
                low = _NOT_QUALIFIED if count >= ceilings[slot, a] else low
                low = _BELOW_MINIMUM if count < floors[slot, a] else low
            urgency[a] = low if heads[a] < starts[a + 1] else math.inf
            least = min(least, urgency[a])
        for a in range(m):
            allowed[a] = urgency[a] <= least + TOLERANCE
        n_unqualified += least == _NOT_QUALIFIED
        best = best_value(allowed, heads, head_scores, positions)
        order[slot] = advance(best, starts, scores, heads, head_scores)
    return n_unqualified


@kernel
def insert_constrained(candidate, k, n_filled, scores, positions, placed, latest):
    """Append a candidate due at place k; move it forward past worse candidates that may come later."""
    i = n_filled
    while i > 0 and latest[i - 1] > i and precedes(candidate, placed[i - 1], scores, positions):
        placed[i], latest[i] = placed[i - 1], latest[i - 1]
        i -= 1
    placed[i], latest[i] = candidate, k


@kernel
def rank_by_constraints(scores, positions, starts, floors, order):
    """Rank by DetConstSort; arguments and result as `rank_greedily`, with k_max + m + 1 rows of `floors`.

    If a value is due but has no candidate left, the best remaining candidate takes its place. The list is
    therefore full when the sum of the floors reaches k_max, at k = k_max + m at the latest.
    """
    m = starts.size - 1
    heads = starts[:m].copy()
    head_scores = np.empty(m)
    for a in range(m):
        head_scores[a] = scores[heads[a]] if heads[a] < starts[a + 1] else -math.inf
    allowed = np.empty(m, np.bool_)
    placed = np.empty(order.size + m, np.int64)
    latest = np.empty(order.size + m, np.int64)
    n_filled = 0
    n_unqualified = 0
    k = 0
    while n_filled < order.size:
        n_due = 0
        n_missing = 0
        for a in range(m):
            has_risen = floors[k, a] > (floors[k - 1, a] if k else 0)
            allowed[a] = has_risen and heads[a] < starts[a + 1]
            n_due += allowed[a]
            n_missing += has_risen and not allowed[a]
        k += 1
        for _ in range(n_due):
            best = best_value(allowed, heads, head_scores, positions)
            allowed[best] = False
            candidate = advance(best, starts, scores, heads, head_scores)
            insert_constrained(candidate, k, n_filled, scores, positions, placed, latest)
            n_filled += 1
        for _ in range(min(n_missing, order.size - n_filled)):
            for a in range(m):
                allowed[a] = heads[a] < starts[a + 1]
            best = best_value(allowed, heads, head_scores, positions)
            candidate = advance(best, starts, scores, heads, head_scores)
            insert_constrained(candidate, k, n_filled, scores, positions, placed, latest)
            n_filled += 1
            n_unqualified += 1
    for i in range(order.size):  # an assignment of slices takes seconds to compile
        order[i] = placed[i]
    return n_unqualified


@kernel
def rank(algorithm, scores, positions, starts, desired, floors, ceilings, order):
    """Fill `order` by any algorithm; see `rank_greedily`, with k_max + m + 1 rows of targets."""
    if algorithm == DET_CONST_SORT:
        return rank_by_constraints(scores, positions, starts, floors, order)
    return rank_greedily(algorithm, scores, positions, starts, desired, floors, ceilings, order)


@kernel
def infeasibility(values, floors):
    """Return the number of prefixes with a short value, and of pairs of such a prefix and a short value.

    values (k,) int64, below 0 if unknown: prefixes skip these candidates; floors (k or more, m) int32.
    """
    m = floors.shape[1]
    counts = np.zeros(m, np.int32)
    n_known = 0
    n_short = 0
    n_prefixes = 0
    n_pairs = 0
    for i in range(values.size):
        if values[i] >= 0:
            counts[values[i]] += 1
            n_short = 0
            for a in range(m):
                n_short += counts[a] < floors[n_known, a]
            n_known += 1
        n_prefixes += n_short > 0
        n_pairs += n_short
    return n_prefixes, n_pairs


@kernel
def fill_skews(values, log_desired, logs, skews):
    """Write ln(observed share / desired share) of every value to `skews` (m,); 0 / 0 counts as 1.

    values (k,) int64, below 0 if unknown: shares are of the known values, all NaN without any; log_desired
    (m,) float64; logs (k + 1 or more,) float64, 0 and then ln 1, ln 2, …
    """
    counts = np.zeros(skews.size, np.int64)
    n_known = 0
    for i in range(values.size):
        if values[i] >= 0:
            counts[values[i]] += 1
            n_known += 1
    for a in range(skews.size):
        if n_known == 0:
            skews[a] = math.nan
        elif counts[a] > 0:
            skews[a] = logs[counts[a]] - logs[n_known] - log_desired[a]
        else:
            skews[a] = 0.0 if log_desired[a] == -math.inf else -math.inf


@kernel
def divergence(values, log_desired, logs, discounts):
    """Return NDKL; arguments as `fill_skews`, and discounts (k or more,) float64, 1 / log2(place + 1).

    With counts c_a among the n known candidates in the first i places, the divergence is (sum of c_a (ln c_a
    - ln p_a)) / n - ln n. Prefixes without a known candidate do not count.
    """
    counts = np.zeros(log_desired.size, np.int64)
    terms = 0.0
    total = 0.0
    weight = 0.0
    n_known = 0
    for i in range(values.size):
        a = values[i]
        if a >= 0:
            counts[a] += 1
            n_known += 1
            c = counts[a]
            terms += c * logs[c] - (c - 1) * logs[c - 1] - log_desired[a]
        if n_known > 0:
            total += discounts[i] * max(0.0, terms / n_known - logs[n_known])
            weight += discounts[i]
    return total / weight


@kernel
def discounted_gain(gains, discounts):
    """Return the sum of gains (k,) times discounts; NaN if a gain is negative."""
    total = 0.0
    for i in range(gains.size):
        if gains[i] < 0.0:
            return math.nan
        total += gains[i] * discounts[i]
    return total


@kernel
def fill_measures(values, gains, ideal, log_desired, floors, logs, discounts, skews, out):
    """Write the six measures of a ranking to `out`, in the order of ``measures.MEASURES``.

    values (k,) int64, below 0 if unknown, and gains (k,) float64 of the candidates in order; ideal float64,
    the discounted gain of the candidates sorted by score; skews (m,) float64, a buffer.
    """
    out[0], out[1] = infeasibility(values, floors)
    fill_skews(values, log_desired, logs, skews)
    out[2], out[3] = math.nan, math.nan
    if skews.size > 0:
        out[2], out[3] = skews.min(), skews.max()
    out[4] = divergence(values, log_desired, logs, discounts)
    out[5] = relative_gain(discounted_gain(gains, discounts), ideal)


@kernel
def relative_gain(gain, ideal):
    """Return gain / ideal; 1 if both are 0, because every order is then ideal."""
    return 1.0 if ideal == 0.0 and gain == 0.0 else gain / ideal


def _measure_lists(scores, desired, log_desired, starts, positions, values_of, logs, discounts, out):
    """Write the measures of five rankings of many lists to `out` (n_lists, 5, 6).

    scores (n_lists, n) float64, as described above; desired and its logarithms (n_lists, m) float64;
    starts (m + 1,), positions and values_of (n,) int64, the same for all lists; logs and discounts as
    `divergence`, their length is that of the rankings.
    """
    n_places = discounts.size
    m = desired.shape[1]
    for n in prange(scores.shape[0]):
        floors = np.empty((n_places + m + 1, m), np.int32)
        ceilings = np.empty((n_places + m + 1, m), np.int32)
        fill_targets(desired[n], floors, ceilings)
        order = np.empty(n_places, np.int64)
        values = np.empty(n_places, np.int64)
        gains = np.empty(n_places)
        skews = np.empty(m)
        ideal = 0.0
        for algorithm in range(5):
            rank(algorithm, scores[n], positions, starts, desired[n], floors, ceilings, order)
            for i in range(n_places):
                values[i], gains[i] = values_of[order[i]], scores[n, order[i]]
            if algorithm == SCORE_ONLY:
                ideal = discounted_gain(gains, discounts)
            fill_measures(
                values, gains, ideal, log_desired[n], floors, logs, discounts, skews, out[n, algorithm]
            )


MEASURE_LISTS = {False: kernel(_measure_lists), True: parallel_kernel(_measure_lists)}
"""The kernel by whether more than one thread is used."""
