"""Compiled growth of the one branch of a classification tree that a sample falls into.

An unpruned tree splits each node by itself, so the other branches need not be grown. Attributes hold few
different integers, so a node is split by counting its labels value by value.
"""

import numpy as np

from biaslab.core.jit import kernel

ABOVE = 1 + 1e-12
"""Scores that differ by less than this factor are equal but for rounding."""


@kernel
def count_labels(X, labels, rows, low, starts, table):
    """Count the labels of some rows by attribute and value.

    Parameters
    ----------
    X : (n, d) int32
    labels : (n,) int64
    rows : (m,) int64
        Rows of the node.
    low : (d,) int32
        Least value of each attribute.
    starts : (d + 1,) int64
        Where the values of each attribute begin in `table`.
    table : (starts[d], k) int64
        Filled.
    """
    table[:] = 0
    for row in rows:
        label = labels[row]
        for a in range(X.shape[1]):
            table[starts[a] + X[row, a] - low[a], label] += 1


@kernel
def best_limit(table, totals, left):
    """Find the split of one attribute with the purest sides, by Gini's impurity; the lowest of equal ones.

    Parameters
    ----------
    table : (v, k) int64
        The node's labels by value of the attribute.
    totals : (k,) int64
        Their sums.
    left : (k,) int64
        Working space.

    Returns
    -------
    score : float
        Σ n_c² / n of the left side plus that of the right side, the larger the purer; 0 when there is one
        value only.
    limit : int
        The values up to it go left, halfway between two values that occur (rounded down).
    """
    best, limit = 0.0, -1
    left[:] = 0
    n_left, n = 0, np.sum(totals)
    previous = -1
    for value in range(table.shape[0]):
        here = np.sum(table[value])
        if not here:
            continue
        if previous >= 0:
            left_squares, right_squares = 0, 0
            for c in range(totals.size):
                left_squares += left[c] * left[c]
                right_squares += (totals[c] - left[c]) * (totals[c] - left[c])
            score = left_squares / n_left + right_squares / (n - n_left)
            if score > best * ABOVE:
                best, limit = score, (previous + value) // 2
        left += table[value]
        n_left += here
        previous = value
    return best, limit


@kernel
def best_split(table, starts, totals, draw):
    """Find the purest split of a node: its attribute and its limit, counted from the least value on.

    The limit is -1 when all rows are equal.

    Parameters
    ----------
    table, starts
        As in `count_labels`.
    totals : (k,) int64
        Labels of the node.
    draw : float
        In [0, 1); chooses among equally pure attributes.
    """
    d = starts.size - 1
    scores, limits = np.empty(d), np.empty(d, np.int64)
    left = np.empty_like(totals)
    for a in range(d):
        scores[a], limits[a] = best_limit(table[starts[a] : starts[a + 1]], totals, left)
    equal = np.flatnonzero(scores * ABOVE >= np.max(scores))
    a = equal[int(draw * equal.size)]
    return a, limits[a]


@kernel
def grow_branch(X, labels, low, starts, n_classes, draws, attributes, limits, shares):
    """Split the node of row 0 until its labels are equal.

    Parameters
    ----------
    X : (n, d) int32
        Neighbours; the explained sample is the first.
    labels : (n,) int64
    low, starts
        As in `count_labels`.
    n_classes : int
    draws : (n,) float64
        One uniform number for each node; see `best_split`.
    attributes, limits : (n,) int64
        Filled: what the nodes ask, "attribute ≤ limit?".
    shares : (n,) float64
        Filled: share of the node's rows that go left.

    Returns
    -------
    int
        Nodes on the branch, leaf not counted.
    """
    rows = np.arange(X.shape[0])
    table = np.empty((starts[-1], n_classes), np.int64)
    depth = 0
    while True:
        totals = np.zeros(n_classes, np.int64)
        for row in rows:
            totals[labels[row]] += 1
        if np.max(totals) == rows.size:
            return depth
        count_labels(X, labels, rows, low, starts, table)
        a, limit = best_split(table, starts, totals, draws[depth])
        if limit < 0:
            return depth
        limit += low[a]
        sides = X[rows, a] <= limit
        attributes[depth], limits[depth] = a, limit
        shares[depth] = np.sum(sides) / rows.size
        rows = rows[sides == sides[0]]
        depth += 1
