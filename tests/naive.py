"""Slow, literal oracles: each follows the text of the paper, word by word."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import scipy.integrate
import scipy.optimize

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


# ADF: Zhang et al. 2021, Algorithms 1 to 4 and 7 to 9, one sample at a time; switches as in `adf.Settings`.


def adf_answer(model, x):
    """Label and output vector of one sample."""
    batch = np.array([x], np.int32)
    return int(model.labels(batch)[0]), model.probabilities(batch)[0]


def adf_gradient(model, x, label, settings):
    gradient = model.input_gradients(np.array([x], np.int32), np.array([label]))[0].tolist()
    return [0.0 if settings.subnormal_is_zero and abs(g) < 2.0**-126 else g for g in gradient]


def adf_clip(x, domain):
    return [min(max(v, int(low)), int(high)) for v, low, high in zip(x, domain.low, domain.high, strict=True)]


def adf_with(x, columns, values):
    other = list(x)
    for column, value in zip(columns, values, strict=True):
        other[column] = int(value)
    return other


def adf_values(domain, columns):
    return list(itertools.product(*(range(domain.low[c], domain.high[c] + 1) for c in columns)))


def adf_check(model, x, columns, all_values):
    """The first protected values that flip the label of x; None where none does."""
    label = adf_answer(model, x)[0]
    for values in all_values:
        if adf_answer(model, adf_with(x, columns, values))[0] != label:
            return values
    return None


def adf_global_direction(s, t, columns, draw, signs_twice):
    """Algorithm 3 for the signs s of x's gradient and t of its partner's."""
    d = len(s)
    free = [a for a in range(d) if a not in columns]
    if not any(s):
        chosen = list(t)
    elif not any(t):
        chosen = list(s)
    elif signs_twice:
        chosen = [float(s[a] == t[a]) for a in range(d)]
    else:
        chosen = [s[a] if s[a] == t[a] else 0 for a in range(d)]
    chosen = [0 if a in columns else chosen[a] for a in range(d)]
    if not any(chosen):
        chosen[free[int(draw[0] * len(free))]] = 1 if signs_twice or draw[1] < 0.5 else -1
    return [c * sign for c, sign in zip(chosen, s, strict=True)] if signs_twice else chosen


def adf_global(model, x, domain, columns, draws, settings):
    """Algorithm 1 for one seed: samples checked, whether the last is one, and its partner's values."""
    if settings.enumerated is None:
        all_values = adf_values(domain, columns)
    else:
        all_values = [(v,) for v in range(settings.enumerated[0], settings.enumerated[1] + 1)]
    x = adf_clip(x, domain) if settings.clip_seeds else [int(v) for v in x]
    checked = []
    for iteration in range(settings.max_iter + 1):
        checked.append(list(x))
        partner = adf_check(model, x, columns, all_values)
        if partner is not None:
            return checked, True, partner
        if iteration == settings.max_iter:
            break
        label, outputs = adf_answer(model, x)
        largest, values = (0 if settings.value_below_domain else -1), (-1,) * len(columns)
        for other in all_values:
            if list(other) != [x[c] for c in columns]:
                difference = abs(adf_answer(model, adf_with(x, columns, other))[1][label] - outputs[label])
                if difference > largest:
                    largest, values = difference, other
        s = [float(np.sign(g)) for g in adf_gradient(model, x, label, settings)]
        x_other = adf_with(x, columns, values)
        t = [float(np.sign(g)) for g in adf_gradient(model, x_other, label, settings)]
        direction = adf_global_direction(s, t, columns, draws[iteration], settings.signs_twice)
        x = adf_clip([v + int(step) for v, step in zip(x, direction, strict=True)], domain)
    return checked, False, None


def adf_weights(model, x, partner, columns, settings):
    """Algorithm 8 before the normalisation; where saliencies are zero, these attributes share all."""
    label = adf_answer(model, x)[0]
    other = adf_with(x, columns, partner)
    g = adf_gradient(model, x, label, settings)
    h = adf_gradient(model, other, adf_answer(model, other)[0] if settings.own_labels else label, settings)
    saliency = [abs(a) + abs(b) for a, b in zip(g, h, strict=True)]
    free = [a for a in range(len(x)) if a not in columns]
    if any(saliency[a] == 0 for a in free):
        weights = {a: float(saliency[a] == 0) for a in free}
    else:
        weights = {a: 1 / saliency[a] for a in free}
    return weights


def adf_step(model, x, partner, domain, columns, way, side, settings):
    """Algorithms 8 and 9: one attribute, one unit, either way."""
    weights = adf_weights(model, x, partner, columns, settings)
    below, total = 0.0, 0.0
    for weight in weights.values():
        total += weight
    chosen = None
    for attribute, weight in weights.items():
        chosen = attribute
        below += weight
        if below > way * total:
            break
    moved = list(x)
    moved[chosen] += 1 if side < 0.5 else -1
    return adf_clip(moved, domain)


def adf_local(model, x, partner, domain, columns, draws, settings):
    """Algorithm 7 for one start without negative neighbours: samples visited, and what the check says."""
    all_values = adf_values(domain, columns)
    x = [int(v) for v in x]
    flips = adf_check(model, x, columns, all_values)
    visited = [(x, flips is not None)]
    is_found = flips is not None
    for way, side, chance in draws:
        if not settings.fixed_partner and is_found:
            partner = flips
        y = adf_step(model, x, partner, domain, columns, way, side, settings)
        flips_y = adf_check(model, y, columns, all_values)
        visited.append((y, flips_y is not None))
        if flips_y is not None or not is_found or chance < settings.acceptance:
            x, flips, is_found = y, flips_y, flips_y is not None
    return visited


def adf_basinhopping(model, x, partner, domain, columns, draws, settings):
    """The local phase as the authors run it: SciPy's basin hopping with L-BFGS-B and finite differences.

    Returns every sample that the energy was asked for, in order, and what the check says of it.
    """
    all_values = adf_values(domain, columns)
    asked = []
    hops = iter(draws)
    chance = [0.0]

    def energy(values):
        sample = [int(v) for v in values]  # truncates, as astype("int") does
        asked.append((sample, adf_check(model, sample, columns, all_values) is not None))
        return 0.0 if asked[-1][1] else 1.0

    def take_step(values):
        way, side, chance[0] = next(hops)
        sample = [int(v) for v in values]
        return np.array(adf_step(model, sample, partner, domain, columns, way, side, settings), float)

    def metropolis(f_new, x_new, f_old, x_old):
        return "force accept" if math.exp(min(0.0, f_old - f_new)) > chance[0] else False

    scipy.optimize.basinhopping(
        energy,
        np.array(x, float),
        niter=len(draws),
        T=1.0,
        take_step=take_step,
        accept_test=metropolis,
        minimizer_kwargs={"method": "L-BFGS-B"},
    )
    return asked


# Training of networks: Kingma and Ba 2015, in the form of TensorFlow's Adam.


def adam(parameters, gradients, rate, beta1, beta2, epsilon):
    """Parameters after one step for each row of gradients, number by number in double precision."""
    parameters = [float(p) for p in parameters]
    m, v = [0.0] * len(parameters), [0.0] * len(parameters)
    for t, gradient in enumerate(gradients, start=1):
        rate_t = rate * math.sqrt(1 - beta2**t) / (1 - beta1**t)
        for i, g in enumerate(gradient):
            m[i] = beta1 * m[i] + (1 - beta1) * g
            v[i] = beta2 * v[i] + (1 - beta2) * g * g
            parameters[i] -= rate_t * m[i] / (math.sqrt(v[i]) + epsilon)
    return parameters


def slope_of_mean_cross_entropy(weights, biases, X, y, array, place, step):
    """Finite difference of the mean cross entropy by one number of one of the arrays."""
    value, losses = array[place], []
    for moved in (value + step, value - step):
        array[place] = moved
        total = math.fsum(cross_entropy(weights, biases, x, c) for x, c in zip(X, y, strict=True))
        losses.append(total / len(X))
    array[place] = value
    return (losses[0] - losses[1]) / (2 * step)


def train_by_adam(weights, biases, X, y, batches, rate, step):
    """Weights and biases after a step of TensorFlow's Adam for each batch, by finite differences."""
    weights, biases = ([np.array(a, float) for a in arrays] for arrays in (weights, biases))
    arrays = [*weights, *biases]
    start = np.concatenate([a.ravel() for a in arrays])
    gradients = []
    for batch in batches:
        rows, labels = X[batch], y[batch]
        gradients.append(
            [
                slope_of_mean_cross_entropy(weights, biases, rows, labels, a, place, step)
                for a in arrays
                for place in np.ndindex(a.shape)
            ]
        )
        moved, first = adam(start, gradients, rate, beta1=0.9, beta2=0.999, epsilon=1e-8), 0
        for a in arrays:
            a[...] = np.reshape(moved[first : first + a.size], a.shape)
            first += a.size
    return weights, biases


# Symbolic generation: Zhang et al. 2021, Section 4.3, and the rules of the authors' published code.
# A constraint is (attribute, "<=" or ">", limit, confidence).


def gini(labels):
    return 1 - sum(Fraction(count, len(labels)) ** 2 for count in Counter(labels).values())


def best_splits(X, labels, rows):
    """The attributes whose purest split is as pure as any, each with its lowest such limit."""
    best = {}
    for attribute in range(len(X[0])):
        values = sorted({X[row][attribute] for row in rows})
        for below, above in itertools.pairwise(values):
            limit = math.floor(Fraction(below + above, 2))
            sides = [
                [labels[r] for r in rows if (X[r][attribute] <= limit) == left] for left in (True, False)
            ]
            impurity = sum(Fraction(len(side), len(rows)) * gini(side) for side in sides)
            if attribute not in best or impurity < best[attribute][0]:
                best[attribute] = impurity, limit
    least = min((impurity for impurity, _ in best.values()), default=None)
    return [(attribute, limit) for attribute, (impurity, limit) in best.items() if impurity == least]


def explanation_branch(X, labels, draws):
    """The branch of row 0 in an unpruned tree; a node's number chooses one of its equally pure attributes."""
    rows, path = list(range(len(X))), []
    while len({labels[row] for row in rows}) > 1:
        equal = best_splits(X, labels, rows)
        if not equal:
            break
        attribute, limit = equal[int(draws[len(path)] * len(equal))]
        left = [row for row in rows if X[row][attribute] <= limit]
        left_confidence = len(left) / len(rows)
        if 0 in left:
            path.append((attribute, "<=", limit, left_confidence))
            rows = left
        else:
            path.append((attribute, ">", limit, 1.0 - left_confidence))
            rows = [row for row in rows if row not in left]
    return path


def negate_constraint(constraint):
    attribute, sign, limit, confidence = constraint
    return attribute, ">" if sign == "<=" else "<=", limit, 1.0 - confidence


def solve_constraints(constraints, x, domain, choice):
    """Try all samples of the domain that differ from x in the attributes of the constraints alone."""
    attributes = sorted({attribute for attribute, *_ in constraints})
    solutions = []
    for values in itertools.product(*(range(domain.low[a], domain.high[a] + 1) for a in attributes)):
        solution = list(x)
        for attribute, value in zip(attributes, values, strict=True):
            solution[attribute] = value
        if all((solution[a] <= limit) == (sign == "<=") for a, sign, limit, _ in constraints):
            solutions.append(solution)
    if not solutions:
        return None
    target = x if choice == "nearest" else [0] * len(x)
    return min(solutions, key=lambda solution: sum(abs(solution[a] - target[a]) for a in attributes))


def average_confidence(constraints):
    return np.mean([confidence for *_, confidence in constraints])


def symbolic_children(x, found, path, protected, solved, solve, local=True, global_=True):
    """New samples as (rank, sample): first those of the local, then those of the global search."""
    children = []

    def try_to_solve(constraints, to_solve, rank):
        if constraints not in solved:
            solved.append(constraints)
            solution = solve(to_solve, x)
            if solution is not None:
                children.append((rank, solution))

    if found and local:
        for i, constraint in enumerate(path):
            if constraint[0] not in protected:
                constraints = [*path[:i], negate_constraint(constraint), *path[i + 1 :]]
                same = [c for c in constraints if c[0] == constraint[0]]
                try_to_solve(constraints, same, 1 + average_confidence(constraints))
    prefix = []
    for constraint in path:
        if not global_ or constraint[0] in protected:
            continue
        if constraint[3] < 0.3:
            break
        constraints = [*prefix, negate_constraint(constraint)]
        try_to_solve(constraints, constraints, 10 - average_confidence(constraints))
        prefix.append(constraint)
    return children


def symbolic_search(seeds, limit, protected, settings, is_found, explain, solve, local=True, global_=True):
    """One list of waiting samples; returns (sample, found, rank) of each one explored; seeds have rank 5."""
    arrivals = itertools.count()
    waiting = [(5, list(x), next(arrivals)) for x in seeds]
    taken, solved, explored, generated, step, globals_turn = [], [], [], [], 0, False
    while waiting and len(generated) < limit and len(taken) < 10 * limit + 10:

        def precedence(entry, globals_turn=globals_turn):
            rank, x, order = entry
            if not settings.global_last and globals_turn:
                rank = rank - 6 if rank >= 9 else rank  # between local ones and seeds
            return rank, x if settings.lexicographic_ties else [], order

        entry = min(waiting, key=precedence)
        waiting.remove(entry)
        rank, x, _ = entry
        globals_turn = globals_turn if rank <= 2 else rank == 5
        kept = [v for a, v in enumerate(x) if a not in protected]
        if kept in explored and not settings.repeats:
            continue
        explored.append(kept)
        path = explain(x, step)
        step += 1
        found = is_found(x)
        if (settings.counts_seeds or rank != 5) and kept not in generated:
            generated.append(kept)
        taken.append((x, found, rank))
        for child_rank, child in symbolic_children(x, found, path, protected, solved, solve, local, global_):
            waiting.append((child_rank, child, next(arrivals)))
    return taken


# AEQUITAS: Zhang et al. 2021, Section 4.3, and the published code, whose quirks are switches.


def aequitas_check(label_of, x, domain, columns):
    """The first protected values that get another label; the sample's own where none do."""
    ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
    for values in itertools.product(*ranges):
        other = list(x)
        for column, value in zip(columns, values, strict=True):
            other[column] = value
        if label_of(other) != label_of(x):
            return list(values)
    return [x[c] for c in columns]


def aequitas_walks(label_of, starts, domain, columns, draws, settings):
    """All walks in turn: (number of the start, sample, is it discriminatory) of every visit.

    A hop uses four of the numbers drawn: attribute, direction, direction at a bound, acceptance.
    """
    d = len(domain.names)
    perturbable = [i for i in range(d) if settings.perturb_protected or i not in columns]
    param_probability = [1 / len(perturbable) if i in perturbable else 0.0 for i in range(d)]
    direction_probability = [0.5] * d
    visits = []

    def visit(number, x):
        result = aequitas_check(label_of, x, domain, columns)
        found = result != [x[c] for c in columns]
        visits.append((number, list(x), found))
        for i in range(d):
            if settings.negative_neighbours and x[i] < 0:
                near = [int(v + 1e-8) if j == i else v for j, v in enumerate(x)]
                near_result = aequitas_check(label_of, near, domain, columns)
                visits.append((number, near, near_result != [near[c] for c in columns]))
        success = any(v != 0 for v in result) if settings.falsy_success else found
        energy = not any(v != 0 for v in result) if settings.falsy_energy else not found
        return success, energy

    for number, start in enumerate(starts):
        x = [int(v) for v in start]
        _, energy = visit(number, x)
        for u in draws[number]:
            total = 0.0
            for param in range(d):
                total += param_probability[param]
                if u[0] < total:
                    break
            direction = -1 if u[1] < direction_probability[param] else 1
            if x[param] in (domain.low[param], domain.high[param]):
                direction = -1 if u[2] < 0.5 else 1
            new = list(x)
            new[param] = int(min(max(x[param] + direction, domain.low[param]), domain.high[param]))
            success, new_energy = visit(number, new)
            if (success and direction == -1) or (not success and direction == 1):
                direction_probability[param] = min(direction_probability[param] + 0.001, 1)
            else:
                direction_probability[param] = max(direction_probability[param] - 0.001, 0)
            if success:
                param_probability[param] += 0.001
            else:
                param_probability[param] = max(param_probability[param] - 0.001, 0)
            total = 0.0
            for p in param_probability:
                total += p
            param_probability = [p / total for p in param_probability]
            w = min(1.0, math.exp(-(new_energy - energy))) if settings.metropolis else 1.0
            if w >= u[3]:
                x, energy = new, new_energy
    return visits


# Retraining: Zhang et al. 2021, RQ4, with the rules that the module states.


def majority_label(probabilities_of, x, domain, columns, n_classes):
    """The most frequent label over the protected values; of equally frequent ones the likeliest."""
    ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
    votes, sums, n = Counter(), [0.0] * n_classes, 0
    for values in itertools.product(*ranges):
        other = list(x)
        for column, value in zip(columns, values, strict=True):
            other[column] = value
        p = [float(v) for v in probabilities_of(other)]
        votes[p.index(max(p))] += 1
        sums = [s + v for s, v in zip(sums, p, strict=True)]
        n += 1
    return max(range(n_classes), key=lambda label: (votes[label], sums[label] / n))


def most_votes(votes):
    """The label that most give, the least of several."""
    return max(sorted(set(votes)), key=list(votes).count)
