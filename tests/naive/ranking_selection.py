"""Selection rates, impact ratios, bounds over unknown values, literally; lists of (value or None, in top)."""

import itertools
import math
from fractions import Fraction

import scipy.stats

from naive import group_comparisons


def rate(lists, value):
    """Share of the candidates of a value that are in the top of their list, a fraction."""
    chosen = [is_in for candidates in lists for v, is_in in candidates if v == value]
    return Fraction(sum(chosen), len(chosen)) if chosen else None


def bounds(lists, value, reference):
    """Least and greatest share of the top, rate and ratio over all fillings of the unknown."""
    values = sorted({v for candidates in lists for v, _ in candidates if v is not None})
    unknown = [(i, j) for i, some in enumerate(lists) for j, (v, _) in enumerate(some) if v is None]
    shares, rates, ratios = [], [], []
    for filling in itertools.product(values, repeat=len(unknown)):
        filled = [list(candidates) for candidates in lists]
        for (i, j), v in zip(unknown, filling, strict=True):
            filled[i][j] = (v, filled[i][j][1])
        top = [v for candidates in filled for v, is_in in candidates if is_in]
        shares.append(Fraction(top.count(value), len(top)))
        rates.append(rate(filled, value))
        if rate(filled, reference):
            ratios.append(rates[-1] / rate(filled, reference))
    return [(min(x), max(x)) for x in (shares, rates, ratios)]


def ratio_interval(lists, value, reference):
    """The score interval of two values; of several lists by Student's t, its variance that over lists."""
    counts = [
        {v: (sum(w == v and i for w, i in some), sum(w == v for w, _ in some)) for v in (value, reference)}
        for some in lists
        if any(v is not None for v, _ in some)
    ]
    s, n = ({v: sum(c[v][k] for c in counts) for v in (value, reference)} for k in (0, 1))
    limit, n_lists = scipy.stats.chi2.ppf(0.95, 1), len(counts)
    if n_lists > 1:
        deviation = {v: [c[v][0] / s[v] - c[v][1] / n[v] if s[v] else 0 for c in counts] for v in s}
        over_lists = sum((a - b) ** 2 for a, b in zip(*deviation.values(), strict=True))
        alone = sum(1 / s[v] - 1 / n[v] for v in s if s[v])
        inflation = max(1, n_lists / (n_lists - 1) * over_lists / alone) if alone else 1
        df = min(sum(c[v][1] > 0 for c in counts) for v in s) - 1
        limit = scipy.stats.t.ppf(0.975, df) ** 2 * inflation if df > 0 else math.nan
    if math.isnan(limit):
        return math.nan, math.nan
    low, high = group_comparisons.ratio_interval(s[value], n[value], s[reference], n[reference], limit)
    return low if s[value] else 0.0, high
