"""Slow, literal oracle of interval bounds of LSTMs and GRUs: pairs of Python floats, one text at a time.

Cells as Hochreiter and Schmidhuber (1997) and Cho et al. (2014) define them, in torch's order of gates.
Every operation gives the exact range of its result over its operands' ranges, found at their ends.
"""

import itertools
import math

import numpy as np


def add(*ranges):
    return sum(r[0] for r in ranges), sum(r[1] for r in ranges)


def multiply(a, b):
    products = [x * y for x, y in itertools.product(a, b)]
    return min(products), max(products)


def sigmoid(a):
    return tuple(1 / (1 + math.exp(-x)) for x in a)


def tanh(a):
    return tuple(math.tanh(x) for x in a)


def affine(W, ranges, b):
    """W x + b, one row of W for each result."""
    return [
        add((bias, bias), *(multiply((w, w), r) for w, r in zip(row, ranges, strict=True)))
        for row, bias in zip(W, b, strict=True)
    ]


def mixture(z, n, h):
    """(1 - z) n + z h is linear in each operand, so that its extremes are at corners of all three."""
    ends = [(1 - a) * b + a * c for a, b, c in itertools.product(z, n, h)]
    return min(ends), max(ends)


def projections(x, choices, W, b, epsilon):
    """Ranges of W v + b over v = (1 - ε) x + ε v' for all choices v'; of x alone where there is none."""
    reached = [[(1 - epsilon) * p + epsilon * q for p, q in zip(x, v, strict=True)] for v in choices] or [x]
    found = []
    for row, bias in zip(W, b, strict=True):
        ends = [sum(w * p for w, p in zip(row, v, strict=True)) + bias for v in reached]
        found.append((min(ends), max(ends)))
    return found


def lstm_layer(inputs, W_hh, b_hh, hidden):
    h = c = [(0.0, 0.0)] * hidden
    states = []
    for x in inputs:
        a = [add(p, q) for p, q in zip(x, affine(W_hh, h, b_hh), strict=True)]
        i, f, g, o = (a[k * hidden : (k + 1) * hidden] for k in range(4))
        c = [add(multiply(sigmoid(f[j]), c[j]), multiply(sigmoid(i[j]), tanh(g[j]))) for j in range(hidden)]
        h = [multiply(sigmoid(o[j]), tanh(c[j])) for j in range(hidden)]
        states.append(h)
    return states


def gru_layer(inputs, W_hh, b_hh, hidden):
    h = [(0.0, 0.0)] * hidden
    states = []
    for x in inputs:
        u = affine(W_hh, h, b_hh)
        new = []
        for j in range(hidden):
            r = sigmoid(add(x[j], u[j]))
            z = sigmoid(add(x[hidden + j], u[hidden + j]))
            n = tanh(add(x[2 * hidden + j], multiply(r, u[2 * hidden + j])))
            new.append(mixture(z, n, h[j]))
        h = new
        states.append(h)
    return states


def margin_range(kind, vectors, layers, W_out, b_out, row, values, epsilon=1.0):
    """The range of O_1 - O_0 of a text, all of whose values may be any value within the reach ε."""
    vectors, values = np.asarray(vectors, float).tolist(), [int(v) for v in values]
    layers = [[np.asarray(array, float).tolist() for array in layer] for layer in layers]
    hidden = len(layers[0][1][0])
    W_ih, _, b_ih, _ = layers[0]
    inputs = [
        projections(vectors[w], [vectors[v] for v in values if w in values], W_ih, b_ih, epsilon)
        for w in map(int, row)
    ]
    for depth, (W_ih, W_hh, b_ih, b_hh) in enumerate(layers):
        if depth:
            inputs = [affine(W_ih, x, b_ih) for x in inputs]
        layer = lstm_layer if kind == "lstm" else gru_layer
        inputs = layer(inputs, W_hh, b_hh, hidden)
    state = inputs[-1] if inputs else [(0.0, 0.0)] * hidden
    difference = [float(p) - float(q) for p, q in zip(W_out[1], W_out[0], strict=True)]
    return affine([difference], state, [float(b_out[1]) - float(b_out[0])])[0]
