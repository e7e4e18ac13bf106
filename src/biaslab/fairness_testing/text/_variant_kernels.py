"""Writes the variants of texts; all values of a word are put in one after the other."""

import numpy as np

from biaslab.core.jit import kernel


@kernel
def write_variants(ids, offsets, rows, replaced, values):
    """Copy texts, with a word replaced wherever it occurs.

    Parameters
    ----------
    ids : (m,) int32
    offsets : (n + 1,) int64
    rows : (v,) int64
        The text of each variant.
    replaced, values : (v,) int32
        The word that is replaced, and by which.

    Returns
    -------
    ids : (total,) int32
    offsets : (v + 1,) int64
    """
    ends = np.zeros(len(rows) + 1, np.int64)
    for v in range(len(rows)):
        ends[v + 1] = ends[v] + offsets[rows[v] + 1] - offsets[rows[v]]
    out = np.empty(ends[-1], np.int32)
    for v in range(len(rows)):
        begin, old, new = offsets[rows[v]], replaced[v], values[v]
        for j in range(ends[v + 1] - ends[v]):
            word = ids[begin + j]
            out[ends[v] + j] = new if word == old else word
    return out, ends
