"""The check of all searches: texts that differ only in sensitive words must get one label (Algorithm 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.fairness_testing.text import answers
from biaslab.fairness_testing.text._choice_kernels import first_maxima
from biaslab.fairness_testing.text._variant_kernels import write_variants
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.words import Texts

_BLOCK = 4096
"""Texts per block whose variants' answers are in memory; results do not depend on it."""


@dataclass(frozen=True)
class Variants:
    """All texts X_s that differ from the given texts in one sensitive word, at all its occurrences.

    Sorted by text, then by first occurrence of the sensitive word, then by value.
    """

    rows: np.ndarray  # (v,) int64: the text of each variant
    replaced: np.ndarray  # (v,) int32: the replaced word
    values: np.ndarray  # (v,) int32: the replacement
    offsets: np.ndarray  # (n + 1,) int64: text i has the variants offsets[i] to offsets[i + 1] - 1


@dataclass(frozen=True)
class Check:
    """The check of n texts.

    The partner x' has the largest |O_y(x') - O_y(x)| (Equation 3) among the variants with another label, if
    any, else among all variants; the first wins ties. `replaced` and `value` are -1 for a text without
    sensitive words.
    """

    texts: Texts
    probabilities: np.ndarray  # (n, 2) float64, the outputs O(x)
    labels: np.ndarray  # (n,) int64, the predicted labels y
    discriminatory: np.ndarray  # (n,) bool: whether a variant has another label (Definition 2.1)
    replaced: np.ndarray  # (n,) int32: the word of x that x' replaces
    value: np.ndarray  # (n,) int32: the replacement
    n_queries: np.ndarray  # (n,) int64: model queries for each

    @cached_property
    def partners(self) -> Texts:
        """The partners x'; a text without sensitive words is its own partner."""
        return exchange(self.texts, self.replaced, self.value)


@dataclass(frozen=True)
class VariantAnswers:
    """The answers of a classifier for texts and for their variants."""

    rows: slice  # the positions of these n texts among all texts
    texts: Texts
    probabilities: np.ndarray  # (n, 2) float64
    variants: Variants
    variant_probabilities: np.ndarray  # (v, 2) float64

    @property
    def labels(self) -> np.ndarray:
        """The texts' labels, (n,) int64."""
        return answers.labels_of(self.probabilities)

    @property
    def flips(self) -> np.ndarray:
        """Whether variants have another label than their text, (v,) bool."""
        return answers.labels_of(self.variant_probabilities) != self.labels[self.variants.rows]


def exchange(texts: Texts, replaced: np.ndarray, value: np.ndarray) -> Texts:
    """Return texts with one word each replaced at all occurrences; -1 for an unchanged text."""
    return Texts(*write_variants(texts.ids, texts.offsets, np.arange(len(texts)), replaced, value))


def variants_of(subject: TextSubject, texts: Texts) -> Variants:
    """Return the variants of texts: each distinct sensitive word, by every other value (Algorithm 2)."""
    k = len(subject.values)
    places = np.flatnonzero(subject.is_value[texts.ids])
    rows = np.searchsorted(texts.offsets, places, side="right") - 1
    numbers = subject.value_numbers[texts.ids[places]]
    first = np.sort(np.unique(rows * k + numbers, return_index=True)[1])
    rows, numbers = rows[first], numbers[first]
    others = np.arange(k - 1) + (np.arange(k - 1) >= numbers[:, None])
    n_variants = np.bincount(rows, minlength=len(texts)) * (k - 1)
    return Variants(
        rows.repeat(k - 1),
        subject.values[numbers].repeat(k - 1).astype(np.int32),
        subject.values[others.ravel()].astype(np.int32),
        np.concatenate([[0], np.cumsum(n_variants)]).astype(np.int64),
    )


def answer_variants(subject: TextSubject, texts: Texts) -> Iterator[VariantAnswers]:
    """Query texts and all their variants, block by block."""
    for begin in range(0, len(texts), _BLOCK):
        rows = slice(begin, min(begin + _BLOCK, len(texts)))
        block = answers.part(texts, rows)
        variants = variants_of(subject, block)
        outputs = answers.probabilities(subject.model, block)
        yield VariantAnswers(rows, block, outputs, variants, _variant_probabilities(subject, block, variants))


def _variant_probabilities(subject: TextSubject, texts: Texts, variants: Variants) -> np.ndarray:
    """Query variants without holding the words of all variants in memory, (v, 2) float64."""
    outputs = np.empty((len(variants.rows), 2))
    for batch in answers.batches(texts.lengths[variants.rows], answers.WORDS):
        columns = (variants.rows[batch], variants.replaced[batch], variants.values[batch])
        written = Texts(*write_variants(texts.ids, texts.offsets, *columns))
        outputs[batch] = answers.probabilities(subject.model, written)
    return outputs


def check(subject: TextSubject, texts: Texts) -> Check:
    """Check texts for discrimination, and find the partner x' of each (Algorithm 2, Equation 3)."""
    n = len(texts)
    result = Check(
        texts,
        np.empty((n, 2)),
        np.empty(n, np.int64),
        np.empty(n, bool),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.empty(n, np.int64),
    )
    for answer in answer_variants(subject, texts):
        rows, variants, flips = answer.rows, answer.variants, answer.flips
        y = answer.labels
        flipped = np.bincount(variants.rows[flips], minlength=len(y)) > 0
        outputs = answer.variant_probabilities[np.arange(len(flips)), y[variants.rows]]
        differences = np.abs(outputs - answer.probabilities[variants.rows, y[variants.rows]])
        best = first_maxima(variants.offsets, differences, flips | ~flipped[variants.rows])
        has = best >= 0
        result.probabilities[rows], result.labels[rows], result.discriminatory[rows] = (
            answer.probabilities,
            y,
            flipped,
        )
        result.replaced[rows][has] = variants.replaced[best[has]]
        result.value[rows][has] = variants.values[best[has]]
        result.n_queries[rows] = 1 + np.diff(variants.offsets)
    return result


def count_flips(subject: TextSubject, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
    """Return how many texts contain each of k values, and in how many other values flip the label, (k,)."""
    k = len(subject.values)
    n_texts, n_flips = np.zeros((2, k), np.int64)
    for answer in answer_variants(subject, texts):
        keys = answer.variants.rows * k + subject.value_numbers[answer.variants.replaced]
        n_texts += np.bincount(np.unique(keys) % k, minlength=k)
        n_flips += np.bincount(np.unique(keys[answer.flips]) % k, minlength=k)
    return n_texts, n_flips
