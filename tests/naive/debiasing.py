"""Slow, literal oracles of debiasing (Bolukbasi et al. 2016), word by word from the text."""

import math

import numpy as np

from naive.bias import cosine, mean

# Debiasing: Bolukbasi et al. 2016, Sections 3 and 4 and Appendix A. Vectors are unit rows, a subspace is a
# list of orthonormal vectors.


def onto(vector, basis):
    """The projection v_B = sum_j (v · b_j) b_j."""
    return sum(((vector @ b) * b for b in basis), start=np.zeros(len(vector)))


def subspace_matrix(vectors, sets):
    """C = sum_i sum_{w in D_i} (w - mu_i)^T (w - mu_i) / |D_i|."""
    c = np.zeros((vectors.shape[1], vectors.shape[1]))
    for rows in sets:
        mu = sum(vectors[w] for w in rows) / len(rows)
        for w in rows:
            c += np.outer(vectors[w] - mu, vectors[w] - mu) / len(rows)
    return c


def direct_bias(vectors, g, c):
    return mean([abs(cosine(w, g)) ** c for w in vectors])


def indirect_bias(w, v, basis):
    """beta(w, v) = (w · v - w_perp · v_perp / (|w_perp| |v_perp|)) / (w · v)."""
    return (w @ v - cosine(w - onto(w, basis), v - onto(v, basis))) / (w @ v)


def hard_debias(vectors, basis, neutral, equality_sets):
    """Step 2a, word by word; the neutral words are not in the sets."""
    new = {row: vector.copy() for row, vector in enumerate(vectors)}
    for w in neutral:
        rest = vectors[w] - onto(vectors[w], basis)
        new[w] = rest / math.sqrt(rest @ rest)
    for rows in equality_sets:
        mu = sum(vectors[w] for w in rows) / len(rows)
        nu = mu - onto(mu, basis)
        for w in rows:
            deviation = onto(vectors[w], basis) - onto(mu, basis)
            new[w] = nu + math.sqrt(1 - nu @ nu) * deviation / math.sqrt(deviation @ deviation)
    return np.array([new[row] for row in range(len(vectors))])


def soft_objective(x, vectors, basis, neutral, penalty):
    """|(TW)^T (TW) - W^T W|_F^2 + lambda |(TN)^T (TB)|_F^2 with X = T^T T, pair by pair."""
    kept = sum((w @ x @ v - w @ v) ** 2 for w in vectors for v in vectors)
    return kept + penalty * sum((vectors[w] @ x @ b) ** 2 for w in neutral for b in basis)


def soft_gradient(x, grams, penalty):
    """2 G (X - I) G + lambda (H X P + P X H)."""
    g, h, p = grams
    return 2 * g @ (x - np.eye(len(x))) @ g + penalty * (h @ x @ p + p @ x @ h)


def analogies(vectors, a_minus_b, delta, once="first"):
    """Equation 1: pairs with a positive score, the best first; a word is used once, as x or on each side."""
    scored = []
    for x in range(len(vectors)):
        for y in range(len(vectors)):
            difference = vectors[x] - vectors[y]
            distance = math.sqrt(difference @ difference)
            if 0 < distance <= delta and cosine(a_minus_b, difference) > 0:
                scored.append((x, y, cosine(a_minus_b, difference), distance))
    found = []
    for pair in sorted(scored, key=lambda pair: (-pair[2], pair[0], pair[1])):
        is_used = any(pair[0] == other[0] or (once == "side" and pair[1] == other[1]) for other in found)
        if not is_used:
            found.append(pair)
    return found


def solve_analogy(vectors, a, b, c, method):
    """The x, other than a, b and c, that 3CosAdd or 3CosMul (Levy and Goldberg 2014, Section 4) rate best."""

    def score(x):
        to_a, to_b, to_c = (cosine(vectors[x], vectors[word]) for word in (a, b, c))
        if method == "add":
            return to_b - to_a + to_c
        return (1 + to_b) / 2 * (1 + to_c) / 2 / ((1 + to_a) / 2 + 0.001)

    return max((x for x in range(len(vectors)) if x not in (a, b, c)), key=score)


def mean_similarity(vectors):
    """The mean cosine over all pairs of different words."""
    n = len(vectors)
    return mean([vectors[i] @ vectors[j] for i in range(n) for j in range(n) if i != j])


def unit_shares(vectors):
    """Shares of the variance of unit vectors along their principal components, from sum_i v_i^T v_i."""
    values = np.sort(np.linalg.eigvalsh(sum(np.outer(v, v) for v in vectors)))[::-1]
    return values[: min(vectors.shape)] / values.sum()


def double_hard_component(vectors, component):
    """Return w - μ - (uᵀ w) u of every word, u the principal component of that rank (Wang et al. 2020)."""
    vectors = [[float(x) for x in w] for w in vectors]
    n, d = len(vectors), len(vectors[0])
    mean = [sum(w[j] for w in vectors) / n for j in range(d)]
    centred = [[w[j] - mean[j] for j in range(d)] for w in vectors]
    _, _, rows = np.linalg.svd(np.array(centred))
    u = rows[component]
    out = []
    for w in vectors:
        along = sum(u[j] * w[j] for j in range(d))
        out.append([w[j] - mean[j] - along * u[j] for j in range(d)])
    return np.array(out)


def neighbour_share(vectors, row, bias, candidates, k):
    """Return the share of positively biased words among the k nearest neighbours of one word."""
    others = [c for c in candidates if c != row]
    cosines = {
        c: round(sum(float(a) * float(b) for a, b in zip(vectors[row], vectors[c], strict=True)), 12)
        for c in others
    }
    nearest = sorted(others, key=lambda c: (-cosines[c], c))[:k]
    return sum(1 for c in nearest if bias[c] > 0) / len(nearest)


def intersection_of_nullspaces(weights):
    """Return the projection onto the vectors orthogonal to all weights, by Gram-Schmidt."""
    d, basis = len(weights[0]), []
    for row in weights:
        rest = np.array(row, dtype=float)
        for b in basis:
            rest = rest - (b @ row) * b
        for b in basis:
            rest = rest - (b @ rest) * b
        if np.linalg.norm(rest) > 1e-9:
            basis.append(rest / np.linalg.norm(rest))
    projection = np.eye(d)
    for b in basis:
        projection = projection - np.outer(b, b)
    return projection


def best_alignment(clusters, labels):
    """Return the share of words in the cluster of their label, under the better naming of two clusters."""
    right = sum(1 for c, label in zip(clusters, labels, strict=True) if c == label)
    return max(right, len(labels) - right) / len(labels)
