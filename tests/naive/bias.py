"""Slow, literal oracles of measures of bias and of statistics, from their definitions."""

import itertools
import math

import numpy as np
import scipy.integrate
import scipy.optimize

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


# The bias axis: Bolukbasi et al. 2016, Section 5 (subspace), with every word of A against every word of B.


def bias_axis(vectors, A, B):
    """Leading eigenvector of the covariance of pairs centred at their midpoints, pointing from B to A."""
    unit = {word: vectors[word] / np.sqrt(np.sum(vectors[word] ** 2)) for word in [*A, *B]}
    covariance = np.zeros((vectors.shape[1], vectors.shape[1]))
    for a, b in itertools.product(A, B):
        midpoint = (unit[a] + unit[b]) / 2
        for word in (a, b):
            covariance += np.outer(unit[word] - midpoint, unit[word] - midpoint)
    axis = np.linalg.eigh(covariance)[1][:, -1]
    return axis if mean([unit[a] @ axis for a in A]) > mean([unit[b] @ axis for b in B]) else -axis


# Measures of bias other than the effect size, each from its paper.


def ripa(vectors, S, T, A, B):
    """Ethayarajh et al. 2019: w . b with b the first principal component of x - y over pairs."""
    differences = np.array([vectors[a] - vectors[b] for a, b in itertools.product(A, B)])
    b = np.linalg.svd(differences)[2][0]
    if mean([vectors[a] @ b for a in A]) < mean([vectors[y] @ b for y in B]):
        b = -b
    return mean([vectors[s] @ b for s in S]) - mean([vectors[t] @ b for t in T])


def similarities_to_means(vectors, S, T, A, B):
    """Dev and Phillips 2019: cosines of the neutral words with the mean of either group."""
    means = [sum(vectors[word] for word in group) / len(group) for group in (A, B)]
    return [[cosine(vectors[word], m) for word in (*S, *T)] for m in means]


def pearson(x, y):
    x_mean, y_mean = mean(x), mean(y)
    covered = math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True))
    return covered / (len(x) - 1) / math.sqrt(variance(x) * variance(y))


def ect(vectors, S, T, A, B):
    """ECT with the correlation of Pearson."""
    return pearson(*similarities_to_means(vectors, S, T, A, B))


def same(vectors, S, T, A, B):
    """Schroeder et al. 2021: mean |cos| with the difference of the mean unit vectors of two groups."""
    mean_a, mean_b = (
        sum(vectors[w] / math.sqrt(vectors[w] @ vectors[w]) for w in group) / len(group) for group in (A, B)
    )
    return mean([abs(cosine(vectors[word], mean_a - mean_b)) for word in (*S, *T)])


def direct_bias(vectors, S, T, A, B, c=1.0):
    """Bolukbasi et al. 2016, with the axis above."""
    axis = bias_axis(vectors, A, B)
    return mean([abs(cosine(vectors[word], axis)) ** c for word in (*S, *T)])


def mac(vectors, targets, attribute_sets):
    """Manzini et al. 2019, Section 2.3, with cosine distances: the mean of S(t, A_j) over all t and j."""
    return mean(
        [mean([1 - cosine(vectors[t], vectors[a]) for a in A]) for t in targets for A in attribute_sets]
    )


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
