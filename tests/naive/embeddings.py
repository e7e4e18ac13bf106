"""Slow, literal oracles of corpora, co-occurrences and word embeddings, word by word from the text."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

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


# Co-occurrences and GloVe: Brunet et al. 2019, Section 3.1 and Equation 1; AdaGrad as in the reference code.


def cooccurrence(documents, window):
    """Dict (i, j) -> Fraction: two tokens at most `window` apart add 1/distance, both ways round."""
    counts = {}
    for tokens in documents:
        for p, i in enumerate(tokens):
            for q, j in enumerate(tokens):
                if p != q and abs(p - q) <= window:
                    counts[i, j] = counts.get((i, j), Fraction(0)) + Fraction(1, abs(p - q))
    return counts


def weighting(x, x_max, alpha):
    return min((x / x_max) ** alpha, 1.0) if x > 0 else 0.0


def glove_epoch(records, w, u, b, c, sums, x_max, alpha, learning_rate):
    """Visit the records (i, j, x) in order; change w, u, b, c and the dict of sums in place; mean loss."""
    loss = 0.0
    for i, j, x in records:
        difference = sum(w[i] * u[j]) + b[i] + c[j] - math.log(x)
        gradient = weighting(x, x_max, alpha) * difference
        loss += 0.5 * gradient * difference
        for d in range(len(w[i])):
            step_w = max(-100.0, min(100.0, gradient * u[j][d])) * learning_rate
            step_u = max(-100.0, min(100.0, gradient * w[i][d])) * learning_rate
            w[i][d] -= step_w / math.sqrt(sums["w"][i][d])
            u[j][d] -= step_u / math.sqrt(sums["u"][j][d])
            sums["w"][i][d] += step_w**2
            sums["u"][j][d] += step_u**2
        step = max(-100.0, min(100.0, gradient))
        b[i] -= step / math.sqrt(sums["b"][i])
        c[j] -= step / math.sqrt(sums["c"][j])
        sums["b"][i] += step**2
        sums["c"][j] += step**2
    return loss / len(records)


# Positive pointwise mutual information: Levy et al. 2015, Section 3.1; Brunet et al. 2019, Section 5.3.


def ppmi(documents, n_words, window):
    """Dense PPMI matrix, by counting the corpus: an entry is max(0, log(P(i, j) / (P(i) P(j))))."""
    x = cooccurrence(documents, window)
    sums = Counter()
    for (i, _), value in x.items():
        sums[i] += value
    matrix = np.zeros((n_words, n_words))
    for (i, j), value in x.items():
        matrix[i, j] = math.log(max(Fraction(1), value * sum(sums.values()) / (sums[i] * sums[j])))
    return matrix
