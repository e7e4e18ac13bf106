"""Slow, literal oracles of linear hate speech classifiers and of the measures of all of them."""

import math

# Kennedy et al. 2020, Sections 4.1 and 4.3; Borkan et al. 2019, Section 3. Every sum is a loop.


def words_of_pieces(document):
    """What a piece becomes: without '##' or brackets; those of one character are lost."""
    words = [piece.removeprefix("##").strip("[]").lower() for piece in document.split(" ")]
    return [word for word in words if len(word) >= 2]


def binary_bag(documents, terms):
    return [[1.0 if term in words_of_pieces(d) else 0.0 for term in terms] for d in documents]


def logistic_loss(X, labels, negative_weight, weights, intercept):
    """Half the squared length of the weights plus the weighted log losses (C = 1)."""
    loss = sum(w * w for w in weights) / 2
    for row, label in zip(X, labels, strict=True):
        logit = intercept + sum(x * w for x, w in zip(row, weights, strict=True))
        probability = 1 / (1 + math.exp(-logit))
        loss -= math.log(probability) if label else negative_weight * math.log(1 - probability)
    return loss


def counted_metrics(scores, labels):
    """Precision, recall, F1 and accuracy from the four counts."""
    counts = {(predicted, label): 0 for predicted in (False, True) for label in (0, 1)}
    for score, label in zip(scores, labels, strict=True):
        counts[score > 0, label] += 1
    hits, false_alarms, misses = counts[True, 1], counts[True, 0], counts[False, 1]
    precision = hits / (hits + false_alarms) if hits + false_alarms else 0.0
    recall = hits / (hits + misses)
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return precision, recall, f1, (hits + counts[False, 0]) / len(labels)


def macro_accuracy(scores, labels, identifiers):
    accuracies = []
    for name in sorted(set(identifiers)):
        right = [
            (s > 0) == (y == 1) for s, y, i in zip(scores, labels, identifiers, strict=True) if i == name
        ]
        accuracies.append(sum(right) / len(right))
    return sum(accuracies) / len(accuracies)


def pair_auc(positives, negatives):
    """Share of pairs in the right order, where ties count half."""
    won = 0.0
    for p in positives:
        for n in negatives:
            won += 1.0 if p > n else 0.5 if p == n else 0.0
    return won / (len(positives) * len(negatives)) if positives and negatives else math.nan


def identity_aucs(scores, labels, holds):
    """Subgroup, BPSN and BNSP AUC of one identifier."""

    def chosen(label, held):
        texts = zip(scores, labels, holds, strict=True)
        return [s for s, y, h in texts if y == label and bool(h) == held]

    return (
        pair_auc(chosen(1, True), chosen(0, True)),
        pair_auc(chosen(1, False), chosen(0, True)),
        pair_auc(chosen(1, True), chosen(0, False)),
    )


def false_positives(scores, labels, holds):
    """How many of the negative texts that hold an identifier are classified positive, and of how many."""
    harmless = [s for s, y, h in zip(scores, labels, holds, strict=True) if h and y == 0]
    return sum(s > 0 for s in harmless), len(harmless)


def binomial_upper(hits, n, p):
    """Probability of at least this many hits."""
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(hits, n + 1))


def bisect(is_below):
    """The p between 0 and 1 up to which `is_below` holds."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def clopper_pearson(hits, n, level=0.95):
    """The shares for which as many hits or more, and as many or fewer, have half of 1 - level."""
    tail = (1 - level) / 2
    low = bisect(lambda p: binomial_upper(hits, n, p) < tail) if hits else 0.0
    high = bisect(lambda p: 1 - binomial_upper(hits + 1, n, p) > tail) if hits < n else 1.0
    return low, high


def student_tail(t, df, steps=20000):
    """Probability of more than |t|, by Simpson's rule with x = tan(angle)."""
    scale = math.gamma((df + 1) / 2) / (math.sqrt(df * math.pi) * math.gamma(df / 2))
    start, end = math.atan(abs(t)), math.pi / 2
    width = (end - start) / steps

    def density(angle):
        if angle >= end - 1e-12:
            return scale * df if df == 1 else 0.0  # the limit of x² (1 + x² / df)^-(df + 1) / 2
        x = math.tan(angle)
        return scale * (1 + x * x / df) ** (-(df + 1) / 2) * (1 + x * x)

    total = density(start) + density(end)
    for i in range(1, steps):
        total += (4 if i % 2 else 2) * density(start + i * width)
    return total * width / 3


def paired_t(values, baseline):
    """Mean difference, its standard error and the two-sided p-value."""
    differences = [v - b for v, b in zip(values, baseline, strict=True)]
    n = len(differences)
    mean = sum(differences) / n
    error = math.sqrt(sum((d - mean) ** 2 for d in differences) / (n - 1) / n)
    return mean, error, 2 * student_tail(mean / error, n - 1)
