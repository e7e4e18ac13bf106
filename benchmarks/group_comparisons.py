"""False alarms and power of comparisons of several groups, next to intervals for two groups fixed beforehand.

Each row is a design: lists of equal groups, of which a quarter of the candidates is chosen. The columns are
shares of drawn files. *None*: all candidates are alike; *half*: the last group has half the others' rate.
"""

import time

from biaslab.core.comparisons import SIGNIFICANT, GroupTest, pair_level, ratio_intervals
from biaslab.core.rates import FOUR_FIFTHS, ratio_interval
from biaslab.core.rng import stream
from biaslab.core.stats import LEVEL

import numpy as np
import pandas as pd
import scipy.stats

DESIGNS = [(1, G, n) for G in (2, 3, 5, 12, 20) for n in (30, 200, 1000)]
DESIGNS += [(60, G, 4) for G in (2, 5, 12)] + [(10, G, 10) for G in (2, 5, 12)]
"""Lists, groups, and candidates of each group in each list."""
N_FILES = {1: 2000, 10: 1000, 60: 500}
"""Files that are drawn, by the number of lists."""
PREFERENCE = 0.6
"""Standard deviation of the log odds that lists give to groups, in the rows of lists that differ."""


def draw(rng, n_files, n_lists, n_groups, size, share, spread):
    """Return hits (n_files, n_lists, n_groups): the best quarter; the last group scores lower."""
    places = n_groups * size // 4
    shift = rng.normal(0, spread, (n_files, n_lists, n_groups))
    shift[..., -1] += np.log(share)
    hits = np.empty(shift.shape, np.int64)
    step = max(1, 5_000_000 // (n_lists * n_groups * size))
    for first in range(0, n_files, step):
        part = shift[first : first + step]
        keys = rng.gumbel(size=(*part.shape, size)) + part[..., None]
        keys = -keys.reshape(*part.shape[:2], -1)
        top = np.argpartition(keys, places, axis=2)[:, :, :places] // size
        hits[first : first + step] = np.stack([(top == v).sum(axis=2) for v in range(n_groups)], axis=2)
    return hits


def odds_of_half(n_groups, size):
    """Return the odds, by sequential draws, at which the last group has half the rate of the others."""
    rng, low, high = stream(1, "odds"), 0.05, 1.0
    n = max(size, 3000 // n_groups)
    for _ in range(12):
        middle = (low + high) / 2
        hits = draw(rng, 1, 20, n_groups, n, middle, 0.0).sum(axis=(0, 1))
        is_less = hits[-1] < hits[:-1].mean() / 2
        low, high = (middle, high) if is_less else (low, middle)
    return middle


def fixed_intervals(hits, n):
    """Return the intervals of one file that were used before: Walter's, or Student's t over lists."""
    S, N = hits.sum(axis=0), n.sum(axis=0)
    r = int(np.argmax(S / N))
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(n) == 1:
            a, b = S + 0.5, N + 0.5
            middle = np.log(a / b) - np.log(a[r] / b[r])
            half = scipy.stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(1 / a - 1 / b + 1 / a[r] - 1 / b[r])
        else:
            deviations = hits / S - n / N
            squares = ((deviations - deviations[:, [r]]) ** 2).sum(axis=0) * len(n) / (len(n) - 1)
            middle = np.log(S / N) - np.log(S[r] / N[r])
            half = scipy.stats.t.ppf((1 + LEVEL) / 2, len(n) - 1) * np.sqrt(squares)
        return np.delete(np.exp(middle + half), r)


def current_intervals(files, n):
    """Return the upper ends of simultaneous intervals of files, infinite for the best group."""
    totals, N = files.sum(axis=1), n.sum(axis=0)
    best = totals.argmax(axis=1)
    if len(n) == 1:
        of_best = np.take_along_axis(totals, best[:, None], axis=1)
        high = ratio_interval(totals, N, of_best, N[0], pair_level(len(N)))[1]
    else:
        high = np.stack([ratio_intervals(hits, n, r)[:, 1] for hits, r in zip(files, best, strict=True)])
    np.put_along_axis(high, best[:, None], np.inf, axis=1)
    return high


def shares(test, files):
    """Return in which share of files each method sees a difference, or calls a group below four fifths."""
    is_seen = test.p_values(files).min(axis=1) <= SIGNIFICANT
    before = np.stack([fixed_intervals(hits, test.n) for hits in files]).min(axis=1)
    now = current_intervals(files, test.n).min(axis=1)
    found = [before < 1, before < FOUR_FIFTHS, is_seen, is_seen & (now < 1), is_seen & (now < FOUR_FIFTHS)]
    return np.mean(found, axis=1)


def main():
    """Print the table."""
    begin, rows = time.perf_counter(), []
    names = ["fixed: differs", "fixed: below 4/5", "test: differs", "pair: differs", "pair: below 4/5"]
    for n_lists, n_groups, size in DESIGNS:
        n = np.full((n_lists, n_groups), size)
        zero = np.zeros(n_lists)
        places = np.full(n_lists, n_groups * size // 4)
        test = GroupTest(n, places, zero.astype(np.int64), zero)
        half = odds_of_half(n_groups, size)
        cases = [("none", 1.0, 0.0), ("half", half, 0.0)]
        if n_lists > 1:
            cases.insert(1, ("none, lists differ", 1.0, PREFERENCE))
        for case, odds, spread in cases:
            rng = stream(0, "group comparisons", n_lists, n_groups, size, case)
            found = shares(test, draw(rng, N_FILES[n_lists], n_lists, n_groups, size, odds, spread))
            about = {"lists": n_lists, "groups": n_groups, "members": size * n_lists, "difference": case}
            rows.append(about | dict(zip(names, (100 * found).round(1).tolist(), strict=True)))
    print(f"\npercent of files; {time.perf_counter() - begin:.0f} s\n")
    print(pd.DataFrame(rows).to_string(index=False))


if __name__ == "__main__":
    main()
