"""Slow, literal oracles of networks and their training, word by word from the text."""

import math

import numpy as np

# Networks and discrimination: Zhang et al. 2021, Sections 2.1 to 2.3.


def network_logits(weights, biases, x):
    """One sample through a fully connected network, unit by unit, in double precision."""
    values = [float(v) for v in x]
    for layer, (w, b) in enumerate(zip(weights, biases, strict=True)):
        sums = [
            math.fsum([float(b[j])] + [float(w[i][j]) * values[i] for i in range(len(values))])
            for j in range(len(b))
        ]
        values = sums if layer == len(weights) - 1 else [max(0.0, v) for v in sums]
    return values


def cross_entropy(weights, biases, x, label):
    z = network_logits(weights, biases, x)
    return math.log(math.fsum(math.exp(v - z[label]) for v in z))


# Training of networks: Kingma and Ba 2015, in the form of TensorFlow's Adam.


def adam(parameters, gradients, rate, beta1, beta2, epsilon):
    """Parameters after one step for each row of gradients, number by number in double precision."""
    parameters = [float(p) for p in parameters]
    m, v = [0.0] * len(parameters), [0.0] * len(parameters)
    for t, gradient in enumerate(gradients, start=1):
        rate_t = rate * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        for i, g in enumerate(gradient):
            m[i] = beta1 * m[i] + (1 - beta1) * g
            v[i] = beta2 * v[i] + (1 - beta2) * g * g
            parameters[i] -= rate_t * m[i] / (math.sqrt(v[i]) + epsilon)
    return parameters


def slope_of_mean_cross_entropy(weights, biases, X, y, array, place, step):
    """Finite difference of the mean cross entropy by one number of one of the arrays."""
    value, losses = array[place], []
    for moved in (value + step, value - step):
        array[place] = moved
        total = math.fsum(cross_entropy(weights, biases, x, c) for x, c in zip(X, y, strict=True))
        losses.append(total / len(X))
    array[place] = value
    return (losses[0] - losses[1]) / (2 * step)


def train_by_adam(weights, biases, X, y, batches, rate, step):
    """Weights and biases after a step of TensorFlow's Adam for each batch, by finite differences."""
    weights, biases = ([np.array(a, float) for a in arrays] for arrays in (weights, biases))
    arrays = [*weights, *biases]
    start = np.concatenate([a.ravel() for a in arrays])
    gradients = []
    for batch in batches:
        rows, labels = X[batch], y[batch]
        gradients.append(
            [
                slope_of_mean_cross_entropy(weights, biases, rows, labels, a, place, step)
                for a in arrays
                for place in np.ndindex(a.shape)
            ]
        )
        moved, first = adam(start, gradients, rate, beta1=0.9, beta2=0.999, epsilon=1e-8), 0
        for a in arrays:
            a[...] = np.reshape(moved[first : first + a.size], a.shape)
            first += a.size
    return weights, biases
