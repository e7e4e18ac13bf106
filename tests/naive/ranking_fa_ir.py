"""Slow, literal oracles of FA*IR (Zehlike et al. 2017): every possible ranking is written out.

Shares and significances are fractions, so that nothing is rounded.
"""

import itertools
import math

from naive.ranking import ranking_key


def chance_of_at_most(x, k, p):
    """F(x; k): at most x protected candidates among k that are drawn."""
    return sum(math.comb(k, i) * p**i * (1 - p) ** (k - i) for i in range(x + 1))


def fewest(k, alpha, p):
    """m(k): the fewest protected candidates that pass in a prefix of length k."""
    return next(x for x in range(k + 1) if chance_of_at_most(x, k, p) > alpha)


def drawn_rankings(k, p):
    """Every ranking of k places (True: protected) with its chance."""
    for ranking in itertools.product([False, True], repeat=k):
        yield ranking, math.prod(p if is_protected else 1 - p for is_protected in ranking)


def passes(ranking, minima):
    return all(sum(ranking[: i + 1]) >= m for i, m in enumerate(minima))


def failure_probability(minima, p):
    return sum(chance for ranking, chance in drawn_rankings(len(minima), p) if not passes(ranking, minima))


def statistic(ranking, p):
    """The chance of the least likely prefix: of as few protected candidates or fewer."""
    return min(chance_of_at_most(sum(ranking[:k]), k, p) for k in range(1, len(ranking) + 1))


def p_value(ranking, p):
    """The chance of a ranking whose least likely prefix is as unlikely."""
    observed = statistic(ranking, p)
    return sum(chance for other, chance in drawn_rankings(len(ranking), p) if statistic(other, p) <= observed)


def rank_by_fa_ir(scores, is_protected, minima):
    """Algorithm 2: two queues; returns the order and the places at which no protected candidate was left."""
    by_score = sorted(range(len(scores)), key=lambda i: ranking_key(scores, i))
    protected = [i for i in by_score if is_protected[i]]
    other = [i for i in by_score if not is_protected[i]]
    order, count, exhausted = [], 0, 0
    for minimum in minima:
        if count < minimum and protected:
            take = protected
        elif not protected or not other:
            exhausted += count < minimum
            take = protected or other
        else:
            take = min(protected, other, key=lambda queue: ranking_key(scores, queue[0]))
        count += take is protected
        order.append(take.pop(0))
    return order, exhausted


def passes_test(ranking, p, alpha):
    """Whether the p-value is above alpha; NaN for no ranking."""
    return float(p_value(tuple(ranking), p) > alpha) if ranking else math.nan
