"""Exposure and attention by group: Singh and Joachims 2018, Biega et al. 2018, Sapiezynski et al. 2019.

With v_j the attention of place j, u_i >= 0 the relevance (score) of candidate i and C_a all candidates of a
list with value a, also below the top (where attention is 0):

- exposure E_a = (sum of v over the places of a) / |C_a|, the mean over its candidates;
- utility U_a = mean of u over C_a; clicks K_a = (sum of v u over the places of a) / |C_a|;
- *exposure ratio*: least / greatest E_a (1 under demographic parity of exposure);
- *disparate treatment ratio*: least / greatest E_a / U_a, *disparate impact ratio*: least / greatest K_a /
  U_a. The paper has two groups and their ratio in a fixed direction; least / greatest is one of both
  directions and allows any number of groups;
- *AWRF*: 1 - JSD(q, p), where q_a is the share of the attention of a, p the desired distribution, and JSD the
  Jensen-Shannon divergence in nats, as in the TREC Fair Ranking Track 2021. The paper leaves the distance
  open;
- *inequity of attention* of a list: the sum over candidates of |v_i / sum of v - u_i / sum of u|, 0 to 2.

Over many lists, the mean share of attention of a value compared with its mean share of relevance is the group
form of Biega's amortized equity: attention accumulated over lists should match the relevance.

Ratios cover the values of the list's candidates, and are NaN for fewer than two values. Measures of relevance
are NaN if a score is negative or if a group, or the list, has no relevance.
"""

import numpy as np

from biaslab.ranking.pools import Rankings


def exposures(rankings: Rankings) -> np.ndarray:
    """Return the mean attention of each group's candidates, (G,) float64; NaN for an empty group."""
    return _divide(rankings.by_group(rankings.attention), rankings.pools.groups.counts)


def utilities(rankings: Rankings) -> np.ndarray:
    """Return the mean relevance of each group's candidates, (G,) float64; NaN if empty or below 0."""
    groups, scores = rankings.pools.groups, rankings.pools.scores
    return _divide(groups.sums(groups.rows, np.where(scores < 0, np.nan, scores)), groups.counts)


def relevance_shares(rankings: Rankings) -> np.ndarray:
    """Return the share of each group in the relevance of known values in its list, (G,) float64."""
    groups = rankings.pools.groups
    if rankings.pools.scores is None:
        return np.full(len(groups.counts), np.nan)
    sums = np.where(groups.counts > 0, utilities(rankings) * groups.counts, 0.0)
    return _divide(sums, np.bincount(groups.lists, sums, len(rankings.n_places))[groups.lists])


def exposure_ratio(rankings: Rankings) -> np.ndarray:
    """Return the least exposure divided by the greatest, (n_lists,) float64."""
    return _ratio(rankings, exposures(rankings))


def disparate_treatment(rankings: Rankings) -> np.ndarray:
    """Return the least exposure per utility divided by the greatest, (n_lists,) float64."""
    return _ratio(rankings, _divide(exposures(rankings), utilities(rankings)))


def disparate_impact(rankings: Rankings) -> np.ndarray:
    """Return the least clicks per utility divided by the greatest, (n_lists,) float64."""
    gains = rankings.by_group(rankings.attention * rankings.pools.scores[rankings.rows])
    clicks = _divide(gains, rankings.pools.groups.counts)
    return _ratio(rankings, _divide(clicks, utilities(rankings)))


def awrf(rankings: Rankings) -> np.ndarray:
    """Return 1 - the divergence of the shares of attention to known values from the desired, (n_lists,)."""
    groups = rankings.pools.groups
    shares, desired = groups.shares(rankings.by_group(rankings.attention)), groups.desired
    middle = (shares + desired) / 2
    terms = (_relative_entropy(shares, middle) + _relative_entropy(desired, middle)) / 2
    return 1 - groups.over_lists(np.add, terms)


def attention_inequity(rankings: Rankings) -> np.ndarray:
    """Return the distance of attention from relevance over the candidates of each list, (n_lists,)."""
    pools, n_lists = rankings.pools, len(rankings.n_places)
    relevance = np.where(pools.scores < 0, np.nan, pools.scores)
    attention = np.zeros(len(relevance))
    attention[rankings.rows] = rankings.attention
    shares = [_divide(x, np.bincount(pools.lists, x, n_lists)[pools.lists]) for x in (attention, relevance)]
    return np.bincount(pools.lists, abs(shares[0] - shares[1]), n_lists)


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(b == 0, np.nan, a / b)


def _ratio(rankings: Rankings, values: np.ndarray) -> np.ndarray:
    """Return the least value divided by the greatest among the non-empty groups of each list."""
    groups = rankings.pools.groups
    has_candidates = groups.counts > 0
    least = groups.over_lists(np.minimum, np.where(has_candidates, values, np.inf))
    greatest = groups.over_lists(np.maximum, np.where(has_candidates, values, -np.inf))
    has_two = np.bincount(groups.lists[has_candidates], minlength=len(rankings.n_places)) > 1
    return np.where(has_two, _divide(least, greatest), np.nan)


def _relative_entropy(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(p == 0, 0.0, p * np.log(p / q))
