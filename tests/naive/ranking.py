"""Slow, literal oracles of fairness-aware ranking (Geyik et al. 2019), word by word from the text."""

import math
from fractions import Fraction

# Fairness-aware ranking: Geyik et al. 2019, Sections 3 and 4. Shares are fractions: no product is rounded.
# Conventions that the paper leaves open (ties, values that run out) are those of biaslab.ranking.


def ranking_key(scores, i):
    """The order of candidates: the higher score first, of equal scores the earlier in the input."""
    return (-scores[i], i)


def ranking_by_score(scores, k):
    return sorted(range(len(scores)), key=lambda i: ranking_key(scores, i))[:k]


def ranking_queues(scores, attributes, desired):
    """The candidates of each value, best first."""
    by_score = ranking_by_score(scores, len(scores))
    return {a: [i for i in by_score if attributes[i] == a] for a in range(len(desired))}


def rank_greedily(scores, attributes, desired, k_max, kind):
    """DetGreedy, DetCons and DetRelaxed; returns the order and the places no value qualified for."""
    queues = ranking_queues(scores, attributes, desired)
    counts = dict.fromkeys(queues, 0)
    order, exhausted = [], 0
    for k in range(1, min(k_max, len(scores)) + 1):
        floor = [math.floor(k * p) for p in desired]
        ceil = [math.ceil(k * p) for p in desired]
        left = [a for a in queues if queues[a]]
        below_min = [a for a in left if counts[a] < floor[a]]
        below_max = [a for a in left if floor[a] <= counts[a] < ceil[a]]
        if below_min:
            candidates = below_min
        elif below_max:
            ratio = {a: ceil[a] / desired[a] for a in below_max}
            if kind == "det_cons":
                candidates = [a for a in below_max if ratio[a] == min(ratio.values())]
            elif kind == "det_relaxed":
                least = min(math.ceil(r) for r in ratio.values())
                candidates = [a for a in below_max if math.ceil(ratio[a]) == least]
            else:
                candidates = below_max
        else:
            candidates = left
            exhausted += 1
        value = min(candidates, key=lambda a: ranking_key(scores, queues[a][0]))
        order.append(queues[value].pop(0))
        counts[value] += 1
    return order, exhausted


def rank_by_constrained_sort(scores, attributes, desired, k_max):
    """DetConstSort; returns the order and how often a value was due and had no candidate left."""
    queues = ranking_queues(scores, attributes, desired)
    order, max_index, exhausted = [], [], 0

    def append(candidate, k):
        order.append(candidate)
        max_index.append(k)
        place = len(order)  # 1, 2, …
        while place > 1:
            one_before, here = place - 2, place - 1
            is_better = ranking_key(scores, order[here]) < ranking_key(scores, order[one_before])
            if not (is_better and max_index[one_before] >= place):
                break
            for column in (order, max_index):
                column[one_before], column[here] = column[here], column[one_before]
            place -= 1

    k = 0
    while len(order) < min(k_max, len(scores)):
        k += 1
        risen = [a for a in queues if math.floor(k * desired[a]) > math.floor((k - 1) * desired[a])]
        due = [a for a in risen if queues[a]]
        for a in sorted(due, key=lambda a: ranking_key(scores, queues[a][0])):
            append(queues[a].pop(0), k)
        for _ in range(len(risen) - len(due)):
            left = [a for a in queues if queues[a]]
            if left and len(order) < k_max:
                best = min(left, key=lambda a: ranking_key(scores, queues[a][0]))
                append(queues[best].pop(0), k)
                exhausted += 1
    return order[:k_max], exhausted


def rank_fairly(scores, attributes, desired, k_max, algorithm):
    if algorithm == "score_only":
        return ranking_by_score(scores, k_max), 0
    if algorithm == "det_const_sort":
        return rank_by_constrained_sort(scores, attributes, desired, k_max)
    return rank_greedily(scores, attributes, desired, k_max, algorithm)


def known_values(values):
    """The values that are not None, which stands for unknown: shares are of them."""
    return [a for a in values if a is not None]


def ranking_skew(values, desired, k, a):
    known = known_values(values[:k])
    if not known:
        return math.nan
    observed = Fraction(known.count(a), len(known))
    if desired[a] == 0:
        return math.inf if observed else 0.0
    return math.log(observed / desired[a]) if observed else -math.inf


def ranking_ndkl(values, desired):
    total = normaliser = 0.0
    for i in range(1, len(values) + 1):
        known = known_values(values[:i])
        if not known:
            continue
        divergence = 0.0
        for a in range(len(desired)):
            share = Fraction(known.count(a), len(known))
            if share:
                divergence += float(share) * (math.log(share / desired[a]) if desired[a] else math.inf)
        total += divergence / math.log2(i + 1)
        normaliser += 1 / math.log2(i + 1)
    return total / normaliser if normaliser else math.nan


def ranking_dcg(gains):
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains, start=1))


def ranking_measures(scores, attributes, desired, order):
    """InfeasibleIndex, InfeasibleCount, MinSkew, MaxSkew, NDKL and NDCG of a whole ranking."""
    values = [attributes[i] for i in order]
    short = [
        [
            a
            for a in range(len(desired))
            if values[:k].count(a) < math.floor(desired[a] * len(known_values(values[:k])))
        ]
        for k in range(1, len(values) + 1)
    ]
    skews = [ranking_skew(values, desired, len(values), a) for a in range(len(desired))]
    ideal = ranking_dcg([scores[i] for i in ranking_by_score(scores, len(order))])
    gain = ranking_dcg([scores[i] for i in order])
    return (
        sum(bool(values_short) for values_short in short),
        sum(len(values_short) for values_short in short),
        min(skews, default=math.nan),
        max(skews, default=math.nan),
        ranking_ndkl(values, desired),
        gain / ideal if ideal else 1.0,
    )
