"""FA*IR (Zehlike et al. 2017): the fewest protected candidates in every prefix, as algorithm and as test.

F(x; k) is the probability of at most x protected candidates among k candidates, each protected with
probability p. A prefix of length k with x protected candidates passes at significance a if F(x; k) > a; the
fewest that pass are m(k). A ranking passes if all its prefixes pass.

- *Failure probability*: the probability that a ranking of drawn candidates does not pass.
- *Adjusted significance*: many prefixes are tested, so that a ranking fails with a probability above a. The
  significance is lowered until the failure probability is a. The probability changes in steps: like the
  authors' library, take the end of the last interval of a bisection with the failure probability nearer to a,
  which may be slightly above a. The library ignores the last prefix in that probability; biaslab counts it.
- *Test*: the statistic of a ranking is t = min over k of F(x_k; k). Its p-value is the probability of a
  statistic of at most t, the failure probability at significance t. The p-value is exact and needs no
  adjusted significance. The test rejects with probability at most a if the p-value is at most a.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.pools import UNKNOWN, Groups, Pools, Rankings, starts_of

_TABLES = 4096  # cached: lists of the same length and share use the same table


class Minima(NamedTuple):
    """The fewest protected candidates in the prefixes, with significance and failure probability."""

    alpha: float  # of each prefix
    failure: float  # the probability that a ranking of drawn candidates has too few in a prefix
    counts: np.ndarray  # (k,) int32, of the prefixes of length 1 to k


def minima(k: int, p: float, alpha: float) -> Minima:
    """Return the fewest protected candidates that pass, with each prefix at significance `alpha`."""
    from biaslab.ranking import _fa_ir_kernels

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
    """Return the p-value of each ranking, of the hypothesis that a value does not have too few places.

    `protected` (n_lists,) is the group of that value in each list, from ``Groups.of_value``. Candidates with
    an unknown value are skipped. NaN for a list that lacks the group or has no place with a known value.
    """
    from biaslab.ranking import _fa_ir_kernels

    is_known = rankings.groups != UNKNOWN
    of_places = protected[rankings.lists[is_known]]
    shares = _shares(rankings.pools.groups, protected)
    values = np.empty(len(rankings.n_known))
    _fa_ir_kernels.fill_p_values(
        rankings.groups[is_known] == of_places, starts_of(rankings.n_known), shares, values
    )
    return np.where((protected == UNKNOWN) | (rankings.n_known == 0), np.nan, values)


def passes(rankings: Rankings) -> np.ndarray:
    """Return 1 if the protected value does not have significantly few places, else 0; NaN as `p_values`."""
    settings = rankings.pools.settings
    values = p_values(rankings, rankings.pools.groups.of_value(settings.protected))
    return np.where(np.isnan(values), np.nan, values > settings.alpha)


def rank_pools(pools: Pools, n_places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Re-rank lists by FA*IR; omit candidates with an unknown value.

    Each place goes to the best candidate left, or to the best protected candidate if the prefix would
    otherwise have fewer than the adjusted minimum. Return as the function ``rank`` of `registry.Algorithm`.
    """
    from biaslab.ranking import _fa_ir_kernels

    groups, settings = pools.groups, pools.settings
    protected = groups.of_value(settings.protected)
    shares = _shares(groups, protected).tolist()
    tables = [
        adjusted_minima(k, p, settings.alpha).counts
        for k, p in zip(n_places.tolist(), shares, strict=True)
        if k
    ]
    candidates = pools.by_score[groups.rows[pools.by_score] != UNKNOWN]
    lists = pools.lists[candidates]
    is_other = groups.rows[candidates] != protected[lists]
    chosen = np.empty(n_places.sum(), np.int64)
    exhausted = np.empty(len(n_places), np.int64)
    _fa_ir_kernels.rank_with_minima(
        pools.scores,
        candidates[np.argsort(2 * lists + is_other, kind="stable")],
        starts_of(np.bincount(lists, minlength=len(n_places))),
        np.bincount(lists[~is_other], minlength=len(n_places)),
        starts_of(n_places),
        np.concatenate([np.empty(0, np.int32), *tables]),
        chosen,
        exhausted,
    )
    return chosen, exhausted


def _shares(groups: Groups, protected: np.ndarray) -> np.ndarray:
    """Return the desired share of a group in each list, 0 if the list lacks the group."""
    present = protected != UNKNOWN
    shares = np.zeros(len(protected))
    shares[present] = groups.desired[protected[present]]
    return shares
