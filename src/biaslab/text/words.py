"""Words of texts and their vectors, the inputs of recurrent networks (Zhang et al. 2021, Section 5.1)."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.text.ragged import Ragged

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_KEYS = ("words", "vectors", "is_known")


def split_words(text: str) -> list[str]:
    """Return the words of a text in lower case: letters and digits, with hyphens and apostrophes inside."""
    return _WORD.findall(text.lower().replace("’", "'"))


@dataclass(frozen=True)
class Texts(Ragged):
    """n texts as word ids, which are rows of a `Lexicon`, one text after the other."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[int] | np.ndarray]) -> "Texts":
        """Return texts given as one sequence of ids each."""
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        ids = np.concatenate([np.asarray(row, np.int32) for row in rows]) if rows else np.empty(0, np.int32)
        return cls(ids, offsets)

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self.row(i) for i in range(len(self)))


def concatenate(parts: Sequence[Texts]) -> Texts:
    """Concatenate several sets of texts, in order."""
    offsets, end = [np.zeros(1, np.int64)], 0
    for part in parts:
        offsets.append(part.offsets[1:] + end)
        end += int(part.offsets[-1])
    ids = [part.ids for part in parts]
    return Texts(np.concatenate([np.empty(0, np.int32), *ids]), np.concatenate(offsets))


@dataclass(frozen=True)
class Lexicon:
    """All words with their vectors; a word without one has the mean of all (as GloVe's authors advise)."""

    words: tuple[str, ...]  # the word of each id
    vectors: np.ndarray  # (V, d) float32
    is_known: np.ndarray  # (V,) bool, whether a word has a vector of its own

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each word."""
        return {word: i for i, word in enumerate(self.words)}

    def encode(self, texts: Iterable[Sequence[str]]) -> Texts:
        """Return texts, each a sequence of words, as ids."""
        try:
            return Texts.of([[self.ids[word] for word in words] for words in texts])
        except KeyError as error:
            raise InputError(f"the word '{error.args[0]}' is not in the lexicon; rebuild it") from error

    def decode(self, row: Sequence[int] | np.ndarray) -> list[str]:
        """Return the words of a text."""
        return [self.words[i] for i in row]

    def save(self, path: str | os.PathLike) -> None:
        """Write the lexicon (.npz)."""
        text = np.frombuffer("\n".join(self.words).encode("utf-8"), np.uint8)
        write_npz(path, words=text, vectors=self.vectors, is_known=self.is_known)

    @classmethod
    def load(cls, path: str | os.PathLike) -> "Lexicon":
        """Read a lexicon that `save` wrote."""
        arrays = read_npz(path, _KEYS)
        words = tuple(arrays["words"].tobytes().decode("utf-8").split("\n"))
        if not len(words) == len(arrays["vectors"]) == len(arrays["is_known"]):
            raise InputError(f"{path}: not a lexicon of one vector per word; rerun the step that writes it")
        return cls(words, arrays["vectors"], arrays["is_known"])


def build_lexicon(
    vector_words: Sequence[str], vectors: np.ndarray, further: Iterable[Iterable[str]] = ()
) -> Lexicon:
    """Return the lexicon of an embedding (its words keep their rows) and of `further` words, sorted."""
    own_words = set(vector_words)
    others = sorted({word for words in further for word in words} - own_words)
    vectors = np.asarray(vectors, np.float32)
    mean = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
    is_known = np.arange(len(vectors) + len(others)) < len(vectors)
    rows = np.concatenate([vectors, np.broadcast_to(mean, (len(others), vectors.shape[1]))])
    return Lexicon((*vector_words, *others), np.ascontiguousarray(rows), is_known)
