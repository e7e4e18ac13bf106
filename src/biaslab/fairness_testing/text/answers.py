"""Queries of text classifiers in batches of bounded size."""

from collections.abc import Iterator

import numpy as np

from biaslab.text.models import TextModel
from biaslab.text.words import Texts, concatenate

WORDS = 65_536
"""Words per query batch (more for a single longer text); results do not depend on it."""
BATCH_WORDS = 8192
"""Words per call of a torch module, at least one text."""


def batches(lengths: np.ndarray, size: int) -> Iterator[slice]:
    """Yield consecutive parts of texts with at most `size` words in total, or a single longer text."""
    ends = np.cumsum(np.maximum(lengths, 1))
    begin = 0
    while begin < len(ends):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + size, side="right")))
        yield slice(begin, end)
        begin = end


def part(texts: Texts, rows: slice) -> Texts:
    """Return consecutive texts without copying their words."""
    offsets = texts.offsets[rows.start : rows.stop + 1]
    return Texts(texts.ids[offsets[0] : offsets[-1]], offsets - offsets[0])


def probabilities(model: TextModel, texts: Texts) -> np.ndarray:
    """Return the probabilities of both classes, (n, 2) float64."""
    parts = (model.probabilities(part(texts, rows)) for rows in batches(texts.lengths, WORDS))
    return np.concatenate([np.empty((0, 2)), *parts])


def labels_of(probabilities: np.ndarray) -> np.ndarray:
    """Return the labels, (n,) int64: the class of the larger probability, the first if tied."""
    return (probabilities[:, 1] > probabilities[:, 0]).astype(np.int64)


def pair_gradients(
    model: TextModel, texts: Texts, partners: Texts, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients g and g', (m, d), of texts and their partners (Algorithms 1 and 7) at once."""
    both = model.gradients(concatenate([texts, partners]), np.concatenate([labels, labels]))
    return both[: len(texts.ids)], both[len(texts.ids) :]


def rows_of_length(lengths: np.ndarray, batch_words: int) -> Iterator[np.ndarray]:
    """Yield the indices of texts of equal length, the shortest first: at most `batch_words`, or one text."""
    order = np.argsort(lengths, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if len(rows):
            step = max(1, batch_words // max(1, int(lengths[rows[0]])))
            yield from (rows[start : start + step] for start in range(0, len(rows), step))
