"""Exact co-occurrence counts of a corpus (the X of GloVe), as integers."""

import math
import os
from dataclasses import dataclass

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.core.jit import set_threads
from biaslab.embeddings import _kernels

_ROOM = 1 << 28  # entries that the rows of one pass may need at most: 3 GB of address space, mostly untouched


@dataclass(frozen=True)
class Cooccurrence:
    """A symmetric matrix of co-occurrence counts in compressed rows.

    Attributes
    ----------
    indptr : numpy.ndarray
        (V + 1,) int64, where each row begins.
    indices : numpy.ndarray
        (nnz,) int32, columns, ascending in each row.
    counts : numpy.ndarray
        (nnz,) int64, positive, in units of 1 / `unit`: X = counts / unit, without rounding error.
    unit : int
        The least common multiple of 1..window, so that every weight 1/distance is a whole number of units.
    window : int
        Tokens on either side that count as context.
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
        """Return the row of every entry, (nnz,) int32."""
        return np.repeat(np.arange(self.n_words, dtype=np.int32), np.diff(self.indptr))


def count(
    tokens: np.ndarray, offsets: np.ndarray, n_words: int, window: int, threads: int = 1
) -> Cooccurrence:
    """Count, for each word, the words within `window` tokens of it, weighted by 1/distance.

    Parameters
    ----------
    tokens : numpy.ndarray
        (n,) int32, word ids below `n_words`.
    offsets : numpy.ndarray
        (n_documents + 1,) int64, where each document begins in `tokens`; no pair crosses such a border.
    n_words : int
        Number of words V.
    window : int
        At least 1.
    threads : int
        Threads to use.

    Returns
    -------
    Cooccurrence
        Additive: the counts of a corpus are the sum of the counts of its documents, bit for bit
        (Brunet et al. 2019, Section 4.1, X = sum_k X^(k)).

    Raises
    ------
    InputError
        When the window is not between 1 and 22, or an id lies outside the vocabulary.

    Notes
    -----
    One pass a row: the occurrences of a word are visited, and their neighbours summed in a dense vector. No
    list of pairs is ever held, so the memory is that of the tokens and of the result.
    """
    if not 1 <= window <= 22:
        raise InputError(f"window: {window} is not between 1 and 22; choose a window in that range")
    if len(tokens) and not 0 <= int(tokens.min()) <= int(tokens.max()) < n_words:
        raise InputError(
            f"the corpus has word ids outside the vocabulary of {n_words} words; read the corpus again"
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
        parts.append(_compact(capacity, sizes[first:last], indices, counts, threads))
        first = last
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if len(parts) == 1:
        indices, counts = parts[0]
    else:
        indices = np.concatenate([p[0] for p in parts] or [np.empty(0, np.int32)])
        counts = np.concatenate([p[1] for p in parts] or [np.empty(0, np.int64)])
    return Cooccurrence(indptr, indices, counts, unit, window)


def _compact(capacity, sizes, indices, counts, threads):
    """Move the filled starts of the rows together."""
    targets = np.concatenate([[0], np.cumsum(sizes)])
    out_indices, out_counts = np.empty(targets[-1], np.int32), np.empty(targets[-1], np.int64)
    _kernels.COMPACT_ROWS[threads > 1](capacity, targets, indices, counts, out_indices, out_counts)
    return out_indices, out_counts


def select_documents(
    tokens: np.ndarray, offsets: np.ndarray, documents: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the tokens and offsets of some documents alone, in the order given.

    Parameters
    ----------
    tokens, offsets : numpy.ndarray
        The corpus, as for :func:`count`.
    documents : numpy.ndarray
        (k,) int64, document numbers.

    Raises
    ------
    InputError
        When a document number lies outside the corpus.
    """
    documents = np.asarray(documents, np.int64)
    n_documents = len(offsets) - 1
    if len(documents) and not 0 <= documents.min() <= documents.max() < n_documents:
        raise InputError(f"document {documents.max()} is not in the corpus of {n_documents} documents")
    lengths = np.diff(offsets)[documents]
    chosen = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    pieces = [tokens[offsets[d] : offsets[d + 1]] for d in documents]
    return (np.concatenate(pieces) if pieces else tokens[:0]), chosen


def subtract(whole: Cooccurrence, removed: Cooccurrence, threads: int = 1) -> Cooccurrence:
    """Return X~ = X - X(removed documents), without the entries that become zero.

    Parameters
    ----------
    whole, removed : Cooccurrence
        Counted with the same vocabulary and window; `removed` from some documents of the corpus of `whole`.
    threads : int
        Threads to use.

    Raises
    ------
    InputError
        When `removed` is not part of `whole`.
    """
    if (whole.n_words, whole.window) != (removed.n_words, removed.window):
        raise InputError(
            "the removed documents were counted with another vocabulary or window; count them again"
        )
    set_threads(threads)
    left = np.empty_like(whole.counts)
    _kernels.SUBTRACT_ROWS[threads > 1](
        whole.indptr, whole.indices, whole.counts, removed.indptr, removed.indices, removed.counts, left
    )
    if len(left) and left.min() < 0:
        raise InputError(
            "the removed documents are not part of this corpus; use the corpus that X was counted from"
        )
    kept = left > 0
    indptr = np.concatenate([[0], np.cumsum(kept)])[whole.indptr].astype(np.int64)
    return Cooccurrence(indptr, whole.indices[kept], left[kept], whole.unit, whole.window)


def write(path: str | os.PathLike, x: Cooccurrence) -> None:
    """Write the counts to an ``.npz`` file, atomically."""
    write_npz(
        path,
        indptr=x.indptr,
        indices=x.indices,
        counts=x.counts,
        unit=np.int64(x.unit),
        window=np.int64(x.window),
    )


def read(path: str | os.PathLike) -> Cooccurrence:
    """Read what :func:`write` wrote.

    Raises
    ------
    InputError
        When the file is missing or is no co-occurrence file.
    """
    arrays = read_npz(path, ("indptr", "indices", "counts", "unit", "window"))
    return Cooccurrence(
        arrays["indptr"], arrays["indices"], arrays["counts"], int(arrays["unit"]), int(arrays["window"])
    )
