"""Compiled growth of the branch of a classification tree that contains a sample.

An unpruned tree splits each node independently, so that all other branches can be ignored. Attributes have
few distinct integers, so that a node is split by counting its labels per value.
"""

import numpy as np

from biaslab.core.jit import kernel

ABOVE = 1 + 1e-12
"""Scores are equal, up to rounding, if they differ by less than this factor."""


@kernel
def count_labels(X, labels, rows, n_rows, low, starts, table):
    """Fill `table`, (starts[d], k) int64, with the labels of the node's rows by attribute and value.

    The values of attribute a begin with low[a], at starts[a] of the table; the first `n_rows` of `rows` are
    the rows of the node.
    """
    table[:] = 0
    for i in range(n_rows):
        row = rows[i]
        for a in range(X.shape[1]):
            table[starts[a] + X[row, a] - low[a], labels[row]] += 1


@kernel
def best_limit(table, first, end, totals, n_rows, left):
    """Return score and limit of the split of an attribute with the purest sides, by Gini's impurity.

    The score is Σ n_c² / n of the left side plus that of the right side; larger is purer, and the lowest
    limit wins ties. Values up to the limit go left; the limit is counted from the first value and is halfway
    between two present values (rounded down). 0 and -1 for a single value. Rows `first` to before `end` of
    `table` are the labels by value; `left`, (k,) int64, is a buffer.
    """
    best, limit = 0.0, -1
    n_left, previous = 0, -1
    left[:] = 0
    for v in range(first, end):
        here = 0
        for c in range(totals.size):
            here += table[v, c]
        if here == 0:
            continue
        if previous >= 0:
            left_squares, right_squares = 0, 0
            for c in range(totals.size):
                left_squares += left[c] * left[c]
                right_squares += (totals[c] - left[c]) * (totals[c] - left[c])
            score = left_squares / n_left + right_squares / (n_rows - n_left)
            if score > best * ABOVE:
                best, limit = score, (previous + v - first) // 2
        for c in range(totals.size):
            left[c] += table[v, c]
        n_left += here
        previous = v - first
    return best, limit


@kernel
def best_split(scores, draw):
    """Choose an attribute among those with the best score, (d,) float64, by a number in [0, 1)."""
    best, n_equal = np.max(scores), 0
    for a in range(scores.size):
        n_equal += scores[a] * ABOVE >= best
    to_pass = int(draw * n_equal)
    for a in range(scores.size):
        if scores[a] * ABOVE >= best:
            if to_pass == 0:
                return a
            to_pass -= 1
    return -1


@kernel
def keep_side(X, rows, n_rows, a, limit):
    """Move the rows on the side of row 0 of a split to the front of `rows`, in order."""
    side = X[0, a] <= limit
    n_kept = 0
    for i in range(n_rows):
        if (X[rows[i], a] <= limit) == side:
            rows[n_kept] = rows[i]
            n_kept += 1
    return n_kept


@kernel
def grow_branch(X, labels, low, starts, n_classes, draws, attributes, limits, shares):
    """Split the node of row 0 until its labels, or its rows, are equal; return the number of nodes.

    `X`, (n, d) int32, begins with the explained sample; `draws` has a number for each node (`best_split`).
    Outputs, (n,) each: `attributes` and `limits` of "attribute ≤ limit?", and `shares` of the node's rows
    that go left.
    """
    n_rows, d = X.shape
    rows = np.arange(n_rows)
    table = np.empty((starts[d], n_classes), np.int64)
    totals, left = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    scores, best_limits = np.empty(d), np.empty(d, np.int64)
    depth = 0
    while True:
        totals[:] = 0
        for i in range(n_rows):
            totals[labels[rows[i]]] += 1
        if totals[labels[0]] == n_rows:
            return depth
        count_labels(X, labels, rows, n_rows, low, starts, table)
        for a in range(d):
            scores[a], best_limits[a] = best_limit(table, starts[a], starts[a + 1], totals, n_rows, left)
        a = best_split(scores, draws[depth])
        if best_limits[a] < 0:
            return depth
        limit = low[a] + best_limits[a]
        n_kept = keep_side(X, rows, n_rows, a, limit)
        n_left = n_kept if X[0, a] <= limit else n_rows - n_kept
        attributes[depth], limits[depth], shares[depth] = a, limit, n_left / n_rows
        n_rows = n_kept
        depth += 1
