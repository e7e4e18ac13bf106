"""Measures of bias and quality of a ranking (Geyik et al. 2019, Sections 3 and 4).

Conventions for single lists and batches:

- A prefix longer than the ranking is the entire ranking.
- Skew is a natural logarithm. A desired but absent value has Skew -inf, so that a mean of MinSkew is -inf as
  soon as a list lacks a desired value. A present but undesired value has Skew inf. A value that is neither
  desired nor present has Skew 0, which changes neither MinSkew nor MaxSkew.
- NDKL uses natural logarithms in the divergence and weights 1 / log2(i + 1), divided by their sum over all
  prefixes i = 1..k; it is inf if an undesired value is present.
- NDCG has the score as gain and discounts 1 / log2(place + 1), divided by the discounted gain of all
  candidates sorted by score, cut at the same length. It is NaN if a score is negative, because negative gains
  have no meaning, and 1 if all gains are 0.
- InfeasibleIndex and InfeasibleCount check the prefixes of lengths 1 to k. A prefix is also infeasible if
  candidates run out.
"""

from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError
from biaslab.ranking.algorithms import check_k, check_list, rerank
from biaslab.ranking.targets import check_desired, targets

__all__ = ["MEASURES", "Measures", "infeasible_index", "measure", "ndcg", "ndkl", "skew"]


class Measures(NamedTuple):
    """The measures of one ranking.

    Attributes
    ----------
    infeasible_index : float
        Prefixes in which a value has fewer than floor(i p) places.
    infeasible_count : float
        Pairs of such a prefix and a short value.
    min_skew, max_skew : float
        Least and greatest Skew of a value in the top k.
    ndkl : float
        Normalised discounted cumulative Kullback-Leibler divergence, 0 or more.
    ndcg : float
        Normalised discounted cumulative gain, 1 for the ranking by score.
    """

    infeasible_index: float
    infeasible_count: float
    min_skew: float
    max_skew: float
    ndkl: float
    ndcg: float


MEASURES = Measures._fields  # names of the measures, in the order of every array of measures


def skew(attributes: np.ndarray, desired: np.ndarray, k: int) -> np.ndarray:
    """Return Skew_a@k of every value: ln(share in the top k / desired share).

    Parameters
    ----------
    attributes : (n,) int64
        Attribute values of a ranking, best place first.
    desired : (m,) float64
        Desired share of each value.
    k : int
        Length of the prefix.

    Returns
    -------
    (m,) float64
        Minus infinity for a desired but absent value, infinity for a present but undesired value, else
        finite.

    Raises
    ------
    InputError
        For an empty ranking, unknown values, k < 1, or shares that are not a distribution.
    """
    from biaslab.ranking import _kernels

    values, desired = _check_ranking(attributes, desired, k)
    skews = np.empty(desired.size)
    _kernels.fill_skews(values, _log(desired), log_table(values.size), skews)
    return skews


def ndkl(attributes: np.ndarray, desired: np.ndarray, k: int) -> float:
    """Return NDKL, the weighted mean divergence of the prefixes.

    Parameters
    ----------
    attributes, desired, k
        As for `skew`.

    Returns
    -------
    float
        0 or more, in nats; infinity if an undesired value is present.

    Raises
    ------
    InputError
        As `skew`.
    """
    from biaslab.ranking import _kernels

    values, desired = _check_ranking(attributes, desired, k)
    n = values.size
    return _kernels.divergence(values, _log(desired), log_table(n), discount_table(n))


def infeasible_index(attributes: np.ndarray, desired: np.ndarray, k: int) -> int:
    """Return the number of prefixes of the top k with a short value.

    Parameters
    ----------
    attributes, desired, k
        As for `skew`.

    Returns
    -------
    int
        0 to k.

    Raises
    ------
    InputError
        As `skew`.
    """
    from biaslab.ranking import _kernels

    values, desired = _check_ranking(attributes, desired, k)
    return _kernels.infeasibility(values, targets(desired, values.size)[0])[0]


def ndcg(ranked: np.ndarray, scores: np.ndarray, k: int) -> float:
    """Return NDCG of the top k.

    Parameters
    ----------
    ranked : (n_ranked,) float64
        Scores of a ranking, best place first.
    scores : (n,) float64
        Scores of all candidates, in any order.
    k : int
        Length of the prefix.

    Returns
    -------
    float
        At most 1 if `ranked` are among `scores`; NaN if a score is negative.

    Raises
    ------
    InputError
        For k < 1 or no scores.
    """
    from biaslab.ranking import _kernels

    ranked, ideal = np.asarray(ranked, np.float64), -np.sort(-np.asarray(scores, np.float64))
    n = min(check_k(k), ranked.size, ideal.size)
    if not n:
        raise InputError("the ranking is empty; give one candidate or more")
    gain, best = (_kernels.discounted_gain(x[:n], discount_table(n)) for x in (ranked, ideal))
    return float(_kernels.relative_gain(gain, best))


def measure(
    scores: np.ndarray, attributes: np.ndarray, desired: np.ndarray, order: np.ndarray, k: int
) -> Measures:
    """Return all measures of the top k of a ranking.

    Parameters
    ----------
    scores : (n,) float64
    attributes : (n,) int64
        Of all candidates, in the order of the input.
    desired : (m,) float64
        Desired share of each value.
    order : (n_ranked,) int64
        Positions in the input, best place first, as `rerank` returns them.
    k : int
        Length of the prefix.

    Returns
    -------
    Measures
        One value of each measure.

    Raises
    ------
    InputError
        As `rerank`, and for an empty ranking.
    """
    from biaslab.ranking import _kernels

    desired = check_desired(desired)
    scores, attributes = check_list(scores, attributes, desired.size)
    order = np.asarray(order)[: check_k(k)]
    values, n = attributes[order], order.size
    if not n:
        raise InputError("the ranking is empty; give one candidate or more")
    logs, discounts = log_table(n), discount_table(n)
    by_score = rerank(scores, attributes, desired, n, "score_only")
    ideal = _kernels.discounted_gain(scores[by_score], discounts)
    out = np.empty(len(MEASURES))
    _kernels.fill_measures(
        values,
        scores[order],
        ideal,
        _log(desired),
        targets(desired, n)[0],
        logs,
        discounts,
        np.empty(desired.size),
        out,
    )
    return Measures(*map(float, out))


def log_table(n: int) -> np.ndarray:
    """Return 0, ln 1, ln 2, …, ln n, (n + 1,) float64."""
    return np.log(np.maximum(np.arange(n + 1), 1))


def discount_table(n: int) -> np.ndarray:
    """Return 1 / log2(place + 1) of the places 1 to n, (n,) float64."""
    return 1 / np.log2(np.arange(2, n + 2))


def _log(desired: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(desired)


def _check_ranking(attributes: np.ndarray, desired: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    desired = check_desired(desired)
    _, values = check_list(np.zeros(len(attributes)), attributes, desired.size)
    return values[: check_k(k)], desired
