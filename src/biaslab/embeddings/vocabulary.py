"""Vocabularies: the words of a corpus with counts and ids, and lookup of words in any letter case."""

import hashlib
import os
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import read_text
from biaslab.core.io import read_npz, read_tsv

__all__ = ["Vocabulary", "read_vocabulary"]

STANFORD_SUFFIX = ".txt"  # suffix of the vocabularies of Stanford's GloVe
WORDS = "words"  # array of an ``.npz`` file with the digest of the words of its ids or rows


@dataclass(frozen=True)
class Vocabulary:
    """Words by decreasing count; the id of a word is its position.

    Attributes
    ----------
    words : list of str
        The words.
    counts : numpy.ndarray of int64
        Occurrences of each word in the corpus.
    source : str
        The file of the words, for messages.
    """

    words: list[str]
    counts: np.ndarray
    source: str = field(default="the vocabulary", compare=False)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word to word id."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def digest(self) -> str:
        """The result of `digest_words` for the words."""
        return digest_words(self.words)


class AnyCase(Mapping):
    """A mapping of words to rows that also finds words in another letter case."""

    def __init__(self, ids: Mapping[str, int], zero: Set[str] = frozenset()) -> None:
        self.exact = ids  # the rows of words in their exact spelling
        self._zero = zero
        self.recased: dict[str, str] = {}  # requested words found in another letter case, and that spelling
        self.undirected: dict[str, None] = {}  # requested words with zero vectors

    def __getitem__(self, word: str) -> int:
        """Return the row of a word in its own spelling, else in lower case, Capitalized, or upper case."""
        forms = (word, word.lower(), word.capitalize(), word.upper())
        form = next((form for form in forms if form in self.exact), word)
        if form not in self.exact and not self._zero.isdisjoint(forms):
            self.undirected[word] = None
        row = self.exact[form]
        if form != word:
            self.recased[word] = form
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self.exact)

    def __len__(self) -> int:
        return len(self.exact)


def choose_words(words: list[str], counts: np.ndarray, min_count: int) -> tuple[Vocabulary, np.ndarray]:
    """Return the words with at least `min_count` occurrences, and the final id (or -1) of every word."""
    frequent = sorted(np.flatnonzero(counts >= min_count), key=lambda i: (-counts[i], words[i]))
    ids = np.full(len(words), -1, np.int32)
    ids[frequent] = np.arange(len(frequent))
    return Vocabulary([words[i] for i in frequent], counts[frequent]), ids


def digest_words(words: Iterable[str]) -> str:
    """Return the digest of words and their order: the sha256 of their NFC forms, one per line."""
    lines = unicodedata.normalize("NFC", "\n".join(words))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def read_vocabulary(path: str | os.PathLike) -> Vocabulary:
    """Read ``vocabulary.tsv``: columns word and count; the id of a word is its row.

    Parameters
    ----------
    path : path-like
        The table, or ``vocab.txt`` of Stanford's GloVe: rows of a word and its count, without a header.

    Returns
    -------
    Vocabulary
        The words in the order of the file.

    Raises
    ------
    InputError
        When the table is missing, empty or malformed: a missing or repeated word, a count that is not a
        positive integer, or increasing counts (after sorting, the rows are no longer the ids).
    """
    is_stanford = Path(path).suffix == STANFORD_SUFFIX
    table = (
        _read_stanford(Path(path))
        if is_stanford
        else read_tsv(path, columns=("word", "count"), text=("word",))
    )
    if table.empty:
        raise InputError(f"{path}: the vocabulary is empty; use a larger corpus or a smaller min_count")
    words = table["word"]
    counts = pd.to_numeric(table["count"], errors="coerce")
    problems = {
        "the word is missing": words.isna(),
        "the word is repeated": words.duplicated(),
        "the count is not a positive integer": ~(counts >= 1) | (counts % 1 != 0),
        "the count is larger than that of the row above, so rows are out of order": counts.diff() > 0,
    }
    for problem, bad in problems.items():
        if bad.any():
            line = int(bad.to_numpy().argmax()) + (1 if is_stanford else 2)
            raise InputError(f"{path}, line {line}: {problem}; regenerate the file")
    return Vocabulary(words.tolist(), counts.to_numpy(np.int64), str(path))


def read_digest(path: str | os.PathLike) -> str:
    """Return the digest of the words of an ``.npz`` file, "" if unknown."""
    return str(read_npz(path, (WORDS,))[WORDS])


def check_words(path: str | os.PathLike, other: Vocabulary | Path) -> None:
    """Raise if the words of an ``.npz`` file differ from those of a vocabulary or of another file."""
    digest = read_digest(path)
    theirs, name = (read_digest(other), other) if isinstance(other, Path) else (other.digest, other.source)
    if digest and theirs and digest != theirs:
        raise InputError(
            f"{path}: the words differ from those of {name}, or have another order; name two files of the"
            " same corpus, or regenerate both"
        )


def _read_stanford(path: Path) -> pd.DataFrame:
    """Read rows of a word, a blank and a count; words may contain any other character."""
    text = read_text(path, "vocabulary")
    rows = [line.rpartition(" ")[::2] for line in text.removesuffix("\n").split("\n") if text]
    table = pd.DataFrame(rows, columns=["word", "count"], dtype=object)
    return table.assign(word=table["word"].replace("", None))
