"""Choices among elements and candidate words, walks of texts, equal texts, and variants of texts.

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


_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def replay(ids, offsets, positions, words):
    """Return ids and offsets of the text after each move, (n, hops) int32; position -1 is no move."""
    ends = np.zeros(np.sum(positions >= 0) + 1, np.int64)
    made = 0
    for i in range(len(positions)):
        for hop in range(positions.shape[1]):
            if positions[i, hop] >= 0:
                ends[made + 1] = ends[made] + offsets[i + 1] - offsets[i]
                made += 1
    out = np.empty(ends[-1], np.int32)
    made = 0
    for i in range(len(positions)):
        text = ids[offsets[i] : offsets[i + 1]].copy()
        for hop in range(positions.shape[1]):
            if positions[i, hop] >= 0:
                text[positions[i, hop]] = words[i, hop]
                for k in range(text.size):
                    out[ends[made] + k] = text[k]
                made += 1
    return out, ends


@kernel
def hash_texts(ids, offsets):
    """Return a hash of each text, (n,) uint64: equal for equal texts, and very rarely for different texts."""
    hashes = np.empty(len(offsets) - 1, np.uint64)
    for i in range(len(hashes)):
        mixed = np.uint64(offsets[i + 1] - offsets[i])
        for j in range(offsets[i], offsets[i + 1]):
            mixed = (mixed ^ np.uint64(ids[j])) * _MULTIPLIER
            mixed ^= mixed >> _SHIFT
        hashes[i] = mixed
    return hashes


@kernel
def number_sorted(ids, offsets, order, hashes):
    """Give equal texts the number of the first equal text, (n,) int64.

    `order`, (n,) int64, has the texts sorted by hash, with equal hashes in text order; texts with equal
    hashes are compared word by word.
    """
    numbers = np.empty(len(order), np.int64)
    begin = 0
    for place in range(len(order)):
        i = order[place]
        if place > 0 and hashes[order[place - 1]] != hashes[i]:
            begin = place
        numbers[i] = i
        for earlier in range(begin, place):
            k = order[earlier]
            if numbers[k] == k and np.array_equal(
                ids[offsets[i] : offsets[i + 1]], ids[offsets[k] : offsets[k + 1]]
            ):
                numbers[i] = k
                break
    return numbers


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
