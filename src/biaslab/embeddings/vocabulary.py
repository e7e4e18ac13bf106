"""Vocabularies: the words of a corpus with counts and ids, and words found in another case of letters."""

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
from biaslab.core.io import read_npz, read_tsv

__all__ = ["Vocabulary", "read_vocabulary"]

STANFORD_SUFFIX = ".txt"
"""How the vocabularies of Stanford's GloVe end."""
WORDS = "words"
"""The array of an ``.npz`` file that says by its digest which words its ids or rows stand for."""


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling count; the id of a word is its place.

    Attributes
    ----------
    words : list of str
        The words.
    counts : numpy.ndarray of int64
        How often each word occurs in the corpus.
    source : str
        The file they were read from, for messages.
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
        """What `digest_words` says of the words."""
        return digest_words(self.words)


class AnyCase(Mapping):
    """The rows of words, also of words that an embedding has in another case of letters alone.

    Attributes
    ----------
    recased : dict of str to str
        Words that were asked for and found in another case, and how the embedding writes them.
    undirected : dict of str to None
        Words that were asked for whose vectors are zero; the embedding lacks them.
    """

    def __init__(self, ids: Mapping[str, int], zero: Set[str] = frozenset()) -> None:
        self._ids = ids
        self._zero = zero
        self.recased: dict[str, str] = {}
        self.undirected: dict[str, None] = {}

    @property
    def exact(self) -> Mapping[str, int]:
        """The rows of words as they are written alone."""
        return self._ids

    def __getitem__(self, word: str) -> int:
        """Return the row of a word as it is written, else in lower case, Capitalized, in upper case."""
        forms = (word, word.lower(), word.capitalize(), word.upper())
        form = next((form for form in forms if form in self._ids), word)
        if form not in self._ids and not self._zero.isdisjoint(forms):
            self.undirected[word] = None
        row = self._ids[form]
        if form != word:
            self.recased[word] = form
        return row

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def digest_words(words: Iterable[str]) -> str:
    """Return what words there are and in which order: the sha256 of their NFC forms, a line each."""
    lines = unicodedata.normalize("NFC", "\n".join(words))
    return hashlib.sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()


def read_vocabulary(path: str | os.PathLike) -> Vocabulary:
    """Read ``vocabulary.tsv``: columns word and count, the id of a word is its row.

    Parameters
    ----------
    path : path-like
        The table, or ``vocab.txt`` of Stanford's GloVe: rows of a word and its count without a header.

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
        "the word stands there for the second time": words.duplicated(),
        "the count is not a positive whole number": ~(counts >= 1) | (counts % 1 != 0),
        "the count is larger than the one above it; rows must keep the order of the ids": counts.diff() > 0,
    }
    for problem, bad in problems.items():
        if bad.any():
            line = int(bad.to_numpy().argmax()) + (1 if is_stanford else 2)
            raise InputError(f"{path}, line {line}: {problem}; regenerate the file")
    return Vocabulary(words.tolist(), counts.to_numpy(np.int64), str(path))


def read_digest(path: str | os.PathLike) -> str:
    """Return the digest of the words that an ``.npz`` file was made with, "" where it is not known."""
    return str(read_npz(path, (WORDS,))[WORDS])


def check_words(path: str | os.PathLike, other: Vocabulary | Path) -> None:
    """Raise when an ``.npz`` file was made with other words than a vocabulary has, or than another file."""
    digest, is_file = read_digest(path), isinstance(other, Path)
    theirs, name = (read_digest(other), other) if is_file else (other.digest, other.source)
    if digest and theirs and digest != theirs:
        raise InputError(
            f"{path}: made with other words, or words in another order, than {name}; name two files of one"
            " corpus, or regenerate both"
        )


def _read_stanford(path: Path) -> pd.DataFrame:
    """Read rows of a word, a blank and a count; words may hold any other sign."""
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise InputError(f"{path}: not readable ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text; convert the file") from error
    rows = [line.rstrip("\r").rpartition(" ")[::2] for line in text.removesuffix("\n").split("\n") if text]
    table = pd.DataFrame(rows, columns=["word", "count"], dtype=object)
    return table.assign(word=table["word"].replace("", None))
