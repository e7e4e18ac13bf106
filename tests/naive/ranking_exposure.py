"""Slow, literal oracles of exposure and attention: one list at a time, sums written out.

Singh and Joachims 2018, Sections 3 and 4; Biega et al. 2018, Section 3; Sapiezynski et al. 2019; the TREC
Fair Ranking Track 2021 for the distance of AWRF. A list is given by the values of its candidates (None:
unknown), their scores, the desired shares of the values 0, 1, …, and the order of its top places.
"""

import math


def logarithmic(j):
    return 1 / math.log2(1 + j)


def place_attention(order):
    """Attention of the candidates that are in the top, by candidate."""
    return {candidate: logarithmic(j) for j, candidate in enumerate(order, start=1)}


def exposure(a, values, order):
    """Mean over the candidates with value a of the attention of their places."""
    at = place_attention(order)
    members = [i for i, value in enumerate(values) if value == a]
    return sum(at.get(i, 0.0) for i in members) / len(members) if members else math.nan


def utility(a, values, scores):
    members = [i for i, value in enumerate(values) if value == a]
    return sum(scores[i] for i in members) / len(members) if members else math.nan


def click_rate(a, values, scores, order):
    at = place_attention(order)
    members = [i for i, value in enumerate(values) if value == a]
    return sum(at.get(i, 0.0) * scores[i] for i in members) / len(members) if members else math.nan


def relevance_share(a, values, scores):
    known = [(value, score) for value, score in zip(values, scores, strict=True) if value is not None]
    total = sum(score for _, score in known)
    if not total or not is_relevance(values, scores):
        return math.nan
    return sum(score for value, score in known if value == a) / total


def least_to_greatest(numbers):
    if len(numbers) < 2 or any(math.isnan(x) for x in numbers) or max(numbers) == 0:
        return math.nan
    return min(numbers) / max(numbers)


def quotient(a, b):
    return math.nan if b == 0 else a / b


def present(values):
    return sorted({a for a in values if a is not None})


def is_relevance(values, scores):
    """Whether the scores of the candidates with a known value can be relevances."""
    return all(score >= 0 for a, score in zip(values, scores, strict=True) if a is not None)


def exposure_ratio(values, scores, desired, order):
    return least_to_greatest([exposure(a, values, order) for a in present(values)])


def disparate_treatment(values, scores, desired, order):
    if not is_relevance(values, scores):
        return math.nan
    return least_to_greatest(
        [quotient(exposure(a, values, order), utility(a, values, scores)) for a in present(values)]
    )


def disparate_impact(values, scores, desired, order):
    if not is_relevance(values, scores):
        return math.nan
    return least_to_greatest(
        [quotient(click_rate(a, values, scores, order), utility(a, values, scores)) for a in present(values)]
    )


def kullback_leibler(p, q):
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a)


def awrf(values, scores, desired, order):
    at = place_attention(order)
    sums = [sum(at[i] for i in order if values[i] == a) for a in range(len(desired))]
    if not sum(sums):
        return math.nan
    q, p = [s / sum(sums) for s in sums], [float(share) for share in desired]
    middle = [(a + b) / 2 for a, b in zip(q, p, strict=True)]
    return 1 - (kullback_leibler(q, middle) + kullback_leibler(p, middle)) / 2


def attention_inequity(values, scores, desired, order):
    if min(scores) < 0 or sum(scores) == 0:
        return math.nan
    at = place_attention(order)
    return sum(abs(at.get(i, 0.0) / sum(at.values()) - score / sum(scores)) for i, score in enumerate(scores))
