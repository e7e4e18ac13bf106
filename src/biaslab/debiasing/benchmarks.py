"""Quality of an embedding: rated word pairs and analogies, under every treatment of unknown words.

The words of a benchmark may be missing in an embedding, and results of one embedding differ by ten points
between treatments of missing words. Each benchmark is therefore scored under several conventions:

=================  ====================================================================================
answerable         cosines of the pairs, and questions, with all words known; all others are omitted
scaled             as answerable, times the share of the pairs that are known
zero               a pair with an unknown word has similarity 0
mean-cosine        an unknown word has the mean of all vectors; cosines
mean-product       as mean-cosine, but products, without scaling the mean to unit length
wrong              a question with an unknown word counts as a wrong answer
mean               an unknown word of a question has the mean of all vectors; an unknown answer is wrong
mean-letters       as mean, with words reduced to letters and digits: "dollar's" becomes "dollars"
=================  ====================================================================================

The last conventions of pairs and of questions are those of a widely used collection of benchmarks
(word-embeddings-benchmarks) in 2016.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import read_text
from biaslab.core.stats import rank_correlation
from biaslab.debiasing.analogies import Method, solve_analogies
from biaslab.embeddings.analogies import count_questions

__all__ = ["read_pairs", "read_questions", "score_pairs", "score_questions"]

_METHODS: tuple[Method, ...] = ("add", "multiply")


class Benchmarks(NamedTuple):
    """The benchmarks for the quality of vectors, by name."""

    pairs: Mapping[str, pd.DataFrame]  # see `read_pairs`
    questions: Mapping[str, Sequence[Sequence[str]]]  # see `read_questions`


def read_benchmarks(pairs: Mapping[str, Path], questions: Mapping[str, Path]) -> Benchmarks:
    """Read files of rated word pairs and of analogy questions, by name."""
    return Benchmarks(
        {name: read_pairs(file) for name, file in pairs.items()},
        {name: read_questions(file) for name, file in questions.items()},
    )


def read_pairs(path: str | os.PathLike) -> pd.DataFrame:
    """Read word pairs with human ratings of their similarity (RG-65, WS-353).

    Parameters
    ----------
    path : path-like
        Text file with lines of two words and a number; lines that start with ``#`` are comments.

    Returns
    -------
    pandas.DataFrame
        Columns first, second (lower case) and rating, in the order of the file.

    Raises
    ------
    InputError
        When the file is missing or unreadable, a line is malformed, or there are fewer than three pairs.
    """
    rows = [
        _parse_pair(f"{path}, line {number}", line)
        for number, line in enumerate(read_text(path, "file of rated word pairs").splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    if len(rows) < 3:
        raise InputError(f"{path}: {len(rows)} rated word pairs are too few for a rank correlation")
    return pd.DataFrame(rows, columns=["first", "second", "rating"])


def read_questions(path: str | os.PathLike) -> list[list[str]]:
    """Read analogy questions (MSR, Google): lines of four words, in sections that start with ``: name``.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    list of list of str
        The four words (lower case) of each question.

    Raises
    ------
    InputError
        When the file is missing or malformed.
    """
    count_questions(path)
    lines = read_text(path, "file of analogy questions").splitlines()
    return [line.lower().split() for line in lines if line.strip() and not line.startswith(": ")]


def score_pairs(vectors: np.ndarray, index: Mapping[str, int], pairs: pd.DataFrame) -> pd.DataFrame:
    """Correlate the similarities of an embedding with human ratings, under every convention.

    Parameters
    ----------
    vectors : (V, d) float32 or float64
        Word vectors of unit length.
    index : mapping of str to int
        The row of each word.
    pairs : pandas.DataFrame
        See `read_pairs`.

    Returns
    -------
    pandas.DataFrame
        Columns convention, score (Spearman's rank correlation x 100, NaN where it is undefined), answerable
        (pairs with both words known), total, lost_words (comma separated).
    """
    rows = np.array([[index.get(word, -1) for word in pairs[column]] for column in ("first", "second")])
    is_known = (rows >= 0).all(axis=0)
    mean = vectors.mean(axis=0, dtype=np.float64)
    products = _products(vectors, rows, mean)
    cosines = _products(vectors, rows, mean / np.linalg.norm(mean))
    rating = pairs["rating"].to_numpy()
    answerable = 100 * rank_correlation(products[is_known], rating[is_known])
    scores = {
        "answerable": answerable,
        "scaled": answerable * is_known.mean(),
        "zero": 100 * rank_correlation(np.where(is_known, products, 0.0), rating),
        "mean-cosine": 100 * rank_correlation(cosines, rating),
        "mean-product": 100 * rank_correlation(products, rating),
    }
    table = pd.DataFrame({"convention": list(scores), "score": list(scores.values())})
    lost = _lost([*pairs["first"], *pairs["second"]], index)
    return table.assign(answerable=int(is_known.sum()), total=len(pairs), lost_words=lost)


def score_questions(
    vectors: np.ndarray, index: Mapping[str, int], questions: Sequence[Sequence[str]]
) -> pd.DataFrame:
    """Answer analogy questions, under every convention and with both methods.

    Parameters
    ----------
    vectors, index
        As for `score_pairs`.
    questions : sequence of sequences of four str
        See `read_questions`.

    Returns
    -------
    pandas.DataFrame
        Columns convention, method (see `analogies.solve_analogies`), score (percentage of right answers, NaN
        where no question is answerable), answerable (questions with all words known), total, lost_words.
    """
    forms = {
        "as they are": questions,
        "letters": [[re.sub(r"[^a-z0-9_]", "", word) for word in question] for question in questions],
    }
    ids = {
        name: np.array([[index.get(word, -1) for word in words] for words in form])
        for name, form in forms.items()
    }
    distinct, place = np.unique(np.concatenate(list(ids.values())), axis=0, return_inverse=True)
    rows = []
    for method in _METHODS:
        answers = solve_analogies(vectors, distinct[:, :3], method, vectors.mean(axis=0, dtype=np.float64))
        for name, right in zip(forms, np.split((answers == distinct[:, 3])[place.ravel()], 2), strict=True):
            is_known = np.asarray((ids[name] >= 0).all(axis=1))
            scores = {"mean-letters": right}
            if name == "as they are":
                scores = {"answerable": right[is_known], "wrong": right & is_known, "mean": right}
            lost = _lost([word for words in forms[name] for word in words], index)
            for convention, values in scores.items():
                score = 100 * float(values.mean()) if len(values) else math.nan
                rows.append((convention, method, score, int(is_known.sum()), len(is_known), lost))
    return pd.DataFrame(rows, columns=["convention", "method", "score", "answerable", "total", "lost_words"])


def score_answerable(
    vectors: np.ndarray, index: Mapping[str, int], benchmarks: Benchmarks
) -> dict[str, tuple[float, int]]:
    """Return the score of each benchmark on answerable items, questions by ``add``, and their number."""
    scores = {}
    for name, pairs in benchmarks.pairs.items():
        row = score_pairs(vectors, index, pairs).set_index("convention").loc["answerable"]
        scores[name] = row["score"], int(row["answerable"])
    for name, questions in benchmarks.questions.items():
        ids = np.array([[index.get(word, -1) for word in words] for words in questions])
        distinct, times = np.unique(ids[(ids >= 0).all(axis=1)], axis=0, return_counts=True)
        right = solve_analogies(vectors, distinct[:, :3]) == distinct[:, 3]
        n = int(times.sum())
        scores[name] = 100 * float(times[right].sum() / n) if n else math.nan, n
    return scores


def _parse_pair(where: str, line: str) -> tuple[str, str, float]:
    fields = line.split()
    if len(fields) != 3:
        raise InputError(f"{where}: {len(fields)} fields; give two words and their rating")
    try:
        rating = float(fields[2])
    except ValueError as error:
        raise InputError(f"{where}: the rating '{fields[2]}' is not a number") from error
    if not math.isfinite(rating):
        raise InputError(f"{where}: the rating '{fields[2]}' is not a finite number")
    return fields[0].lower(), fields[1].lower(), rating


def _products(vectors: np.ndarray, rows: np.ndarray, unknown: np.ndarray) -> np.ndarray:
    """Return the products of pairs of rows (2, n), where -1 stands for the unknown word."""
    first, second = (np.where((row >= 0)[:, None], vectors[row].astype(np.float64), unknown) for row in rows)
    return np.einsum("nd,nd->n", first, second)


def _lost(words: Sequence[str], index: Mapping[str, int]) -> str:
    return ",".join(sorted({word for word in words if word not in index}))
