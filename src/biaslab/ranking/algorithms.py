"""The four re-ranking algorithms and the ranking by score (Geyik et al. 2019, Section 4)."""

from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.ranking.targets import check_desired, targets

__all__ = ["ALGORITHMS", "Reranking", "rerank", "rerank_report"]

ALGORITHMS = ("score_only", "det_greedy", "det_cons", "det_relaxed", "det_const_sort")
"""Names of the algorithms; the kernels use their indices here."""


class Reranking(NamedTuple):
    """A ranking, and how often it could not follow the desired distribution.

    Attributes
    ----------
    order : (min(k, n),) int64
        Positions in the input, best place first.
    n_exhausted : int
        Places given to the best remaining candidate of any value, because no value that qualified had
        candidates left.
    """

    order: np.ndarray
    n_exhausted: int


def rerank(
    scores: np.ndarray, attributes: np.ndarray, desired: np.ndarray, k: int, algorithm: str
) -> np.ndarray:
    """Return only the order of a `rerank_report`.

    Parameters
    ----------
    scores, attributes, desired, k, algorithm
        As for `rerank_report`.

    Returns
    -------
    (min(k, n),) int64
        Positions in the input, best place first.

    Raises
    ------
    InputError
        As `rerank_report`.
    """
    return rerank_report(scores, attributes, desired, k, algorithm).order


def rerank_report(
    scores: np.ndarray, attributes: np.ndarray, desired: np.ndarray, k: int, algorithm: str
) -> Reranking:
    """Re-rank a list so that every prefix is close to the desired distribution of attribute values.

    Candidates are sorted by score, higher first, and equal scores by position in the input; candidates of a
    value keep this order. A value is *short* in the prefix of length i if it has fewer than floor(i p)
    places, and *open* if it has at least floor(i p) but fewer than ceil(i p).

    - ``score_only``: the candidates in their order; `desired` has no effect.
    - ``det_greedy``, ``det_cons``, ``det_relaxed``: place i goes to the best next candidate of the short
      values. If no value is short, DetGreedy takes the best next candidate of the open values, DetCons that
      of the open value with the least ceil(i p) / p, DetRelaxed that of the open values with the least
      ceil(ceil(i p) / p). Quotients within 1e-9 of the least are ties, broken by the best next candidate.
    - ``det_const_sort``: whenever floor(i p) of a value rises, its next candidate is appended (the best one
      first if several values rise) and moved forward past worse candidates that may come one place later.

    Values without candidates left are skipped. If no other value qualifies for a place (for DetConstSort: if
    a value that is due has no candidate left), the best remaining candidate of any value takes the place, and
    `n_exhausted` counts the place.

    Parameters
    ----------
    scores : (n,) float64
        Finite scores, higher is better.
    attributes : (n,) int64
        Attribute value of each candidate, 0 to m - 1.
    desired : (m,) float64
        Desired share of each value; the sum is within 1e-9 of one.
    k : int
        Places to fill, at least 1; a shorter list is ranked entirely.
    algorithm : str
        One of `ALGORITHMS`.

    Returns
    -------
    Reranking
        The order, and the number of places that went to other values for lack of candidates.

    Raises
    ------
    InputError
        For an empty list, arrays of different lengths, scores that are not finite, unknown values, k < 1,
        shares that are not a distribution, or an unknown algorithm.
    """
    from biaslab.ranking import _kernels

    if algorithm not in ALGORITHMS:
        near = suggest(algorithm, ALGORITHMS)
        raise InputError(f"unknown algorithm '{algorithm}' (known: {', '.join(ALGORITHMS)}){near}")
    desired = check_desired(desired)
    scores, attributes = check_list(scores, attributes, desired.size)
    n_places = min(check_k(k), scores.size)
    positions = np.lexsort((-scores, attributes))
    starts = np.concatenate([[0], np.cumsum(np.bincount(attributes, minlength=desired.size))])
    floors, ceilings = targets(desired, n_places + desired.size + 1)
    order = np.empty(n_places, np.int64)
    number = ALGORITHMS.index(algorithm)
    n_exhausted = _kernels.rank(
        number, scores[positions], positions, starts, desired, floors, ceilings, order
    )
    return Reranking(positions[order], n_exhausted)


def check_k(k: int) -> int:
    """Return the number of places, or raise `InputError` if it is not positive."""
    if k < 1:
        raise InputError(f"k is {k}: no place is ranked; set the top to 1 or more")
    return int(k)


def check_list(scores: np.ndarray, attributes: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores (n,) float64 and attribute values (n,) int64 of a list, or raise `InputError`."""
    scores = np.ascontiguousarray(scores, dtype=np.float64)
    values = np.asarray(attributes)
    if not scores.size:
        raise InputError("the list is empty: there are no candidates to rank")
    if scores.ndim != 1 or values.shape != scores.shape:
        raise InputError(
            f"scores have shape {scores.shape} and attributes {values.shape}; "
            "give one score and one attribute value for each candidate"
        )
    if not np.issubdtype(values.dtype, np.integer):
        raise InputError(f"attributes have the type {values.dtype}; number the attribute values 0, 1, …")
    invalid = np.flatnonzero(~np.isfinite(scores))
    if invalid.size:
        raise InputError(
            f"candidate {invalid[0]}: the score is {scores[invalid[0]]}; give a number or remove the"
            " candidate"
        )
    invalid = np.flatnonzero((values < 0) | (values >= m))
    if invalid.size:
        raise InputError(
            f"candidate {invalid[0]}: attribute value {values[invalid[0]]} has no desired share; "
            f"give one of the values 0 to {m - 1}"
        )
    return scores, np.ascontiguousarray(values, dtype=np.int64)
