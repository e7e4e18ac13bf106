"""Slow, literal oracles: each follows the text of the paper, word by word."""

import itertools
import math
from collections import Counter

import scipy.integrate

# Corpora


def tokenize(text):
    """Words as gensim's Wikipedia tokeniser finds them."""
    from gensim.corpora import wikicorpus

    return wikicorpus.tokenize(text, token_min_len=2, token_max_len=15, lower=True)


def build_corpus(documents, unit, part_length, min_length, max_length, max_tokens, min_count):
    """Return the vocabulary as (word, count) pairs and the units as (id, list of words) pairs."""
    articles = []
    for document in documents:
        words = tokenize(document.text)
        if min_length <= len(words) <= max_length:
            articles.append((document.id, words))
            if max_tokens is not None and sum(len(words) for _, words in articles) >= max_tokens:
                break
    counts = Counter(word for _, words in articles for word in words)
    vocabulary = sorted(
        ((word, count) for word, count in counts.items() if count >= min_count),
        key=lambda pair: (-pair[1], pair[0]),
    )
    known = {word for word, _ in vocabulary}
    units = []
    for identifier, words in articles:
        words = [word for word in words if word in known]
        if unit == "article":
            units.append((identifier, words))
        else:
            for number, start in enumerate(range(0, len(words), part_length), start=1):
                units.append((f"{identifier}#{number}", words[start : start + part_length]))
    return vocabulary, units


# Bias measures: Brunet et al. 2019, Section 3.3 and Equation 4; Caliskan et al. 2017.


def cosine(x, y):
    dot = sum(float(a) * float(b) for a, b in zip(x, y, strict=True))
    return dot / math.sqrt(sum(float(a) ** 2 for a in x) * sum(float(b) ** 2 for b in y))


def mean(values):
    return math.fsum(values) / len(values)


def variance(values):
    return math.fsum((v - mean(values)) ** 2 for v in values) / (len(values) - 1)


def association(vectors, word, A, B):
    to_a = mean([cosine(vectors[word], vectors[a]) for a in A])
    return to_a - mean([cosine(vectors[word], vectors[b]) for b in B])


def effect_size(vectors, S, T, A, B):
    of_s = [association(vectors, s, A, B) for s in S]
    of_t = [association(vectors, t, A, B) for t in T]
    return (mean(of_s) - mean(of_t)) / math.sqrt(variance(of_s + of_t))


def permutation_p_value(vectors, S, T, A, B):
    """Share of all partitions of S and T whose statistic reaches the observed one (ties up to 1e-11)."""
    g = {word: association(vectors, word, A, B) for word in (*S, *T)}

    def statistic(first):
        return math.fsum(g[w] for w in first) - math.fsum(g[w] for w in g if w not in first)

    observed = statistic(S)
    reached = [statistic(first) >= observed - 1e-11 for first in itertools.combinations(g, len(S))]
    return sum(reached) / len(reached)


# Statistics, from their textbook definitions.


def welch(a, b):
    """Welch's t, and its two-sided p by integrating the density of Student's t distribution."""
    of_a, of_b = variance(a) / len(a), variance(b) / len(b)
    t = (mean(a) - mean(b)) / math.sqrt(of_a + of_b)
    df = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    log_scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    inside, _ = scipy.integrate.quad(
        lambda x: math.exp(log_scale - (df + 1) / 2 * math.log1p(x * x / df)), 0, abs(t), epsabs=1e-13
    )
    return t, 1 - 2 * inside


def slope(x, y):
    x_mean, y_mean = mean(x), mean(y)
    covered = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    return covered / math.fsum((a - x_mean) ** 2 for a in x)


def r_squared(x, y):
    """One minus the residual share of the variation around the least-squares line."""
    b = slope(x, y)
    intercept = mean(y) - b * mean(x)
    residual = math.fsum((v - intercept - b * u) ** 2 for u, v in zip(x, y, strict=True))
    return 1 - residual / math.fsum((v - mean(y)) ** 2 for v in y)
