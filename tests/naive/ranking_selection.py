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
    """The score interval of one list; of several, Student's t over lists by the delta method."""
    counts = [
        {v: (sum(w == v and i for w, i in some), sum(w == v for w, _ in some)) for v in (value, reference)}
        for some in lists
    ]
    s, n = ({v: sum(c[v][k] for c in counts) for v in (value, reference)} for k in (0, 1))
    if len(lists) == 1:
        counts = s[value], n[value], s[reference], n[reference]
        low, high = group_comparisons.ratio_interval(*counts, scipy.stats.chi2.ppf(0.95, 1))
        return low if s[value] else 0.0, high
    total = 0
    for of in counts:
        parts = [of[v][0] / s[v] - of[v][1] / n[v] for v in (value, reference)]
        total += (parts[0] - parts[1]) ** 2
    half = scipy.stats.t.ppf(0.975, len(lists) - 1) * math.sqrt(len(lists) / (len(lists) - 1) * total)
    ratio = s[value] / n[value] / (s[reference] / n[reference])
    return ratio * math.exp(-half), ratio * math.exp(half)
