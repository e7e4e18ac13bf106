"""Exact co-occurrence counts of a corpus (the X of GloVe), as integers."""

import math
import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy  # imports its submodules lazily

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.embeddings.corpus import read_tokens
from biaslab.embeddings.vocabulary import WORDS, Vocabulary, check_words, choose_words, read_vocabulary

__all__ = [
    "Cooccurrence",
    "count",
    "count_texts",
    "from_sparse",
    "read",
    "read_records",
    "select_documents",
    "subtract",
    "write",
]

RECORDS_SUFFIX = ".bin"  # suffix of the files of `read_records`
_RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])
_ROOM = 1 << 28  # largest number of entries in the rows of one pass: 3 GB of address space, mostly untouched


@dataclass(frozen=True)
class Cooccurrence:
    """A matrix of co-occurrence counts in compressed rows, symmetric unless imported (`from_sparse`).

    Attributes
    ----------
    indptr : numpy.ndarray
        (V + 1,) int64, the start of each row.
    indices : numpy.ndarray
        (nnz,) int32, columns, ascending in each row.
    counts : numpy.ndarray
        (nnz,) int64, positive, in units of 1 / `unit`: X = counts / unit, without rounding error. float64 for
        a matrix with fractions (`from_sparse`).
    unit : int
        The least common multiple of 1..window, so that every weight 1/distance is an integer in these units.
    window : int
        Tokens on either side that count as context; 0 if unknown.
    """

    indptr: np.ndarray
    indices: np.ndarray
    counts: np.ndarray
    unit: int
    window: int

    @property
    def n_words(self) -> int:
        """Number of words V."""
        return len(self.indptr) - 1

    def rows(self) -> np.ndarray:
        """Return the row of every entry.

        Returns
        -------
        (nnz,) int32
            Row of each entry, in the order of `indices`.
        """
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.indptr))


def count(
    tokens: np.ndarray, offsets: np.ndarray, n_words: int, window: int, threads: int = 1
) -> Cooccurrence:
    """Count, for each word, the words within `window` tokens, weighted by 1/distance.

    Parameters
    ----------
    tokens : numpy.ndarray
        (n,) int32, word ids below `n_words`.
    offsets : numpy.ndarray
        (n_documents + 1,) int64, the start of each document in `tokens`; no pair crosses documents.
    n_words : int
        Number of words V.
    window : int
        At least 1.
    threads : int
        Threads to use.

    Returns
    -------
    Cooccurrence
        Counts are additive: those of a corpus are the sum of those of its documents, bit for bit
        (Brunet et al. 2019, Section 4.1, X = sum_k X^(k)).

    Raises
    ------
    InputError
        When the window is not between 1 and 22, or an id lies outside the vocabulary.

    Notes
    -----
    One pass per row visits the occurrences of a word and sums their neighbours in a dense vector. No list of
    pairs is stored, so the memory is that of the tokens and of the result.
    """
    from biaslab.core.jit import set_threads
    from biaslab.embeddings import _kernels

    if not 1 <= window <= 22:
        raise InputError(f"window: {window} is not between 1 and 22; choose a window in that range")
    if len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < n_words:
        raise InputError(
            f"the corpus has word ids outside the vocabulary of {n_words} words; regenerate the corpus"
        )
    set_threads(threads)
    unit = math.lcm(*range(1, window + 1))
    weights = np.zeros(window + 1, np.int64)
    weights[1:] = unit // np.arange(1, window + 1)
    lengths = np.diff(offsets)
    begins, ends = np.repeat(offsets[:-1], lengths), np.repeat(offsets[1:], lengths)
    starts = np.concatenate([[0], np.cumsum(np.bincount(tokens, minlength=n_words))])
    positions = np.empty(len(tokens), np.int64)
    _kernels.invert_tokens(tokens, starts, positions)

    room = np.minimum(n_words, 2 * window * np.diff(starts))
    sizes = np.empty(n_words, np.int64)
    parts = []
    first = 0
    while first < n_words:
        capacity = np.concatenate([[0], np.cumsum(room[first:])])
        capacity = capacity[: max(2, int(np.searchsorted(capacity, _ROOM, side="right")))]
        last = first + len(capacity) - 1
        indices, counts = np.empty(capacity[-1], np.int32), np.empty(capacity[-1], np.int64)
        _kernels.COUNT_ROWS[threads > 1](
            first,
            tokens,
            begins,
            ends,
            starts,
            positions,
            weights,
            capacity,
            indices,
            counts,
            sizes[first:last],
        )
        targets = np.concatenate([[0], np.cumsum(sizes[first:last])])  # without the unused capacity
        parts.append((np.empty(targets[-1], np.int32), np.empty(targets[-1], np.int64)))
        _kernels.COMPACT_ROWS[threads > 1](capacity, targets, indices, counts, *parts[-1])
        first = last
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(parts) == 1:
        indices, counts = parts[0]
    else:
        indices = np.concatenate([p[0] for p in parts] or [np.empty(0, np.int32)])
        counts = np.concatenate([p[1] for p in parts] or [np.empty(0, np.int64)])
    return Cooccurrence(indptr, indices, counts, unit, window)


def count_corpus(corpus: Path, vocabulary: Path, window: int, out: Path, threads: int = 1) -> None:
    """Count the co-occurrences of a corpus, exactly."""
    words = read_vocabulary(vocabulary)
    counts = count(*read_tokens(corpus, words), len(words), window, threads)
    write(out, counts, words.digest)


def count_texts(
    texts: Iterable[Sequence[str]], window: int, min_count: int = 1, threads: int = 1
) -> tuple[Cooccurrence, Vocabulary]:
    """Count the co-occurrences of tokenised texts.

    Parameters
    ----------
    texts : iterable of sequence of str
        Lists of words. Read once; the memory is 4 bytes per word.
    window : int
        From 1 to 22.
    min_count : int
        Words that occur less often are omitted before distances are computed.
    threads : int
        Threads to use; the result does not depend on them.

    Returns
    -------
    x : Cooccurrence
        The rows are the words of the vocabulary, in its order.
    vocabulary : Vocabulary
        Most frequent words first; equal counts in alphabetical order.

    Raises
    ------
    InputError
        When a text is a string instead of a list of words, no word is frequent enough, or the window is out
        of range.
    """
    tokens, offsets, vocabulary = number_texts(texts, min_count)
    return count(tokens, offsets, len(vocabulary), window, threads), vocabulary


def number_texts(texts: Iterable[Sequence[str]], min_count: int) -> tuple[np.ndarray, np.ndarray, Vocabulary]:
    """Return word ids, the offsets of the texts, and the vocabulary; arguments as for `count_texts`."""
    first_ids: dict[str, int] = {}
    ids, ends = array("i"), array("q", [0])
    for number, text in enumerate(texts, 1):
        if isinstance(text, str | bytes):
            raise InputError(
                f"text {number} is a string; give a list of its words, for instance text.split()"
            )
        ids.extend(first_ids.setdefault(word, len(first_ids)) for word in text)
        ends.append(len(ids))
    tokens, offsets = np.array(ids, np.int32), np.array(ends, np.int64)
    counts = np.bincount(tokens, minlength=len(first_ids))
    vocabulary, final_ids = choose_words(list(first_ids), counts, min_count)
    if not len(vocabulary):
        raise InputError(
            f"no word occurs {min_count} times in the texts; use more texts or a smaller min_count"
        )
    is_kept = final_ids[tokens] >= 0
    offsets = np.concatenate([[0], np.cumsum(is_kept)])[offsets].astype(np.int64)
    return final_ids[tokens][is_kept], offsets, vocabulary


def from_sparse(matrix: "scipy.sparse.sparray | scipy.sparse.spmatrix") -> Cooccurrence:
    """Import counts of another tool.

    Parameters
    ----------
    matrix : (V, V) scipy.sparse array or matrix
        Finite counts of 0 or more, of any numeric type and format. The matrix is not changed. Training
        accepts any order of words, but balances threads best if frequent words come first. The influence
        functions and PPMI assume that X is symmetric; GloVe does not.

    Returns
    -------
    Cooccurrence
        With `unit` 1 and `window` 0. Whole numbers are stored exactly, as int64; fractions as float64.

    Raises
    ------
    InputError
        When the matrix is not sparse or not square, or a count is negative or not finite.
    """
    if not scipy.sparse.issparse(matrix):
        raise InputError(
            f"a {type(matrix).__name__} is not a sparse matrix; wrap it in scipy.sparse.csr_array"
        )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"the matrix of shape {matrix.shape} is not square; give one row and one column for each word"
        )
    rows = scipy.sparse.csr_array(matrix, copy=True)
    rows.sum_duplicates()
    values = rows.data
    if not (np.isrealobj(values) and np.all(np.isfinite(values) & (values >= 0))):
        raise InputError("the matrix has a negative or non-finite count; give finite counts of 0 or more")
    rows.eliminate_zeros()
    values = rows.data
    is_whole = bool(np.all((values == np.floor(values)) & (values < 2**53)))
    return Cooccurrence(
        rows.indptr.astype(np.int64),
        rows.indices.astype(np.int32),
        values.astype(np.int64 if is_whole else np.float64),
        unit=1,
        window=0,
    )


def select_documents(
    tokens: np.ndarray, offsets: np.ndarray, documents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens and offsets of selected documents, in the given order.

    Parameters
    ----------
    tokens, offsets : numpy.ndarray
        The corpus, as for :func:`count`.
    documents : numpy.ndarray
        (k,) int64, document numbers.

    Returns
    -------
    tokens : numpy.ndarray
        (m,) int32.
    offsets : numpy.ndarray
        (k + 1,) int64.

    Raises
    ------
    InputError
        When a document number lies outside the corpus.
    """
    documents = np.asarray(documents, np.int64)
    n_documents = len(offsets) - 1
    if len(documents) and not 0 <= documents.min() <= documents.max() < n_documents:
        raise InputError(
            f"document {documents.max()} is not in the corpus of {n_documents} documents;"
            " number the documents from 0"
        )
    lengths = np.diff(offsets)[documents]
    new_offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    pieces = [tokens[offsets[d] : offsets[d + 1]] for d in documents]
    return (np.concatenate(pieces) if pieces else tokens[:0]), new_offsets


def subtract(whole: Cooccurrence, removed: Cooccurrence, threads: int = 1) -> Cooccurrence:
    """Return X~ = X - X(removed documents), without the entries that become zero.

    Parameters
    ----------
    whole, removed : Cooccurrence
        Counts with the same vocabulary and window; `removed` counts documents of the corpus of `whole`.
    threads : int
        Threads to use.

    Returns
    -------
    Cooccurrence
        Exactly the counts of the remaining documents.

    Raises
    ------
    InputError
        When `removed` is not part of `whole`, or either has fractions, whose difference is not exact.
    """
    from biaslab.core.jit import set_threads
    from biaslab.embeddings import _kernels

    if not all(np.issubdtype(x.counts.dtype, np.integer) for x in (whole, removed)):
        raise InputError("fractional counts cannot be subtracted exactly; count the remaining texts")
    if (whole.n_words, whole.window) != (removed.n_words, removed.window):
        raise InputError(
            "the counts of the removed documents have another vocabulary or window; count the documents again"
        )
    set_threads(threads)
    left = np.empty_like(whole.counts)
    _kernels.SUBTRACT_ROWS[threads > 1](
        whole.indptr, whole.indices, whole.counts, removed.indptr, removed.indices, removed.counts, left
    )
    if len(left) and left.min() < 0:
        raise InputError("the removed documents are not part of this corpus; give the corpus of the counts")
    is_kept = left > 0
    indptr = np.concatenate([[0], np.cumsum(is_kept)])[whole.indptr].astype(np.int64)
    return Cooccurrence(indptr, whole.indices[is_kept], left[is_kept], whole.unit, whole.window)


def write(path: str | os.PathLike, x: Cooccurrence, words: str = "") -> None:
    """Write the counts to an ``.npz`` file, atomically.

    Parameters
    ----------
    path : path-like
        The file.
    x : Cooccurrence
    words : str
        The digest of the vocabulary of the counts (`Vocabulary.digest`). A file without a digest fits every
        vocabulary of its size.
    """
    write_npz(
        path,
        indptr=x.indptr,
        indices=x.indices,
        counts=x.counts,
        unit=np.array(x.unit),
        window=np.array(x.window),
        **{WORDS: np.array(words)},
    )


def read(path: str | os.PathLike) -> Cooccurrence:
    """Read the counts that :func:`write` wrote.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Cooccurrence
        The counts.

    Raises
    ------
    InputError
        When the file is missing or is no co-occurrence file.
    """
    arrays = read_npz(path, ("indptr", "indices", "counts", "unit", "window"))
    return Cooccurrence(
        arrays["indptr"], arrays["indices"], arrays["counts"], int(arrays["unit"]), int(arrays["window"])
    )


def read_counted(
    cooccurrence: Path, corpus: Path, vocabulary: Path
) -> tuple[Vocabulary, Cooccurrence, np.ndarray, np.ndarray]:
    """Read the vocabulary, the counts, the word ids and the offsets of a corpus."""
    words = read_vocabulary(vocabulary)
    x = read_counts(cooccurrence, words)
    return words, x, *read_tokens(corpus, words)


def read_counts(path: Path, words: Vocabulary) -> Cooccurrence:
    """Read the counts of a corpus, and check that they match its vocabulary."""
    x = read(path)
    if x.n_words != len(words):
        raise InputError(
            f"{path}: the counts have {x.n_words} words and {words.source} has {len(words)}; name files of"
            " the same corpus"
        )
    check_words(path, words)
    return x


def read_records(path: str | os.PathLike, n_words: int) -> Cooccurrence:
    """Read the co-occurrences that Stanford's GloVe counted, ``cooccurrence.bin``, shuffled or not.

    Parameters
    ----------
    path : path-like
        Records in any order: two int32, the numbers of two words in ``vocab.txt`` from 1, and a float64.
    n_words : int
        Number of words in ``vocab.txt``.

    Returns
    -------
    Cooccurrence
        As from `from_sparse`.

    Raises
    ------
    InputError
        When the file is missing or empty, its size is no multiple of 16 bytes, a number is not that of a
        word, or a count is not positive.
    """
    try:
        size = os.stat(path).st_size
        if size % _RECORD.itemsize or not size:
            raise InputError(
                f"{path}: expected records of {_RECORD.itemsize} bytes (int32, int32, float64), found"
                f" {size:,} bytes; copy cooccurrence.bin again"
            )
        records = np.fromfile(path, _RECORD)
    except FileNotFoundError as error:
        raise InputError(f"{path}: the file of co-occurrences does not exist; check the path") from error
    except OSError as error:
        raise InputError(
            f"{path}: the file is not readable ({error.strerror}); check its permissions"
        ) from error
    rows, columns, values = (records[name] for name in ("row", "column", "value"))
    for problem, is_bad in (
        (
            f"has a word number outside 1 to {n_words:,}",
            (np.minimum(rows, columns) < 1) | (np.maximum(rows, columns) > n_words),
        ),
        ("has a count that is not a positive number", ~(np.isfinite(values) & (values > 0))),
    ):
        if is_bad.any():
            number = int(is_bad.argmax()) + 1
            raise InputError(
                f"{path}: record {number:,} {problem}; name the vocab.txt of the same corpus, or count again"
            )
    return from_sparse(scipy.sparse.coo_array((values, (rows - 1, columns - 1)), shape=(n_words, n_words)))
