"""Slow, literal oracles of the search for unfairly treated texts (Zhang et al. 2021), one text at a time."""

import math

import numpy as np

from biaslab.text.words import Texts

# Algorithms 1, 2, 5 to 8 and 10. A text is a list of word ids; neighbours are lists of ids; draws are pairs.


def outputs(model, x):
    """O(x), the probabilities of both classes."""
    return model.probabilities(Texts.of([x]))[0].tolist()


def label(model, x):
    """D(x)."""
    of_x = outputs(model, x)
    return of_x.index(max(of_x))


def gradients(model, x, y):
    """g: one list of components a word."""
    return model.gradients(Texts.of([x]), np.array([y])).tolist()


def variants(x, values):
    """X_s: every other value for every different sensitive word, wherever it occurs."""
    done = []
    for t in x:
        if t in values and t not in done:
            done.append(t)
            for v in values:
                if v != t:
                    yield [v if word == t else word for word in x], t, v


def is_discriminatory(model, x, values):
    """Algorithm 2."""
    return any(label(model, other) != label(model, x) for other, _, _ in variants(x, values))


def partner(model, x, values):
    """x' with what is exchanged: the largest |O_y(x') - O_y(x)|, among those that flip the label if any."""
    y = label(model, x)
    every = list(variants(x, values))
    flipping = [variant for variant in every if label(model, variant[0]) != y]
    best, largest = None, -1.0
    for variant in flipping or every:
        difference = abs(outputs(model, variant[0])[y] - outputs(model, x)[y])
        if difference > largest:
            best, largest = variant, difference
    return best


def sign(number):
    return (number > 0) - (number < 0)


def free_words(x, values, neighbours):
    return [a for a in range(len(x)) if x[a] not in values and neighbours[x[a]]]


def random_perturbation(x, free, neighbours, draw):
    """RP: a word and a neighbour, all alike."""
    a = free[int(draw[0] * len(free))]
    return a, neighbours[x[a]][int(draw[1] * len(neighbours[x[a]]))]


def asc(x, g, h, free, neighbours, vectors):
    """Algorithm 5; h = None is the one-sided form."""

    def importance(a):
        other = h[a] if h else [0.0] * len(g[a])
        return max(abs(u - v) for u, v in zip(g[a], other, strict=True))

    a = max(free, key=importance)

    def distance(c):
        steps = [v - u for u, v in zip(vectors[x[a]], vectors[c], strict=True)]
        return math.sqrt(sum((sign(s) - sign(u)) ** 2 for s, u in zip(steps, g[a], strict=True)))

    return a, min(neighbours[x[a]], key=distance)


def dot(u, v):
    total = 0.0
    for a, b in zip(u, v, strict=True):
        total += a * b
    return total


def hf_difference(x, g, h, a, c, vectors):
    """Algorithm 6, line 5; with h = None the first-order rise of the loss."""
    step = [u - v for u, v in zip(vectors[x[a]], vectors[c], strict=True)]
    return -dot(g[a], step) if h is None else abs(dot(g[a], step) - dot(h[a], step))


def hf(x, g, h, free, neighbours, vectors):
    """Algorithm 6 with its maximum kept up, and the replacement made once."""
    best, largest = None, -math.inf
    for a in free:
        for c in neighbours[x[a]]:
            difference = hf_difference(x, g, h, a, c, vectors)
            if difference > largest:
                best, largest = (a, c), difference
    return best


def perturbation(name, model, x, other, free, neighbours, draw):
    """The move of one step, and how many gradients it took."""
    if name == "rp":
        return random_perturbation(x, free, neighbours, draw), 0
    y, vectors = label(model, x), model.vectors.tolist()
    g = gradients(model, x, y)
    if name == "asc":
        return asc(x, g, None, free, neighbours, vectors), 1
    if name == "hf":
        return hf(x, g, None, free, neighbours, vectors), 1
    h = gradients(model, other, y)
    return (asc if name == "adf_asc" else hf)(x, g, h, free, neighbours, vectors), 2


def global_search(name, model, seed, values, neighbours, draws, max_iter):
    """Algorithm 1 for one seed: when it was found, the last x and its exchange, both costs."""
    x, n_queries, n_gradients = list(seed), 0, 0
    for step in range(max_iter + 1):
        n_queries += 1 + len(list(variants(x, values)))
        pair = partner(model, x, values)
        exchanged = pair[1:] if pair else (-1, -1)
        if is_discriminatory(model, x, values):
            return step, x, exchanged, n_queries, n_gradients
        free = free_words(x, values, neighbours)
        if step == max_iter or not pair or not free:
            break
        (a, c), cost = perturbation(name, model, x, pair[0], free, neighbours, draws[step])
        n_gradients += cost
        x[a] = c
    return -1, x, exchanged, n_queries, n_gradients


def normalization(g, h, free):
    """Algorithm 8; where saliencies are zero, these words share all."""
    saliency = [max(map(abs, u)) + max(map(abs, v)) for u, v in zip(g, h, strict=True)]
    zero = [a for a in free if saliency[a] == 0]
    if zero:
        return [1 / len(zero) if a in zero else 0.0 for a in range(len(g))]
    gradient = [1.0 / saliency[a] if a in free else 0.0 for a in range(len(g))]
    return [gd / sum(gradient) for gd in gradient]


def select(probability, number):
    """The element in whose part of [0, 1) a uniform number lies."""
    total = 0.0
    for a, p in enumerate(probability):
        total += p
        if number < total:
            return a
    return max(a for a, p in enumerate(probability) if p > 0)


def local_search(model, start, values, neighbours, draws, is_guided):
    """Algorithm 7 for one start: position, word, text, verdict and exchange of each hop, both costs."""
    x, hops = list(start), []
    n_queries, n_gradients = 1 + len(list(variants(x, values))), 0
    for way, which in draws:
        free, pair = free_words(x, values, neighbours), partner(model, x, values)
        if not free or not pair:
            break
        probability = [float(a in free) / len(free) for a in range(len(x))]
        if is_guided:
            y = label(model, x)
            probability = normalization(gradients(model, x, y), gradients(model, pair[0], y), free)
            n_gradients += 2
        a = select(probability, way)
        x = list(x)
        x[a] = neighbours[x[a]][int(which * len(neighbours[x[a]]))]
        n_queries += 1 + len(list(variants(x, values)))
        hops.append((a, x[a], x, is_discriminatory(model, x, values), partner(model, x, values)[1:]))
    return hops, n_queries, n_gradients


def distinct_counts(texts, is_found):
    """How many different texts there are, and how many of them were ever found."""
    keys = [tuple(text) for text in texts]
    return len(set(keys)), len({key for key, found in zip(keys, is_found, strict=True) if found})


def flips(model, texts, values):
    """By value: texts that hold it, and those whose label another value in its place changes."""
    counts = {v: [0, 0] for v in values}
    for x in texts:
        y, every = label(model, x), list(variants(x, values))
        for v in values:
            mine = [variant for variant in every if variant[1] == v]
            counts[v][0] += bool(mine)
            counts[v][1] += any(label(model, variant[0]) != y for variant in mine)
    return [counts[v] for v in values]
