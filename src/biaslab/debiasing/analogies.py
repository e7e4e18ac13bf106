"""Analogies of an embedding: generate pairs like she - he, and solve a : b :: c : ? (Section 3).

Matrix products of blocks only find candidates, with a margin for their rounding, which depends on the number
of threads. Every candidate is then scored separately in float64, so that results are independent of it.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.errors import InputError

__all__ = ["ONCE", "generate_analogies", "solve_analogies"]

ONCE = ("first", "side")
"""Where a word is used once: as x (the paper's text), or as x and as y (the authors' code, debiaswe)."""

_BLOCK = 512
_CHUNK = 50_000
_MARGIN = 1e-4  # an upper bound of the error of a float32 product of two unit vectors
_POOL = 100  # candidate pairs per requested pair, at first; most contain a word that is already used
_EPSILON = 1e-3  # constant that keeps the quotient of 3CosMul finite (Levy and Goldberg 2014)

Method = Literal["add", "multiply"]
_COMBINATIONS = {
    "add": (lambda a, b, c: b - a + c, _MARGIN),
    "multiply": (lambda a, b, c: (1 + b) * (1 + c) / 2 / (1 + a + 2 * _EPSILON), 10 * _MARGIN),
}
"""The scores of 3CosAdd and 3CosMul, from products of an answer with the words of a question, and margins."""


def generate_analogies(
    vectors: np.ndarray,
    words: Sequence[str],
    direction: np.ndarray,
    count: int = 150,
    max_distance: float = 1.0,
    once: Literal["first", "side"] = "first",
) -> pd.DataFrame:
    """Return the pairs (x, y) with the largest ``S(x, y) = cos(a - b, x - y)`` if ``|x - y| <= δ`` (Eq. 1).

    Pairs are chosen in the order of their scores, except pairs with a word that is already used.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    words : sequence of str
        The words of the rows.
    direction : (d,) float
        a - b, e.g. she - he; of any length but zero.
    count : int
        Pairs to return; there may be fewer with a positive score.
    max_distance : float
        δ. The running time grows with the number of pairs within this distance.
    once : {"first", "side"}
        Whether a word is used once as x, as in the paper (Section 3), or once as x and once as y, as in the
        authors' code.

    Returns
    -------
    pandas.DataFrame
        Columns x, y, score, distance; the largest score first, then in the order of the words.

    Raises
    ------
    InputError
        If the direction is zero, or `max_distance` is not positive.
    """
    return generate_by_rule(vectors, words, direction, count, max_distance, (once,))[once]


def generate_by_rule(
    vectors: np.ndarray,
    words: Sequence[str],
    direction: np.ndarray,
    count: int = 150,
    max_distance: float = 1.0,
    rules: Sequence[str] = ONCE,
) -> dict[str, pd.DataFrame]:
    """Return the pairs of `generate_analogies` by each rule `once`; search for near pairs only once."""
    length = np.linalg.norm(direction)
    if length == 0:
        raise InputError("the seed words of the analogies have the same vector; choose words that differ")
    if not max_distance > 0:
        raise InputError(f"analogies within distance {max_distance}; give a positive distance")
    direction = np.asarray(direction, dtype=np.float64) / length
    size = _POOL * count
    while True:
        x, y, score, is_all = _best_pairs(vectors, direction, max_distance, size)
        kept = {once: _use_once(x, y, once, count) for once in rules}
        if is_all or all(len(places) == count for places in kept.values()):
            break
        size *= 10
    distance = _score_pairs(vectors, x, y, direction)[1]
    pairs = pd.DataFrame(
        {"x": [words[row] for row in x], "y": [words[row] for row in y], "score": score, "distance": distance}
    )
    return {once: pairs.iloc[places].reset_index(drop=True) for once, places in kept.items()}


def solve_analogies(
    vectors: np.ndarray, questions: np.ndarray, method: Method = "add", unknown: np.ndarray | None = None
) -> np.ndarray:
    """Answer a : b :: c : ? for many questions; exclude the words of a question from its answers.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    questions : (n, 3) int
        Rows of a, b and c; -1 stands for an unknown word.
    method : {"add", "multiply"}
        3CosAdd, the x with the largest ``x · (b - a + c)``, the paper's arithmetic; or 3CosMul, that with the
        largest ``cos'(x, b) cos'(x, c) / (cos'(x, a) + 0.001)`` where cos' = (1 + cos) / 2 (Levy and Goldberg
        2014, "Linguistic Regularities in Sparse and Explicit Word Representations").
    unknown : (d,) float, optional
        The vector of unknown words; zero by default.

    Returns
    -------
    (n,) int64
        Rows of the answers.
    """
    questions = np.asarray(questions, dtype=np.int64).reshape(-1, 3)
    unknown = np.zeros(vectors.shape[1]) if unknown is None else unknown
    known_vectors = np.vstack([vectors, unknown.astype(vectors.dtype)])  # row -1 is the unknown word
    single = np.asarray(known_vectors, dtype=np.float32)
    blocks = range(0, len(questions), _BLOCK)
    answers = [_answer(known_vectors, single, questions[i : i + _BLOCK], method) for i in blocks]
    return np.array([row for of_block in answers for row in of_block], dtype=np.int64)


def _best_pairs(
    vectors: np.ndarray, direction: np.ndarray, max_distance: float, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Return x, y and score of the best pairs, best first, and whether these are all pairs with a score."""
    x, y, score = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    is_all = True
    for near_x, near_y in _near_pairs(vectors, direction, max_distance):
        near_score, distance = _score_pairs(vectors, near_x, near_y, direction)
        valid = (distance <= max_distance) & (near_score > 0)
        is_all &= len(score) + int(np.count_nonzero(valid)) <= size
        if len(score) == size:
            valid &= near_score >= score[-1]  # equal scores are sorted by word
        x, y = np.append(x, near_x[valid]), np.append(y, near_y[valid])
        score = np.append(score, near_score[valid])
        order = np.lexsort((y, x, -score))[:size]
        x, y, score = x[order], y[order], score[order]
    return x, y, score, is_all


def _use_once(x: np.ndarray, y: np.ndarray, once: str, count: int) -> list[int]:
    """Return the indices of the first pairs with words that no earlier pair uses on the same side."""
    places: list[int] = []
    used_x, used_y = set(), set()
    for place, (first, second) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        if first not in used_x and (once == "first" or second not in used_y) and len(places) < count:
            places.append(place)
            used_x.add(first)
            used_y.add(second)
    return places


def _near_pairs(
    vectors: np.ndarray, direction: np.ndarray, max_distance: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield chunks of pairs of rows (x, y) with all pairs within the distance and of positive score."""
    order = np.argsort(-np.einsum("nd,d->n", vectors, direction), kind="stable")  # x precedes y
    single = np.asarray(vectors, dtype=np.float32)[order]
    least = 1 - max_distance**2 / 2 - _MARGIN
    for first in tqdm(range(0, len(single), _BLOCK), "analogies", disable=None):
        following = single[first:]
        pairs = np.flatnonzero(following[:_BLOCK] @ following.T >= least)
        i, j = np.divmod(pairs, len(following))
        i, j = i[i < j], j[i < j]
        for start in range(0, len(i), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            yield order[first + i[chunk]], order[first + j[chunk]]


def _score_pairs(
    vectors: np.ndarray, x: np.ndarray, y: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return cos(direction, x - y), 0 for equal vectors, and |x - y| of pairs of rows."""
    differences = vectors[x].astype(np.float64) - vectors[y]
    distances = np.sqrt(np.einsum("nd,nd->n", differences, differences))
    along = np.einsum("nd,d->n", differences, direction)
    return np.divide(along, distances, out=np.zeros(len(along)), where=distances > 0), distances


def _answer(vectors: np.ndarray, single: np.ndarray, questions: np.ndarray, method: Method) -> list[int]:
    """Answer a block of questions on rows of `vectors`; all rows except the last are possible answers."""
    combine, margin = _COMBINATIONS[method]
    distinct, position = np.unique(questions, return_inverse=True)  # words recur in many questions
    cosines = single[distinct] @ single[:-1].T
    answers = []
    for question, places in zip(questions, position.reshape(questions.shape), strict=True):
        scores = combine(*(cosines[place] for place in places))
        scores[question[question >= 0]] = -np.inf
        near = np.flatnonzero(scores >= scores.max() - margin)
        if len(near) > 1:
            exact = np.einsum("nd,qd->qn", vectors[near].astype(np.float64), vectors[question])
            near = near[np.argmax(combine(*exact))][None]
        answers.append(int(near[0]))
    return answers
