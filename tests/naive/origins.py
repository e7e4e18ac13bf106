"""Slow, literal oracles of origins of bias (Brunet et al. 2019), word by word from the text."""

import itertools
import math

import numpy as np

from naive.bias import association, effect_size, variance
from naive.embeddings import ppmi, weighting

# Influence functions: Brunet et al. 2019, Section 4.2, with dense rows of X.


def pointwise_loss(x_row, w_i, u, b_i, c, x_max, alpha):
    """L(X_i, w) / V of Section 4.2: the sum over the non-zero entries of row i."""
    return sum(
        weighting(x, x_max, alpha) * (np.dot(w_i, u[j]) + b_i + c[j] - math.log(x)) ** 2
        for j, x in enumerate(x_row)
        if x > 0
    )


def pointwise_gradient(x_row, w_i, u, b_i, c, x_max, alpha):
    """The gradient of L(X_i, w) / V with respect to w_i (below Eq. 7)."""
    gradient = np.zeros(len(w_i))
    for j, x in enumerate(x_row):
        if x > 0:
            fit = np.dot(w_i, u[j]) + b_i + c[j]
            gradient += 2 * weighting(x, x_max, alpha) * (fit - math.log(x)) * u[j]
    return gradient


def row_hessian(x_row, u, x_max, alpha):
    """H_w_i, the Hessian of L(X_i, w) / V with respect to w_i (above Eq. 8)."""
    return sum(2 * weighting(x, x_max, alpha) * np.outer(u[j], u[j]) for j, x in enumerate(x_row) if x > 0)


def influence_vector(x_row, perturbed_row, w_i, u, b_i, c, x_max, alpha):
    """w~_i of Eq. 8."""
    before = pointwise_gradient(x_row, w_i, u, b_i, c, x_max, alpha)
    after = pointwise_gradient(perturbed_row, w_i, u, b_i, c, x_max, alpha)
    return w_i - np.linalg.inv(row_hessian(x_row, u, x_max, alpha)) @ (after - before)


def newton_vector(x_row, perturbed_row, w_i, u, b_i, c, x_max, alpha):
    """Eq. 8 with the Hessian at the perturbed row."""
    before = pointwise_gradient(x_row, w_i, u, b_i, c, x_max, alpha)
    after = pointwise_gradient(perturbed_row, w_i, u, b_i, c, x_max, alpha)
    return w_i - np.linalg.inv(row_hessian(perturbed_row, u, x_max, alpha)) @ (after - before)


def least_squares_vector(x_row, u, b_i, c, x_max, alpha):
    """The w_i that minimises L(X_i, w) given everything else: weighted linear least squares on log X."""
    columns = [j for j, x in enumerate(x_row) if x > 0]
    root = np.sqrt([weighting(x_row[j], x_max, alpha) for j in columns])
    target = np.array([math.log(x_row[j]) - b_i - c[j] for j in columns])
    return np.linalg.lstsq(root[:, None] * u[columns], root * target, rcond=None)[0]


def moved_bias(measure, vector, x, perturbed, embedding, words, x_max, alpha):
    """B(w~): the measure after each word whose row of X changes has moved to `vector` of its rows."""
    w = embedding["W"].copy()
    for i in words:
        if not np.array_equal(x[i], perturbed[i]):
            rest = embedding["U"], embedding["b"][i], embedding["c"], x_max, alpha
            w[i] = vector(x[i], perturbed[i], w[i], *rest)
    return measure(w)


def ppmi_effect_sizes_without(documents, n_words, window, S, T, A, B):
    """The effect size after a recount without each document; NaN where a row is zero or no spread."""
    sizes = []
    for k in range(len(documents)):
        vectors = ppmi(documents[:k] + documents[k + 1 :], n_words, window)
        if not all(vectors[word].any() for word in (*S, *T, *A, *B)):
            sizes.append(math.nan)
            continue
        spread = variance([association(vectors, word, A, B) for word in (*S, *T)])
        sizes.append(effect_size(vectors, S, T, A, B) if spread > 1e-24 else math.nan)
    return sizes


# Products of the bias gradient


def token_contributions(tokens, gradient, window):
    """Each token's half of its co-occurrences; gradient[i][j] = dB/dX_ij, and X_ij adds up 1/distance.

    Every ordered pair of positions is one count in X (Section 3.1), so a pair of tokens is counted twice.
    """
    found = [0.0] * len(tokens)
    for p, word in enumerate(tokens):
        for q, context in enumerate(tokens):
            if p != q and abs(p - q) <= window:
                amount = gradient.get(word, {}).get(context, 0.0) / abs(p - q)
                found[p] += amount / 2
                found[q] += amount / 2
    return found


# Attributions scored: Park et al. 2023, Section 2, and cross-fitting


def mean_ranks(values):
    """Ranks from 1, equal values at the mean of theirs."""
    return [
        sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2
        for value in values
    ]


def spearman(x, y):
    """Pearson's correlation of the ranks."""
    a, b = mean_ranks(x), mean_ranks(y)
    mean_a, mean_b = sum(a) / len(a), sum(b) / len(b)
    above = sum((p - mean_a) * (q - mean_b) for p, q in zip(a, b, strict=True))
    return above / math.sqrt(sum((p - mean_a) ** 2 for p in a) * sum((q - mean_b) ** 2 for q in b))


def linear_datamodeling_score(attribution, subsets, outputs):
    """The attributions of the documents that each subset KEEPS, added up, ranked against model outputs."""
    return spearman([sum(attribution[i] for i in subset) for subset in subsets], outputs)


def intraclass_correlation(rows):
    """ICC(1, k) from the mean squares of a one-way analysis of variance (Shrout and Fleiss 1979)."""
    n, k = len(rows), len(rows[0])
    grand = sum(map(sum, rows)) / (n * k)
    means = [sum(row) / k for row in rows]
    between = k * sum((mean - grand) ** 2 for mean in means) / (n - 1)
    within = sum((x - mean) ** 2 for row, mean in zip(rows, means, strict=True) for x in row) / (n * (k - 1))
    return (between - within) / between


def planted_pair(side, rises, s, t, a, b):
    """A target and the attribute beside it: (s, a) and (t, b) raise the bias, (s, b) and (t, a) lower it."""
    if side == "S":
        return (s, a) if rises else (s, b)
    return (t, b) if rises else (t, a)


def recall_at(values, sought, k):
    """How many of the sought are among the k largest; no two values may be equal."""
    return sum(1 for i in sought if sum(other > values[i] for other in values) < k)


def cross_fitted(values, size, choosing, sign):
    """The change that the choosing and the other baselines predict for the documents which the former choose.

    values[s][i] is B(w) - B(w~) of document i in baseline s; sign +1 raises the bias and -1 lowers it.
    """
    n_documents = len(values[0])
    means = [sum(values[s][i] for s in choosing) / len(choosing) for i in range(n_documents)]
    chosen = sorted(range(n_documents), key=lambda i: sign * means[i])[:size]
    changes = [-sum(row[i] for i in chosen) for row in values]
    others = [s for s in range(len(values)) if s not in choosing]
    return [sum(changes[s] for s in who) / len(who) for who in (choosing, others)]


# Why small sets are overestimated: benchmarks/overestimate.py.


def descent(x_row, u, b_i, c, x_max, alpha, rates, steps, with_bias):
    """Where gradient descent on half of L(X_i, w) / V comes from 0: over w_i, or over w_i and b_i."""
    v = np.zeros(len(rates))
    for _ in range(steps):
        gradient = np.zeros(len(v))
        for j in np.flatnonzero(x_row):
            feature = np.append(u[j], 1.0) if with_bias else u[j]
            fit = v @ feature + c[j] + (0 if with_bias else b_i)
            gradient += weighting(x_row[j], x_max, alpha) * (fit - math.log(x_row[j])) * feature
        v -= rates * gradient
    return v


def penalised_vector(x_row, u, b_i, c, x_max, alpha, damping):
    """The w_i that minimises L(X_i, w) / V + damping |w_i|^2 / 2 given everything else."""
    columns = [j for j, x in enumerate(x_row) if x > 0]
    root = np.sqrt([weighting(x_row[j], x_max, alpha) for j in columns])
    target = np.array([math.log(x_row[j]) - b_i - c[j] for j in columns])
    rows = np.vstack([root[:, None] * u[columns], math.sqrt(damping / 2) * np.eye(u.shape[1])])
    return np.linalg.lstsq(rows, np.append(root * target, np.zeros(u.shape[1])), rcond=None)[0]


# Brittleness: Ilyas et al. 2022, Section 4, and Broderick et al. 2020, with every set or prefix tried


def fewest_flipping(n_documents, without, bias):
    """The size of the smallest set of documents without which the bias has the other sign; None: no set."""
    for size in range(1, n_documents + 1):
        for documents in itertools.combinations(range(n_documents), size):
            if without(documents) * bias < 0:
                return size
    return None


def first_flipping_prefix(ranked, without, bias):
    """The length of the shortest such prefix of a ranking; None: none."""
    for size in range(1, len(ranked) + 1):
        if without(tuple(ranked[:size])) * bias < 0:
            return size
    return None
