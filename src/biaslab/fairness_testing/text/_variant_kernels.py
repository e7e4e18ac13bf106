"""Kernel that writes the variants of texts, with all values of a word in sequence."""

import numpy as np

from biaslab.core.jit import kernel


@kernel
def write_variants(ids, offsets, rows, replaced, values):
    """Return ids and offsets of v texts, `rows` of the given texts, each with a word replaced throughout."""
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
