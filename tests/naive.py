"""Slow, literal oracles: each follows the text of the paper, word by word."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
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
        b[i] -= gradient / math.sqrt(sums["b"][i])
        c[j] -= gradient / math.sqrt(sums["c"][j])
        sums["b"][i] += gradient**2
        sums["c"][j] += gradient**2
    return loss / len(records)


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


def mapped_effect_size(w, maps, S, T, A, B):
    """The effect size of the words after each one's own affine map."""
    constants = {int(i): a for i, a in zip(maps.words, maps.constants, strict=True)}
    mapped = [maps.linear[maps.kinds[i]] @ w[i] + constants.get(i, 0.0) for i in range(len(w))]
    return effect_size(mapped, S, T, A, B)


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


# Fairness-aware ranking: Geyik et al. 2019, Sections 3 and 4. Shares are fractions: no product is rounded.
# Conventions that the paper leaves open (ties, values that run out) are those of biaslab.ranking.


def ranking_key(scores, i):
    """The order of candidates: the higher score first, of equal scores the earlier in the input."""
    return (-scores[i], i)


def ranking_by_score(scores, k):
    return sorted(range(len(scores)), key=lambda i: ranking_key(scores, i))[:k]


def ranking_queues(scores, attributes, desired):
    """The candidates of each value, best first."""
    by_score = ranking_by_score(scores, len(scores))
    return {a: [i for i in by_score if attributes[i] == a] for a in range(len(desired))}


def rank_greedily(scores, attributes, desired, k_max, kind):
    """DetGreedy, DetCons and DetRelaxed; returns the order and the places no value qualified for."""
    queues = ranking_queues(scores, attributes, desired)
    counts = dict.fromkeys(queues, 0)
    order, exhausted = [], 0
    for k in range(1, min(k_max, len(scores)) + 1):
        floor = [math.floor(k * p) for p in desired]
        ceil = [math.ceil(k * p) for p in desired]
        left = [a for a in queues if queues[a]]
        below_min = [a for a in left if counts[a] < floor[a]]
        below_max = [a for a in left if floor[a] <= counts[a] < ceil[a]]
        if below_min:
            candidates = below_min
        elif below_max:
            ratio = {a: ceil[a] / desired[a] for a in below_max}
            if kind == "det_cons":
                candidates = [a for a in below_max if ratio[a] == min(ratio.values())]
            elif kind == "det_relaxed":
                least = min(math.ceil(r) for r in ratio.values())
                candidates = [a for a in below_max if math.ceil(ratio[a]) == least]
            else:
                candidates = below_max
        else:
            candidates = left
            exhausted += 1
        value = min(candidates, key=lambda a: ranking_key(scores, queues[a][0]))
        order.append(queues[value].pop(0))
        counts[value] += 1
    return order, exhausted


def rank_by_constrained_sort(scores, attributes, desired, k_max):
    """DetConstSort; returns the order and how often a value was due and had no candidate left."""
    queues = ranking_queues(scores, attributes, desired)
    order, max_index, exhausted = [], [], 0

    def append(candidate, k):
        order.append(candidate)
        max_index.append(k)
        place = len(order)  # 1, 2, …
        while place > 1:
            one_before, here = place - 2, place - 1
            is_better = ranking_key(scores, order[here]) < ranking_key(scores, order[one_before])
            if not (is_better and max_index[one_before] >= place):
                break
            for column in (order, max_index):
                column[one_before], column[here] = column[here], column[one_before]
            place -= 1

    k = 0
    while len(order) < min(k_max, len(scores)):
        k += 1
        risen = [a for a in queues if math.floor(k * desired[a]) > math.floor((k - 1) * desired[a])]
        due = [a for a in risen if queues[a]]
        for a in sorted(due, key=lambda a: ranking_key(scores, queues[a][0])):
            append(queues[a].pop(0), k)
        for _ in range(len(risen) - len(due)):
            left = [a for a in queues if queues[a]]
            if left and len(order) < k_max:
                best = min(left, key=lambda a: ranking_key(scores, queues[a][0]))
                append(queues[best].pop(0), k)
                exhausted += 1
    return order[:k_max], exhausted


def rank_fairly(scores, attributes, desired, k_max, algorithm):
    if algorithm == "score_only":
        return ranking_by_score(scores, k_max), 0
    if algorithm == "det_const_sort":
        return rank_by_constrained_sort(scores, attributes, desired, k_max)
    return rank_greedily(scores, attributes, desired, k_max, algorithm)


def ranking_skew(values, desired, k, a):
    observed = Fraction(values[:k].count(a), len(values[:k]))
    if desired[a] == 0:
        return math.inf if observed else 0.0
    return math.log(observed / desired[a]) if observed else -math.inf


def ranking_ndkl(values, desired):
    total = normaliser = 0.0
    for i in range(1, len(values) + 1):
        divergence = 0.0
        for a in range(len(desired)):
            share = Fraction(values[:i].count(a), i)
            if share:
                divergence += float(share) * (math.log(share / desired[a]) if desired[a] else math.inf)
        total += divergence / math.log2(i + 1)
        normaliser += 1 / math.log2(i + 1)
    return total / normaliser


def ranking_dcg(gains):
    return sum(gain / math.log2(i + 1) for i, gain in enumerate(gains, start=1))


def ranking_measures(scores, attributes, desired, order):
    """InfeasibleIndex, InfeasibleCount, MinSkew, MaxSkew, NDKL and NDCG of a whole ranking."""
    values = [attributes[i] for i in order]
    short = [
        [a for a in range(len(desired)) if values[:k].count(a) < math.floor(desired[a] * k)]
        for k in range(1, len(values) + 1)
    ]
    skews = [ranking_skew(values, desired, len(values), a) for a in range(len(desired))]
    ideal = ranking_dcg([scores[i] for i in ranking_by_score(scores, len(order))])
    gain = ranking_dcg([scores[i] for i in order])
    return (
        sum(bool(values_short) for values_short in short),
        sum(len(values_short) for values_short in short),
        min(skews),
        max(skews),
        ranking_ndkl(values, desired),
        gain / ideal if ideal else 1.0,
    )


def soft_objective(x, vectors, basis, neutral, penalty):
    """|(TW)^T (TW) - W^T W|_F^2 + lambda |(TN)^T (TB)|_F^2 with X = T^T T, pair by pair."""
    kept = sum((w @ x @ v - w @ v) ** 2 for w in vectors for v in vectors)
    return kept + penalty * sum((vectors[w] @ x @ b) ** 2 for w in neutral for b in basis)


def analogies(vectors, a_minus_b, delta):
    """Equation 1: the best y of every x with a positive score, all sorted by score."""
    found = []
    for x in range(len(vectors)):
        scores = []
        for y in range(len(vectors)):
            difference = vectors[x] - vectors[y]
            distance = math.sqrt(difference @ difference)
            if 0 < distance <= delta:
                scores.append((cosine(a_minus_b, difference), -y, distance))
        if scores and max(scores)[0] > 0:
            score, y, distance = max(scores)
            found.append((x, -y, score, distance))
    return sorted(found, key=lambda row: -row[2])


def solve_analogy(vectors, a, b, c, method):
    """The x, other than a, b and c, that 3CosAdd or 3CosMul (Levy and Goldberg 2014, Section 4) rate best."""

    def score(x):
        to_a, to_b, to_c = (cosine(vectors[x], vectors[word]) for word in (a, b, c))
        if method == "add":
            return to_b - to_a + to_c
        return (1 + to_b) / 2 * (1 + to_c) / 2 / ((1 + to_a) / 2 + 0.001)

    return max((x for x in range(len(vectors)) if x not in (a, b, c)), key=score)


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


def is_discriminatory(label_of, x, domain, columns):
    """Definition 2.1: some other combination of protected values gets another label."""
    ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
    for values in itertools.product(*ranges):
        other = list(x)
        for column, value in zip(columns, values, strict=True):
            other[column] = value
        if label_of(other) != label_of(x):
            return True
    return False


def count_trail(samples, discriminatory, columns):
    """#GDiff and #ID: sets of tuples without the protected attributes."""
    generated, found = set(), set()
    for x, is_found in zip(samples, discriminatory, strict=True):
        key = tuple(int(v) for i, v in enumerate(x) if i not in columns)
        generated.add(key)
        if is_found:
            found.add(key)
    return len(generated), len(found)
