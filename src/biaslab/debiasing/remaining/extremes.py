"""The words at the two ends of a bias, by their place before debiasing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from biaslab.core.errors import InputError


class ExtremeWords(NamedTuple):
    """Words at both ends, as many of each."""

    rows: np.ndarray  # (2 n,) int64: the positive end, the most extreme first, then the negative one
    labels: np.ndarray  # (2 n,) int64: 1 for the positive end, 0 for the negative one


def extreme_words(bias: np.ndarray, candidates: Sequence[int], per_side: int) -> ExtremeWords:
    """Return the words with the largest and the smallest bias (V,), whose sign is the end.

    At most a quarter of the candidates at each end, so that no word near the middle enters, and no more than
    have the sign of their end. Words of equal bias are in the order of their rows.
    """
    candidates = np.unique(np.asarray(candidates, dtype=np.int64))
    values = bias[candidates]
    n = min(per_side, len(candidates) // 4, int((values > 0).sum()), int((values < 0).sum()))
    if n < 2:
        raise InputError(
            f"{len(candidates)} neutral words have no two at each end of the bias;"
            " use an embedding of more words"
        )
    order = candidates[np.argsort(-values, kind="stable")]
    return ExtremeWords(np.concatenate([order[:n], order[::-1][:n]]), np.repeat([1, 0], n))
