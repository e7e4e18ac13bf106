"""Slow, literal oracles of recurrent networks, number by number in double precision."""

import math

# Cells: Hochreiter and Schmidhuber 1997, Gers et al. 2000 (forget gates), Cho et al. 2014; torch's layout.


def sigmoid(x):
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def affine(matrix, bias, x):
    return [
        math.fsum([float(b), *(float(w) * v for w, v in zip(row, x, strict=True))])
        for row, b in zip(matrix, bias, strict=True)
    ]


def lstm_step(layer, x, h, c):
    """h_t and c_t; the gates are i, f, g, o."""
    W_ih, W_hh, b_ih, b_hh = layer
    sums = [a + b for a, b in zip(affine(W_ih, b_ih, x), affine(W_hh, b_hh, h), strict=True)]
    n = len(h)
    i, f, o = ([sigmoid(v) for v in sums[k * n : (k + 1) * n]] for k in (0, 1, 3))
    g = [math.tanh(v) for v in sums[2 * n : 3 * n]]
    c = [f[u] * c[u] + i[u] * g[u] for u in range(n)]
    return [o[u] * math.tanh(c[u]) for u in range(n)], c


def gru_step(layer, x, h):
    """h_t; the gates are r, z, n."""
    W_ih, W_hh, b_ih, b_hh = layer
    of_x, of_h = affine(W_ih, b_ih, x), affine(W_hh, b_hh, h)
    n = len(h)
    r, z = ([sigmoid(of_x[u] + of_h[u]) for u in range(k * n, (k + 1) * n)] for k in (0, 1))
    new = [math.tanh(of_x[2 * n + u] + r[u] * of_h[2 * n + u]) for u in range(n)]
    return [(1 - z[u]) * new[u] + z[u] * h[u] for u in range(n)]


def logits(kind, layers, W_out, b_out, sequence):
    """Logits of a text, given the vector of each of its words."""
    sequence = [[float(v) for v in x] for x in sequence]
    h = [0.0] * len(layers[0][1][0])
    for layer in layers:
        h, c = [0.0] * len(layer[1][0]), [0.0] * len(layer[1][0])
        states = []
        for x in sequence:
            if kind == "lstm":
                h, c = lstm_step(layer, x, h, c)
            else:
                h = gru_step(layer, x, h)
            states.append(h)
        sequence = states
    return affine(W_out, b_out, h)


def cross_entropy(kind, layers, W_out, b_out, sequence, label):
    z = logits(kind, layers, W_out, b_out, sequence)
    return math.log(math.fsum(math.exp(v - z[label]) for v in z))


def mean_cross_entropy(kind, layers, W_out, b_out, sequences, labels, weights):
    """The mean over texts, weighted by text."""
    losses = [cross_entropy(kind, layers, W_out, b_out, x, y) for x, y in zip(sequences, labels, strict=True)]
    return math.fsum(w * loss for w, loss in zip(weights, losses, strict=True)) / math.fsum(weights)


# Training: Kingma and Ba 2015, Algorithm 1.


def adam(parameters, gradients, rate, beta1, beta2, epsilon):
    """Parameters after one step for each row of gradients."""
    parameters = [float(p) for p in parameters]
    m, v = [0.0] * len(parameters), [0.0] * len(parameters)
    for t, gradient in enumerate(gradients, start=1):
        for i, g in enumerate(gradient):
            m[i] = beta1 * m[i] + (1 - beta1) * g
            v[i] = beta2 * v[i] + (1 - beta2) * g * g
            m_hat, v_hat = m[i] / (1 - beta1**t), v[i] / (1 - beta2**t)
            parameters[i] -= rate * m_hat / (math.sqrt(v_hat) + epsilon)
    return parameters


def slopes(loss, array, step):
    """Finite differences of a loss by the numbers of an array that it reads."""
    gradient = []
    for i in range(array.size):
        value, losses = array.flat[i], []
        for moved in (value + step, value - step):
            array.flat[i] = moved
            losses.append(loss())
        array.flat[i] = value
        gradient.append((losses[0] - losses[1]) / (2 * step))
    return gradient
