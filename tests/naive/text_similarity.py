"""Slow, literal oracles of neighbours and of the similarity of texts (Zhang et al. 2021, Section 5.2)."""

import math
from collections import Counter


def cosine(a, b):
    product = sum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    return product / (math.hypot(*map(float, a)) * math.hypot(*map(float, b)))


def nearest_words(vectors, is_known, k, excluded, word):
    """The k most similar words, -1 where there are no more; by definition, one word at a time."""
    others = []
    if is_known[word] and any(vectors[word]):
        others = [
            other
            for other in range(len(vectors))
            if other != word and other not in excluded and is_known[other] and any(vectors[other])
        ]
    others.sort(key=lambda other: (-round(cosine(vectors[word], vectors[other]), 9), other))
    return (others + [-1] * k)[:k]


def changed_words(original, changed):
    return sum(a != b for a, b in zip(original, changed, strict=True))


def vector_distance(original, changed, vectors):
    """The Euclidean distance of the two texts, each the vectors of its words end to end."""
    first = [float(x) for word in original for x in vectors[word]]
    second = [float(x) for word in changed for x in vectors[word]]
    return math.dist(first, second)


def jaccard(original, changed):
    return len(set(original) & set(changed)) / len(set(original) | set(changed))


def n_grams(words, n):
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def bleu(reference, candidate):
    """Papineni et al. 2002, Section 2, of one sentence, smoothed by Chen and Cherry 2014's method 3."""
    if not set(reference) & set(candidate):
        return 0.0
    logarithms, invented = [], 1.0
    for n in (1, 2, 3, 4):
        counts, allowed = n_grams(candidate, n), n_grams(reference, n)
        if not counts:
            break
        clipped = sum(min(count, allowed[gram]) for gram, count in counts.items())
        if clipped == 0:
            invented /= 2
        logarithms.append(math.log((clipped or invented) / sum(counts.values())))
    brevity = min(1.0, math.exp(1 - len(reference) / len(candidate)))
    return brevity * math.exp(sum(logarithms) / len(logarithms))
