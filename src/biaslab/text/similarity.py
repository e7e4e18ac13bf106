"""Find the words most similar to a word, and measure the similarity of changed texts to their originals.

The words are its replacements (Zhang et al. 2021, Section 4.2). Texts are compared in pairs (Section 5.2,
RQ2). A changed text has as many words as its original, because words are only replaced. The value of a pair
depends only on the pair.
"""

from collections.abc import Sequence

import numpy as np

from biaslab.text._similarity_kernels import N_GRAM_ORDERS, count_common_n_grams, merge_nearest
from biaslab.text.words import Lexicon, Texts

BLOCK = (1024, 16384)
"""Numbers of words and candidates with cosines in memory at once (64 MiB); they do not affect results."""


def nearest_words(lexicon: Lexicon, k: int, excluded: Sequence[int] | np.ndarray = ()) -> np.ndarray:
    """Return the k words nearest to each word by cosine, (V, k) int32, without itself; -1 fills the rest.

    The most similar word comes first. Only words with their own vector are neighbours or have neighbours.
    Words in `excluded`, e.g. the values of a protected feature, are never neighbours. Cosines are rounded to
    1e-9; equal cosines are sorted by word id.
    """
    vectors = np.ascontiguousarray(lexicon.vectors, np.float32)
    n_words, dimension = vectors.shape
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    has_direction = lexicon.is_known & (norms > 0)
    is_candidate = has_direction.copy()
    is_candidate[np.asarray(excluded, np.int64)] = False
    rows, columns = np.flatnonzero(has_direction), np.flatnonzero(is_candidate)
    nearest = np.full((n_words, k), -1, np.int32)
    unit = _unit(vectors, norms, columns)
    # Bound of the error of a product of unit vectors in single precision, plus the rounding to 1e-9.
    margin = (dimension + 8) * 2.0**-24 + 1e-8
    for start in range(0, rows.size, BLOCK[0]):
        block = rows[start : start + BLOCK[0]]
        block_vectors = _unit(vectors, norms, block)
        block_nearest, cosines = np.full((block.size, k), -1, np.int32), np.full((block.size, k), -np.inf)
        for begin in range(0, columns.size, BLOCK[1]):
            tile = slice(begin, begin + BLOCK[1])
            screened = block_vectors @ unit[tile].T
            merge_nearest(screened, margin, block, columns[tile], vectors, norms, block_nearest, cosines)
        nearest[block] = block_nearest
    return nearest


def _unit(vectors: np.ndarray, norms: np.ndarray, rows: np.ndarray) -> np.ndarray:
    unit = vectors[rows]
    return np.divide(unit, norms[rows, None], out=unit, casting="same_kind")  # divides in double precision


def changed_words(original: Texts, changed: Texts) -> np.ndarray:
    """Return the L0 distance of n pairs, the number of different words, (n,) int64."""
    _check(original, changed)
    differs = np.concatenate([[0], np.cumsum(original.ids != changed.ids)])
    return np.diff(differs[original.offsets])


def vector_distance(original: Texts, changed: Texts, vectors: np.ndarray) -> np.ndarray:
    """Return the L2 distance of n pairs over the word `vectors`, (V, d), of all positions: (n,) float64."""
    _check(original, changed)
    where = np.flatnonzero(original.ids != changed.ids)
    text = np.searchsorted(original.offsets, where, side="right") - 1
    differences = vectors[original.ids[where]].astype(np.float64) - vectors[changed.ids[where]]
    squares = np.sum(differences**2, axis=1)
    return np.sqrt(np.bincount(text, squares, len(original)))


def jaccard(original: Texts, changed: Texts) -> np.ndarray:
    """Return the Jaccard coefficient of the sets of words of n pairs, (n,) float64; 1 for empty texts."""
    _check(original, changed)
    n = len(original)
    text = np.repeat(np.arange(n), original.lengths)
    n_words = 1 + max(original.ids.max(initial=0), changed.ids.max(initial=0))
    first, second = (np.unique(text * n_words + texts.ids) for texts in (original, changed))
    n_common, n_first, n_second = (
        np.bincount(keys // n_words, minlength=n)
        for keys in (np.intersect1d(first, second, assume_unique=True), first, second)
    )
    n_any = n_first + n_second - n_common
    return np.where(n_any > 0, n_common / np.maximum(n_any, 1), 1.0)


def bleu(original: Texts, changed: Texts) -> np.ndarray:
    """Return BLEU-4 of n changed texts, with their originals as references (Papineni et al. 2002), 0 to 1.

    The paper names no smoothing. The values equal sacrebleu's sentence scores with exponential smoothing and
    effective order: the k-th order without a common n-gram counts as 1 / 2^k n-grams, and orders longer than
    the text are ignored. Equal lengths need no brevity penalty. BLEU is 0 without a common word.
    """
    _check(original, changed)
    common = np.empty((len(original), N_GRAM_ORDERS), np.int32)
    count_common_n_grams(original.ids, changed.ids, original.offsets, common)
    total = original.lengths[:, None] - np.arange(N_GRAM_ORDERS)
    exists = total > 0
    is_smoothed = exists & (common == 0)
    matches = np.where(is_smoothed, 0.5 ** np.cumsum(is_smoothed, axis=1), common)
    precisions = np.where(exists, matches / np.maximum(total, 1), 1.0)
    score = np.exp(np.log(precisions).sum(axis=1) / np.maximum(exists.sum(axis=1), 1))
    return np.where(common[:, 0] > 0, score, 0.0)


def _check(original: Texts, changed: Texts) -> None:
    if not np.array_equal(original.offsets, changed.offsets):
        raise ValueError("a changed text must have as many words as its original")
