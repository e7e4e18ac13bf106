"""Sequences of unequal length, one after the other in a flat array."""

import numpy as np


def gather(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the elements of some sequences stand in the flat array, and their offsets once gathered.

    Sequence i has the elements ``offsets[i]`` to ``offsets[i + 1] - 1``; an index may occur twice.
    """
    lengths = np.diff(offsets)[rows]
    gathered = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(offsets[:-1][rows] - gathered[:-1], lengths)
    return np.arange(gathered[-1]) + shift, gathered
