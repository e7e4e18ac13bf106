"""The vocabulary of a corpus: words, their counts, and their ids."""

import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv

__all__ = ["Vocabulary", "read_vocabulary"]


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling count; the id of a word is its place.

    Attributes
    ----------
    words : list of str
        The words.
    counts : numpy.ndarray of int64
        How often each word occurs in the corpus.
    """

    words: list[str]
    counts: np.ndarray

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word to word id."""
        return {word: i for i, word in enumerate(self.words)}


def read_vocabulary(path: str | os.PathLike) -> Vocabulary:
    """Read ``vocabulary.tsv``: columns word and count, the id of a word is its row.

    Parameters
    ----------
    path : path-like
        The table.

    Returns
    -------
    Vocabulary
        The words in the order of the file.

    Raises
    ------
    InputError
        When the table is missing, empty or malformed: a word missing or repeated, a count that is no positive
        integer, or counts that rise (the table was sorted again, so that its rows are no longer the ids).
    """
    table = read_tsv(path, columns=("word", "count"), text=("word",))
    if table.empty:
        raise InputError(f"{path}: the vocabulary is empty; use a larger corpus or a smaller min_count")
    words = table["word"]
    counts = pd.to_numeric(table["count"], errors="coerce")
    _refuse(path, words.isna(), "the word is missing")
    _refuse(path, words.duplicated(), "the word stands there for the second time")
    _refuse(path, ~(counts >= 1) | (counts % 1 != 0), "the count is not a positive whole number")
    _refuse(
        path,
        counts.diff() > 0,
        "the count is larger than the one above it; rows must keep the order of the ids",
    )
    return Vocabulary(words.tolist(), counts.to_numpy(np.int64))


def _refuse(path: str | os.PathLike, bad: pd.Series, problem: str) -> None:
    if bad.any():
        raise InputError(f"{path}, line {int(bad.to_numpy().argmax()) + 2}: {problem}; regenerate the file")
