"""FA*IR (Zehlike et al. 2017): fewest protected candidates in every prefix, as algorithm and as test.

F(x; k) is the chance of x protected candidates or fewer among k that are drawn with chance p each. A prefix
of length k with x protected candidates passes at significance a when F(x; k) > a; the fewest that pass are
m(k). A ranking passes when all its prefixes do.

- *Failure probability*: the chance that a ranking of drawn candidates does not pass.
- *Adjusted significance*: many prefixes are tested, so that a ranking fails with a greater chance than a.
  The significance is lowered until the failure probability is a. It moves in steps: as the authors' library,
  the end of the last interval of a bisection is taken whose failure probability is nearer to a, so that it
  may be a little above a. Their library leaves the last prefix out of that probability; here it counts.
- *Test*: the statistic of a ranking is t = min over k of F(x_k; k), and its p-value is the chance of a
  statistic of t or less, which is the failure probability at significance t. It is exact, needs no adjusted
  significance, and rejects with a chance of at most a where the p-value is at most a.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError
from biaslab.ranking import _fa_ir_kernels
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.pools import UNKNOWN, Groups, Pools, Rankings, starts_of

_TABLES = 4096  # kept: lists of one length with one share have one table


class Minima(NamedTuple):
    """The fewest protected candidates in the prefixes, and what they rest on."""

    alpha: float  # of each prefix
    failure: float  # the chance that a ranking of drawn candidates has too few somewhere
    counts: np.ndarray  # (k,) int32, of the prefixes of length 1 to k


def minima(k: int, p: float, alpha: float) -> Minima:
    """Return the fewest protected candidates that pass, each prefix at a significance of `alpha`."""
    check_k(k)
    if not (0 <= p <= 1 and 0 <= alpha < 1):
        raise InputError(
            f"the share is {p:g} and alpha is {alpha:g}; give a share from 0 to 1, alpha from 0 to below 1"
        )
    counts = np.empty(k, np.int32)
    failure = _fa_ir_kernels.fill_minima(float(alpha), float(p), counts)
    return Minima(alpha, min(1.0, failure), counts)


@lru_cache(_TABLES)
def adjusted_minima(k: int, p: float, alpha: float) -> Minima:
    """Return the fewest protected candidates at the adjusted significance; arguments as `minima`."""
    lower, upper = (minima(k, p, a) for a in (0.0, alpha))
    if upper.failure <= alpha:
        return upper
    while upper.counts.sum() - lower.counts.sum() > 1 and upper.alpha - lower.alpha > 1e-15:
        middle = minima(k, p, (lower.alpha + upper.alpha) / 2)
        lower, upper = (middle, upper) if middle.failure < alpha else (lower, middle)
    return lower if alpha - lower.failure <= upper.failure - alpha else upper


def p_values(rankings: Rankings, protected: np.ndarray) -> np.ndarray:
    """Return the p-value of each ranking: that one value has too few places in its top.

    `protected` (n_lists,) is the group of that value in each list, from ``Groups.of_value``. Candidates
    whose value is unknown are passed over; NaN for a list that lacks the group or has no place with a known
    value.
    """
    known = rankings.groups != UNKNOWN
    of_places = protected[rankings.lists[known]]
    shares = _shares(rankings.pools.groups, protected)
    found = np.empty(len(rankings.n_known))
    _fa_ir_kernels.fill_p_values(
        rankings.groups[known] == of_places, starts_of(rankings.n_known), shares, found
    )
    return np.where((protected == UNKNOWN) | (rankings.n_known == 0), np.nan, found)


def passes(rankings: Rankings) -> np.ndarray:
    """Return 1 where the protected value has no significantly few places, else 0; NaN as `p_values`."""
    settings = rankings.pools.settings
    found = p_values(rankings, rankings.pools.groups.of_value(settings.protected))
    return np.where(np.isnan(found), np.nan, found > settings.alpha)


def rank_pools(pools: Pools, n_places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Re-rank lists by FA*IR; candidates whose value is unknown are left out.

    Each place goes to the best candidate left, but to the best protected one where the prefix would otherwise
    have fewer than the adjusted minimum. A list has no more places than candidates with a known value. Return
    the candidates, list after list, and the places of each list at which the minimum was missed, because no
    protected candidate was left.
    """
    groups, settings = pools.groups, pools.settings
    protected = groups.of_value(settings.protected)
    shares = _shares(groups, protected).tolist()
    tables = [
        adjusted_minima(k, p, settings.alpha).counts
        for k, p in zip(n_places.tolist(), shares, strict=True)
        if k
    ]
    known = pools.by_score[groups.rows[pools.by_score] != UNKNOWN]
    lists = pools.lists[known]
    is_other = groups.rows[known] != protected[lists]
    chosen = np.empty(n_places.sum(), np.int64)
    exhausted = np.empty(len(n_places), np.int64)
    _fa_ir_kernels.rank_with_minima(
        pools.scores,
        known[np.argsort(2 * lists + is_other, kind="stable")],
        starts_of(np.bincount(lists, minlength=len(n_places))),
        np.bincount(lists[~is_other], minlength=len(n_places)),
        starts_of(n_places),
        np.concatenate([np.empty(0, np.int32), *tables]),
        chosen,
        exhausted,
    )
    return chosen, exhausted


def _shares(groups: Groups, protected: np.ndarray) -> np.ndarray:
    """Return the desired share of a group in each list, 0 where the list lacks it."""
    there = protected != UNKNOWN
    shares = np.zeros(len(protected))
    shares[there] = groups.desired[protected[there]]
    return shares
