"""Convert documents to word ids: tokens, vocabulary, and the table of the units that can be removed."""

import itertools
import operator
import os
import re
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.core.errors import InputError, number_of, suggest
from biaslab.core.io import read_npz, write_npz, write_parquet, write_tsv
from biaslab.embeddings.readers import Document, read_documents
from biaslab.embeddings.settings import Choice
from biaslab.embeddings.vocabulary import WORDS, Vocabulary, check_words, choose_words, digest_words

__all__ = ["Corpus", "build_corpus", "read_tokens", "tokenize", "write_corpus"]

UNITS = ("article", "part")
MIN_WORD_LENGTH, MAX_WORD_LENGTH = 2, 15
EXCERPT_CHARACTERS = 200
EXCERPT_WORDS = 25
TABLE_COLUMNS = ("document", "id", "title", "n_tokens", "excerpt")
RENAMED = "source_"  # prefix of a metadata key that is also one of `TABLE_COLUMNS`
MAX_METADATA_KEYS = 1000
"""Largest number of metadata keys of a corpus; each needs a column with a field per document."""

_CHUNK = 2**20
_NO_WORD = -1
_REJECTED = _SHORT, _LONG, _UNDERSCORED = (
    f"below {MIN_WORD_LENGTH} letters",
    f"above {MAX_WORD_LENGTH} letters",
    "that begin with _",
)
_CAPITALS = "with capitals"
# A run of letters and "_": the same matches as gensim.utils.PAT_ALPHABETIC, but faster.
_RUN = re.compile(r"[^\W\d]+")


@dataclass(frozen=True)
class Corpus:
    """A corpus as numbers.

    Attributes
    ----------
    tokens : numpy.ndarray
        int32, (n_tokens,): word ids of all units in order; words outside the vocabulary are dropped.
    offsets : numpy.ndarray
        int64, (n_units + 1,): unit d is ``tokens[offsets[d]:offsets[d + 1]]``.
    vocabulary : pandas.DataFrame
        ``word``, ``count``; the row number is the id. Most frequent words first; equal counts in alphabetical
        order.
    documents : pandas.DataFrame
        A row per unit: ``document`` (int64, the index into `offsets`), ``id``, ``title``, ``n_tokens``
        (int64), ``excerpt``, and the metadata of the source, as text (empty if unknown).
    n_source_tokens : int
        Tokens of the kept articles before words outside the vocabulary were dropped.
    renamed : dict of str to str
        Metadata keys that conflict with columns of `documents`, and their new column names.
    kept : str
        Description of the kept and omitted parts, with reasons.
    """

    tokens: np.ndarray
    offsets: np.ndarray
    vocabulary: pd.DataFrame
    documents: pd.DataFrame
    n_source_tokens: int
    renamed: dict[str, str] = field(default_factory=dict)
    kept: str = ""


def tokenize(text: str) -> list[str]:
    """Return the words of a text exactly as ``gensim.corpora.wikicorpus.tokenize`` does.

    Words are lower-case runs of letters of 2 to 15 characters that do not begin with an underscore.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        The words in order.
    """
    return [run for run in _RUN.findall(text.lower()) if _is_word(run)]


def build_corpus(
    documents: Iterable[Document],
    *,
    unit: str = Choice.unit,
    part_length: int | None = Choice.part_length,
    min_length: int = Choice.min_length,
    max_length: int | None = Choice.max_length,
    max_tokens: int | None = Choice.max_tokens,
    min_count: int = Choice.min_count,
    name: str = "the corpus",
) -> Corpus:
    """Tokenise documents, select them by length, select the vocabulary, and split them into units.

    One pass over the text; memory is 4 bytes per token plus the distinct words and the table.

    Parameters
    ----------
    documents : iterable of Document
        The source, e.g. `readers.read_documents`.
    unit : str
        The unit of removal: an ``article`` (an entire document) or a ``part`` of an article.
    part_length : int
        In-vocabulary tokens per part; the last part of an article is shorter. The ids of parts are ``ID#1``,
        ``ID#2``, …; parts have the title of their article.
    min_length, max_length : int
        Articles with fewer or more tokens (before the vocabulary is applied) are omitted.
    max_tokens : int
        Reading stops when the kept articles have this many tokens.
    min_count : int
        Words that occur less often in the kept articles are not in the vocabulary.
    name : str
        The source; messages begin with it.

    Returns
    -------
    Corpus
        The excerpt of an article is the beginning of its text (200 characters, on one line). The excerpt of a
        part is its first 25 in-vocabulary words. A truncated excerpt ends with an ellipsis.

    Raises
    ------
    InputError
        When a parameter is out of range, no document has a valid length, no word is frequent enough, or there
        are more than `MAX_METADATA_KEYS` metadata keys.
    """
    if unit not in UNITS:
        raise InputError(f"unknown unit '{unit}'{suggest(unit, UNITS)} (known: {', '.join(UNITS)})")
    if unit == "part" and part_length is None:
        raise InputError("part_length is missing; the unit 'part' requires the number of tokens in a part")
    minima = {
        "part_length": (part_length, 1),
        "min_length": (min_length, 0),
        "max_length": (max_length, max(min_length, 1)),
        "max_tokens": (max_tokens, 1),
        "min_count": (min_count, 1),
    }
    for key, (value, minimum) in minima.items():
        if value is not None and value < minimum:
            raise InputError(f"{key}: {value} is less than {minimum}; choose {minimum} or more")
    articles = _Articles(name, min_length, max_length, keep_excerpts=unit == "article")
    for document in tqdm(documents, unit=" documents", disable=None):
        articles.add(document)
        if max_tokens is not None and len(articles.ids) >= max_tokens:
            break
    articles.check()
    n_source_tokens = len(articles.ids)
    counts = _count(np.frombuffer(articles.ids, np.int32), len(articles.words))
    chosen, remap = choose_words(list(articles.words), counts, min_count)
    if not len(chosen):
        raise InputError(
            f"{name}: no word occurs {min_count} times (at most {counts.max(initial=0)}); lower min_count or"
            " add text"
        )
    n_kept = chosen.counts.sum()
    rare = f" (omitted: words with fewer than {min_count} occurrences)" if n_kept < n_source_tokens else ""
    kept = f"{articles.kept()} and {n_kept:,} of their {n_source_tokens:,} words{rare}"
    kept += f"{articles.changes()}; vocabulary: {len(chosen):,}"
    tokens, offsets = _apply_vocabulary(articles, remap)
    table = pd.DataFrame(articles.columns, dtype="str")
    if part_length is not None and unit == "part":
        offsets, table = _cut(tokens, offsets, table, chosen.words, part_length)
    table.insert(0, "document", np.arange(len(table), dtype=np.int64))
    table.insert(3, "n_tokens", np.diff(offsets))
    vocabulary = pd.DataFrame({"word": chosen.words, "count": chosen.counts})
    return Corpus(tokens, offsets, vocabulary, table, n_source_tokens, articles.renamed, kept)


def read_corpus(
    source: Path,
    format: str,
    choice: Choice,
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    say: Callable[[str], None],
) -> None:
    """Read and write a corpus: tokenise, select articles and vocabulary, split into removable units."""
    built = build_corpus(read_documents(source, format, say), **vars(choice), name=str(source))
    for key, column in built.renamed.items():
        say(f"{source}: the key '{key}' is renamed '{column}', because the table has its own column '{key}'")
    write_corpus(built, corpus, documents, vocabulary)
    say(f"{source}: kept {built.kept}")


def write_corpus(
    corpus: Corpus,
    corpus_path: str | os.PathLike,
    documents_path: str | os.PathLike,
    vocabulary_path: str | os.PathLike,
) -> None:
    """Write the numbers (.npz), the table of units (.parquet) and the vocabulary (.tsv), each atomically.

    Parameters
    ----------
    corpus : Corpus
    corpus_path, documents_path, vocabulary_path : path-like
        The three files.
    """
    write_tsv(vocabulary_path, corpus.vocabulary)
    write_parquet(documents_path, corpus.documents)
    write_npz(
        corpus_path,
        tokens=corpus.tokens,
        offsets=corpus.offsets,
        n_source_tokens=np.array(corpus.n_source_tokens),
        **{WORDS: np.array(digest_words(corpus.vocabulary["word"]))},
    )


def read_tokens(path: str | os.PathLike, vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """Read the tokens and offsets of a corpus, and compare its word counts with its vocabulary.

    Parameters
    ----------
    path : path-like
        The .npz file of `write_corpus`.
    vocabulary : Vocabulary
        The vocabulary of the same corpus.

    Returns
    -------
    tokens : (n_tokens,) int32
    offsets : (n_units + 1,) int64

    Raises
    ------
    InputError
        When the file is not a corpus, or the vocabulary is that of another corpus.
    """
    arrays = read_npz(path, ("tokens", "offsets"))
    tokens, n_words = arrays["tokens"], len(vocabulary)
    if len(tokens) and not 0 <= tokens.min() <= tokens.max() < n_words:
        raise InputError(
            f"{path}: the corpus has more words than the vocabulary ({n_words}); name the vocabulary of this"
            " corpus"
        )
    counts = _count(tokens, n_words)
    differ = np.flatnonzero(counts != vocabulary.counts)
    if len(differ):
        first = int(differ[0])
        raise InputError(
            f"{path}: the word '{vocabulary.words[first]}' occurs {number_of(int(counts[first]), 'time')} in"
            f" the corpus and {number_of(int(vocabulary.counts[first]), 'time')} according to the vocabulary;"
            " name the vocabulary of this corpus"
        )
    check_words(path, vocabulary)
    return tokens, arrays["offsets"]


def _is_word(run: str) -> bool:
    return MIN_WORD_LENGTH <= len(run) <= MAX_WORD_LENGTH and not run.startswith("_")


class _WordIds(dict):
    """Ids of words in the order of their first occurrence; a run of letters that is no word gets -1."""

    def __missing__(self, run: str) -> int:
        if not _is_word(run):
            return _NO_WORD
        self[run] = number = len(self)
        return number


class _Articles:
    """The articles of valid length, with provisional word ids, and statistics of all documents."""

    def __init__(self, name: str, min_length: int, max_length: int | None, keep_excerpts: bool):
        self.name = name
        self.words = _WordIds()
        self.ids = array("i")
        self.offsets = array("q", [0])
        self.renamed: dict[str, str] = {}
        self.columns: dict[str, list[str]] = {}  # of the table, a text per article
        self._places: list[str] = []
        self._limits = (min_length, max_length)
        self._keep_excerpts = keep_excerpts
        self._read, self._longest, self._n_short = 0, 0, 0
        self._shortest: int | None = None
        self._changes: Counter[str] = Counter()

    def add(self, document: Document) -> None:
        """Count one document, and keep it if its length is valid."""
        runs = _RUN.findall(document.text.lower())
        ids = np.fromiter(map(self.words.__getitem__, runs), np.int32, len(runs))
        is_word = ids != _NO_WORD
        ids = ids[is_word]
        self._read += 1
        self._shortest = len(ids) if self._shortest is None else min(self._shortest, len(ids))
        self._longest = max(self._longest, len(ids))
        low, high = self._limits
        self._n_short += len(ids) < low
        if low <= len(ids) and (high is None or len(ids) <= high):
            self.ids.frombytes(ids.tobytes())
            self._count_changes(document.text, runs, is_word)
            self._add_row(document)
            self._places.append(document.where or f"document {self._read}")
            self.offsets.append(len(self.ids))

    def _count_changes(self, text: str, runs: list[str], is_word: np.ndarray) -> None:
        """Count the runs of letters of a text that are not words, and those with capitals."""
        original_runs = _RUN.findall(text)
        if len(original_runs) == len(runs):
            self._changes[_CAPITALS] += sum(map(operator.ne, original_runs, runs))
        else:  # the lower case of a capital has two characters
            self._changes[_CAPITALS] += sum(run != run.lower() for run in original_runs)
        for run in itertools.compress(runs, ~is_word):
            if run.startswith("_"):
                self._changes[_UNDERSCORED] += 1
            else:
                self._changes[_SHORT if len(run) < MIN_WORD_LENGTH else _LONG] += 1

    def changes(self) -> str:
        """Describe, with counts, the changes from the text of the kept articles to words; "" if none."""
        capitals = self._changes[_CAPITALS]
        parts = [f"{number_of(capitals, 'word')} converted to lower case"] if capitals else []
        left_out = [f"{self._changes[reason]:,} {reason}" for reason in _REJECTED if self._changes[reason]]
        parts += [f"runs of letters omitted: {', '.join(left_out)}"] if left_out else []
        return "; ".join(["", *parts])

    def _column(self, key: str) -> str:
        """Return the column of a metadata key, distinct from `TABLE_COLUMNS` and from all other keys."""
        bare = key
        while bare.startswith(RENAMED):
            bare = bare.removeprefix(RENAMED)
        if bare not in TABLE_COLUMNS:
            return key
        self.renamed[key] = RENAMED + key
        return self.renamed[key]

    def _add_row(self, document: Document) -> None:
        row = {"id": _one_line(document.id), "title": _one_line(document.title)}
        if self._keep_excerpts:
            head = 4 * EXCERPT_CHARACTERS
            line = _one_line(document.text[:head])
            is_cut = len(line) > EXCERPT_CHARACTERS or bool(document.text[head:].strip())
            row["excerpt"] = f"{line[: EXCERPT_CHARACTERS - 1]}…" if is_cut else line
        for key, value in document.metadata.items():
            row[self._column(_one_line(key))] = sys.intern(_one_line(value))
        for key in row:
            if key not in self.columns:
                if len(self.columns.keys() - set(TABLE_COLUMNS)) >= MAX_METADATA_KEYS:
                    raise InputError(
                        f"document {row['id']}: with '{key[:40]}' the documents have more than"
                        f" {MAX_METADATA_KEYS} keys in addition to id, title and text; remove keys"
                    )
                self.columns[key] = [""] * (len(self.offsets) - 1)
        for key, column in self.columns.items():
            column.append(row.get(key, ""))

    def check(self) -> None:
        """Raise InputError if no article was kept, or two share an id, because users select by id."""
        if len(self.offsets) == 1:
            if not self._read:
                raise InputError(
                    f"{self.name}: the source contains no documents; check its content and format"
                )
            low, high = self._limits
            limits = f"at least {low}" if high is None else f"{low} to {high}"
            raise InputError(
                f"{self.name}: no document has {limits} tokens (found {number_of(self._read, 'document')} of"
                f" {self._shortest} to {self._longest} tokens); change min_length or max_length"
            )
        ids = pd.Series(self.columns["id"])
        is_repeated = ids.duplicated()
        if is_repeated.any():
            second = int(is_repeated.to_numpy().argmax())
            first = int((ids == ids[second]).to_numpy().argmax())
            place = self._places[second]
            where = place if place.startswith(self.name) else f"{self.name}: {place}"
            raise InputError(
                f"{where}: the id '{ids[second]}' is repeated (first: {self._places[first]});"
                " give each document a unique id"
            )

    def kept(self) -> str:
        """Describe the number of kept articles, and the reasons for omissions."""
        n_kept, (low, high) = len(self.offsets) - 1, self._limits
        n_long = self._read - n_kept - self._n_short
        left_out = [f"{self._n_short:,} below {low:,} words"] if self._n_short else []
        left_out += [f"{n_long:,} above {high:,} words"] if n_long else []
        reasons = f" (omitted: {', '.join(left_out)})" if left_out else ""
        return f"{n_kept:,} of {self._read:,} documents{reasons}"


def _one_line(text: str) -> str:
    """Return the text on one line, with "?" for lone surrogates, which UTF-8 cannot encode."""
    return " ".join(text.split()).encode("utf-8", "replace").decode()


def _chunks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _CHUNK, n)) for start in range(0, n, _CHUNK))


def _count(ids: np.ndarray, n_words: int) -> np.ndarray:
    """Count every id, in chunks, because NumPy converts the ids to 64 bits."""
    counts = np.zeros(n_words, np.int64)
    for chunk in _chunks(len(ids)):
        counts += np.bincount(ids[chunk], minlength=n_words)
    return counts


def _apply_vocabulary(articles: _Articles, remap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replace provisional ids in place, drop those outside the vocabulary, and return tokens and offsets."""
    ids = np.frombuffer(articles.ids, np.int32)
    old = np.frombuffer(articles.offsets, np.int64)
    new = np.zeros(len(old), np.int64)
    n_kept = 0
    for chunk in _chunks(len(ids)):
        final_ids = remap[ids[chunk]]
        is_word = final_ids != _NO_WORD
        first, last = np.searchsorted(old, [chunk.start, chunk.stop], side="right")
        new[first:last] = n_kept + np.cumsum(is_word)[old[first:last] - chunk.start - 1]
        words = final_ids[is_word]
        ids[n_kept : n_kept + len(words)] = words
        n_kept += len(words)
    return ids[:n_kept], new


def _cut(
    tokens: np.ndarray, offsets: np.ndarray, table: pd.DataFrame, words: list[str], part_length: int
) -> tuple[np.ndarray, pd.DataFrame]:
    """Split every article into parts; return the offsets and the table of the parts."""
    n_parts = -(-np.diff(offsets) // part_length)
    article = np.repeat(np.arange(len(n_parts)), n_parts)
    number = np.arange(len(article)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)
    starts = offsets[article] + number * part_length
    parts = table.iloc[article].reset_index(drop=True)
    parts["id"] = [f"{identifier}#{k}" for identifier, k in zip(parts["id"], number + 1, strict=True)]
    ends = np.append(starts[1:], offsets[-1])
    stops = np.minimum(starts + EXCERPT_WORDS, ends)
    excerpts = [
        " ".join([words[i] for i in tokens[a:b]]) + " …" * bool(b < end)
        for a, b, end in zip(starts, stops, ends, strict=True)
    ]
    parts.insert(2, "excerpt", pd.Series(excerpts, dtype="str"))
    return np.append(starts, offsets[-1]), parts
