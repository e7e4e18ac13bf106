"""Co-occurrences of the words of a bias test: their rows of X, weights and row numbers."""

from collections.abc import Sequence

import numpy as np

from biaslab.bias.word_sets import WeatIndices
from biaslab.embeddings.cooccurrence import Cooccurrence


def rows_of(x: Cooccurrence, words: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the starts, columns and counts of the rows of X of `words` (ascending ids)."""
    starts = np.concatenate([[0], np.cumsum(x.indptr[words + 1] - x.indptr[words])]).astype(np.int64)
    pieces = [slice(x.indptr[i], x.indptr[i + 1]) for i in words]
    return (
        starts,
        np.concatenate([x.indices[p] for p in pieces]),
        np.concatenate([x.counts[p] for p in pieces]),
    )


def slots_of(words: Sequence[int], n_words: int) -> np.ndarray:
    """Return the row number of each word, -1 without a row: (n_words,) int32."""
    slot_of = np.full(n_words, -1, np.int32)
    slot_of[words] = np.arange(len(words))
    return slot_of


def distance_weights(window: int, unit: int) -> np.ndarray:
    """Return the weight of a pair by its distance, (window + 1,) int64, in units of 1 / `unit`."""
    return np.concatenate([[0], unit // np.arange(1, window + 1)])


def places_in_test(words: np.ndarray, weat: WeatIndices) -> tuple[np.ndarray, np.ndarray]:
    """Return the row numbers of the targets, S first, and the weight of each row: 1/|A| in A, -1/|B| in B."""
    attribute_weights = np.zeros(len(words))
    for ids, sign in ((weat.A, 1), (weat.B, -1)):
        attribute_weights[np.searchsorted(words, ids)] += sign / len(ids)
    return np.searchsorted(words, np.concatenate([weat.S, weat.T])), attribute_weights
