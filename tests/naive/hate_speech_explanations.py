"""Slow, literal oracles of explanations (Kennedy et al. 2020): one phrase, one sample, one sentence each.

Positions are inclusive, as in the published code. `score` takes ids and mask of ONE sentence, both lists.
"""

import copy
import math

import numpy as np


def neighbourhood(region, length, radius):
    """What SOC may replace on both sides of a region: [CLS] and [SEP] stay."""
    return max(region[0] - radius, 1), min(region[1] + radius, length - 2)


def soc_contexts(
    ids, mask, region, *, radius, samples, add_itself, draw_right, draw_left, pad, bounds=(), quirks=()
):
    """The sentences over which Eq. 1 is averaged.

    `draw_right(prefix, sample)` gives the `radius` tokens after a prefix; `draw_left(suffix, sample)` those
    before a suffix; both in reading order. Quirks of the published code: ``independent`` (both sides given
    the phrase alone) and ``pad`` (`bounds`, [CLS] and [SEP], are drawn and become [PAD]).
    """
    length = sum(bool(m) for m in mask)
    low, high = neighbourhood(region, length, radius)
    masked = [pad if low <= i <= high and not region[0] <= i <= region[1] else t for i, t in enumerate(ids)]
    contexts = []
    for sample in range(samples):
        filled, read = copy.copy(ids), copy.copy(masked)
        n_left, n_right = region[0] - low, high - region[1]
        right = draw_right(masked[: region[1] + 1], sample) if radius else []
        for i in range(n_right):
            token = pad if "pad" in quirks and right[i] in bounds else right[i]
            filled[region[1] + 1 + i] = token
            if "independent" not in quirks:
                read[region[1] + 1 + i] = token
        left = draw_left(read[region[0] : length], sample) if radius else []
        for i in range(n_left):
            token = left[len(left) - 1 - i]
            filled[region[0] - 1 - i] = pad if "pad" in quirks and token in bounds else token
        contexts.append(filled)
    return [*contexts, copy.copy(ids)] if add_itself else contexts


def phi(score, ids, mask, region, contexts, pad):
    """Eq. 1: the mean over contexts of s(x) - s(x \\ p), by two passes for each."""
    total = 0.0
    for context in contexts:
        with_phrase = score(context, list(mask))
        occluded_ids, occluded_mask = list(context), list(mask)
        for i in range(region[0], region[1] + 1):
            occluded_ids[i] = pad
            occluded_mask[i] = 0
        total = total + (with_phrase - score(occluded_ids, occluded_mask))
    return total / len(contexts)


def explanation_loss(score, batch_ids, batch_mask, identifier_ids, alpha, contexts_of, pad, summed=True):
    """α Σ φ² of a batch (Eq. 2), identifier by identifier; the published code sums over the sentences."""
    loss = 0.0
    for row, (ids, mask) in enumerate(zip(batch_ids, batch_mask, strict=True)):
        for i, token in enumerate(ids):
            if token in identifier_ids:
                contexts = contexts_of(row, ids, mask, (i, i))
                loss = loss + alpha * phi(score, ids, mask, (i, i), contexts, pad) ** 2
    return loss if summed else loss / len(batch_ids)


# The hierarchy: Singh et al. 2019 (ACD), with `collapse_tree`; `score(first, last)` is one phrase's φ.


def threshold(values, percentile=90):
    """The scores at or above the percentile of those that are numbers."""
    left = sorted(v for v in values if not math.isnan(v))
    if not left:
        return [False] * len(values)
    place = (len(left) - 1) * percentile / 100
    low = math.floor(place)
    high = min(low + 1, len(left) - 1)
    bound = np.percentile(left, percentile)  # exact rounding of the library; checked against the definition
    assert math.isclose(bound, left[low] + (left[high] - left[low]) * (place - low), abs_tol=1e-12)
    return [v >= bound for v in values]


def label(mask):
    """Connected components in one dimension: numbers from 1, background 0."""
    labels, number = [0] * len(mask), 0
    for i, is_in in enumerate(mask):
        if is_in:
            if i == 0 or not mask[i - 1]:
                number += 1
            labels[i] = number
    return labels


def agglomerate(score, n_words, n_iterations=5):
    """The lists of components and of their scores, iteration by iteration, and the word scores."""
    scores = [float(score(i, i)) for i in range(n_words)]
    word_scores = list(scores)
    mask = threshold(scores)
    components_list, scores_list = [[0] * n_words], [{}]
    for _ in range(n_iterations):
        components = label(mask)
        component_scores = {}
        for number in range(1, max(components) + 1):
            members = [i for i in range(n_words) if components[i] == number]
            first, last = members[0], members[-1]
            own = float(score(first, last))
            component_scores[number] = own
            for border in (max(0, first - 1), min(n_words - 1, last + 1)):
                scores[border] = float(score(min(first, border), max(last, border))) - own
        for i in range(n_words):
            if mask[i]:
                scores[i] = math.nan
        new = threshold(scores)
        components_list.append(components)
        scores_list.append(component_scores)
        mask = [a or b for a, b in zip(mask, new, strict=True)]
        if not any(new):
            break
    return word_scores, components_list, scores_list


def levels(word_scores, components_list, scores_list):
    """The components as (start, end, φ), iteration by iteration."""
    found = [[(i, i + 1, s) for i, s in enumerate(word_scores)]]
    for components, component_scores in zip(components_list[1:], scores_list[1:], strict=True):
        found.append([])
        for number, own in component_scores.items():
            members = [i for i, c in enumerate(components) if c == number]
            found[-1].append((members[0], members[-1] + 1, own))
    return found


def collapse_tree(word_scores, components_list, scores_list, published=True):
    """The level x word table of spans and scores; published: a phrase of new words alone gets level 0."""
    n_iterations, n_words = len(components_list), len(word_scores)
    level_of = [{0: 0} for _ in range(n_iterations)]
    table = [{} for _ in range(n_iterations + 1)]
    for i in range(1, n_iterations):
        components, before = components_list[i], components_list[i - 1]
        for number in range(1, max(components) + 1):
            members = [w for w in range(n_words) if components[w] == number]
            if len(members) == 1:
                level_of[i][number] = 0
                continue
            matches = sorted({before[w] for w in members})
            if len(matches) == 1 and (published or matches != [0]):
                level = level_of[i - 1][matches[0]]
            else:
                level = max(level_of[i - 1][match] for match in matches) + 1
            level_of[i][number] = level
            table[level][members[0], members[-1] + 1] = scores_list[i][number]
    tree = [[(w, w + 1, s) for w, s in enumerate(word_scores)]]
    for row in table[1:]:
        if not row:
            break
        tree.append(sorted((start, end, own) for (start, end), own in row.items()))
    return tree


# Faithfulness: DeYoung et al. 2020, Eqs. 1 and 2, for one sentence.
