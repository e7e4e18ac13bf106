"""Measure the similarity of changed texts to their originals (Zhang et al. 2021, Section 5.2, RQ2).

All functions compare texts in pairs. A changed text has as many words as its original, because words are only
replaced. The value of a pair depends only on the pair.
"""

import numpy as np

from biaslab.text._similarity_kernels import N_GRAM_ORDERS, count_common_n_grams
from biaslab.text.words import Texts


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
