"""Batches of texts of one length, in which nothing is padded."""

from collections.abc import Iterator

import numpy as np

BATCH_WORDS = 8192
"""Words of one call of a torch module, one text at least."""


def rows_of_length(lengths: np.ndarray, batch_words: int) -> Iterator[np.ndarray]:
    """Yield the indexes of texts of one length, the shortest first: at most `batch_words`, or one text."""
    order = np.argsort(lengths, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if len(rows):
            step = max(1, batch_words // max(1, int(lengths[rows[0]])))
            yield from (rows[start : start + step] for start in range(0, len(rows), step))
