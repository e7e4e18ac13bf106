"""Choices among the elements of sequences of unequal length, and among the candidates for a word.

Sums run in the order of the elements, in double precision, so that choices are independent of each other.
"""

import numpy as np

from biaslab.core.jit import kernel


@kernel
def first_maxima(offsets, scores, is_allowed):
    """Return the first allowed element with the largest score of each sequence, (n,) int64; -1 for none.

    `scores` and `is_allowed`, (m,), cover all elements; sequence i has elements offsets[i] to before
    offsets[i + 1].
    """
    best = np.full(len(offsets) - 1, -1, np.int64)
    for i in range(len(best)):
        for j in range(offsets[i], offsets[i + 1]):
            if is_allowed[j] and (best[i] < 0 or scores[j] > scores[best[i]]):
                best[i] = j
    return best


@kernel
def draw_elements(offsets, weights, numbers):
    """Draw an element of each sequence in proportion to weights, (n,) int64; -1 if all weights are zero.

    `weights`, (m,), are not negative; `numbers`, (n,), are uniform in [0, 1).
    """
    drawn = np.full(len(offsets) - 1, -1, np.int64)
    for i in range(len(drawn)):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += weights[j]
        running = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            if weights[j] > 0:
                running += weights[j]
                drawn[i] = j
                if running > numbers[i] * total:
                    break
    return drawn


@kernel
def inverse_weights(offsets, saliency, is_free):
    """Return weights in proportion to 1 / saliency (Algorithm 8), (m,) float64; 0 for other words.

    If free words of a text have zero saliency, only these have weight, in equal parts: the limit.
    """
    weights = np.zeros(len(saliency))
    for i in range(len(offsets) - 1):
        least = np.inf
        for j in range(offsets[i], offsets[i + 1]):
            if is_free[j]:
                least = min(least, saliency[j])
        for j in range(offsets[i], offsets[i + 1]):
            if is_free[j] and saliency[j] == least:
                weights[j] = 1.0
            elif is_free[j]:  # divided by the largest weight, so that none overflows
                weights[j] = least / saliency[j]
    return weights


@kernel
def nearest_directions(words, gradients, vectors, neighbours):
    """Return the neighbour of each word in the direction of the gradient (Algorithm 5, line 3), (n,) int32.

    It minimises ||sign(c - x_a) - sign(g_a)||; the first wins ties. Each word x_a has at least one neighbour;
    gradients are (n, d), vectors (V, d), neighbours (V, K).
    """
    chosen = np.empty(len(words), np.int32)
    for i in range(len(words)):
        least = np.inf
        for c in neighbours[words[i]]:
            if c < 0:
                break
            squares = 0.0
            for j in range(vectors.shape[1]):
                step = np.sign(vectors[c, j] - vectors[words[i], j])
                squares += (step - np.sign(gradients[i, j])) ** 2
            if squares < least:
                least, chosen[i] = squares, c
    return chosen


@kernel
def replacement_effects(words, is_free, g, vectors, neighbours):
    """Return g_a · (x_a - c) of all neighbours c of all free words a, (m, K) float64; NaN for other words."""
    effects = np.full((len(words), neighbours.shape[1]), np.nan)
    for a in range(len(words)):
        if is_free[a]:
            for place in range(neighbours.shape[1]):
                c = neighbours[words[a], place]
                if c < 0:
                    break
                effects[a, place] = 0.0
                for j in range(vectors.shape[1]):
                    distance = np.float64(vectors[words[a], j]) - np.float64(vectors[c, j])
                    effects[a, place] += np.float64(g[a, j]) * distance
    return effects
