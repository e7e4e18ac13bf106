"""Comparisons of the rates of groups, literally: intervals by a grid, tests by writing out permutations."""

import itertools
import math

import numpy as np
import scipy.stats


def ratio_interval(x, m, y, k, limit):
    """All ratios of a fine grid that the score test does not reject; rates by a grid of likelihoods."""
    q = np.linspace(1e-4, 1 - 1e-4, 5001)
    accepted = []
    for ratio in np.exp(np.linspace(-4, 4, 1601)):
        p = ratio * q
        p, inside = p[p < 1], q[p < 1]
        likelihood = x * np.log(p) + (m - x) * np.log(1 - p)
        likelihood += y * np.log(inside) + (k - y) * np.log(1 - inside)
        b = inside[np.argmax(likelihood)]
        a = ratio * b
        value = (x - m * a) ** 2 / (m * a * (1 - a)) + (y - k * b) ** 2 / (k * b * (1 - b))
        if value * (m + k - 1) / (m + k) <= limit:
            accepted.append(ratio)
    return min(accepted), max(accepted)


def statistics(lists):
    """The statistic of each group; a list is (groups of the candidates, their hits)."""
    groups = sorted({g for members, _ in lists for g in members})
    sums, by_chance, over_lists = {}, {}, {}
    for group in groups:
        deviations, variance = [], 0.0
        for members, hits in lists:
            n, mine = len(members), members.count(group)
            mean = sum(hits) / n
            here = sum(h for g, h in zip(members, hits, strict=True) if g == group)
            if 0 < mine < n:
                deviations.append(here - mine * mean)
                spread = sum((h - mean) ** 2 for h in hits) / (n - 1)
                variance += mine * (1 - mine / n) * spread
        sums[group], by_chance[group] = sum(deviations), variance
        if len(deviations) > 1:
            over_lists[group] = len(deviations) * np.var(deviations, ddof=1)
    common = sum(over_lists.values()) / sum(by_chance[g] for g in over_lists) if over_lists else 1.0
    return {
        g: abs(sums[g]) / math.sqrt(max(by_chance[g] * max(common, 1.0), over_lists.get(g, 0.0)))
        for g in groups
    }


def p_values(lists):
    """Share of all permutations of groups within lists whose greatest statistic is as large, by group."""
    observed = statistics(lists)
    ways = [sorted(set(itertools.permutations(members))) for members, _ in lists]
    greatest = [
        max(statistics([(list(w), hits) for w, (_, hits) in zip(way, lists, strict=True)]).values())
        for way in itertools.product(*ways)
    ]
    found = {g: np.mean([t >= s - 1e-9 for t in greatest]) for g, s in observed.items()}
    if len(lists) > 1:
        power = 1 if len(found) == 2 else len(found)
        for group, statistic in observed.items():
            n_lists = sum(0 < members.count(group) < len(members) for members, _ in lists)
            tail = 2 * scipy.stats.t.sf(statistic, (n_lists - 1) * (len(found) - 1))
            found[group] = max(found[group], 1 - (1 - tail) ** power)
    return found
