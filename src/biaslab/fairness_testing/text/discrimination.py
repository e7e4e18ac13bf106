"""The check of all searches: texts that differ only in sensitive words must get one label (Algorithm 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.fairness_testing.text._kernels import first_maxima, write_variants
from biaslab.text.models import TextModel
from biaslab.text.words import Texts, concatenate


@dataclass(frozen=True)
class TextSubject:
    """A classifier under test, for one protected feature."""

    model: TextModel
    # (k,) int32: the words that are values of the feature, at least two; a text may contain several.
    values: np.ndarray
    # (V, K) int32: the candidate replacements of each word, padded with -1 on the right; without values.
    neighbours: np.ndarray

    @cached_property
    def is_value(self) -> np.ndarray:
        """Whether words are values of the feature, (V,) bool."""
        return self.value_numbers >= 0

    @cached_property
    def value_numbers(self) -> np.ndarray:
        """The index of each word among the values, (V,) int64; -1 for other words."""
        numbers = np.full(len(self.model.vectors), -1)
        numbers[self.values] = np.arange(len(self.values))
        return numbers

    @cached_property
    def n_neighbours(self) -> np.ndarray:
        """The number of candidate replacements of each word, (V,) int64."""
        return (self.neighbours >= 0).sum(axis=1)

    @cached_property
    def is_free(self) -> np.ndarray:
        """Whether words may be perturbed, (V,) bool: not values of the feature, and with a neighbour."""
        return ~self.is_value & (self.n_neighbours > 0)


def have_marked(texts: Texts, is_marked: np.ndarray) -> np.ndarray:
    """Return whether texts contain a marked word, (n,) bool; `is_marked` is (m,) bool."""
    n_marked = np.concatenate([[0], np.cumsum(is_marked)])
    return n_marked[texts.offsets[1:]] > n_marked[texts.offsets[:-1]]


WORDS = 65_536  # words per query batch (more for a single longer text); results do not depend on it
BATCH_WORDS = 8192  # words per call of a torch module, at least one text


def batches(lengths: np.ndarray, size: int) -> Iterator[slice]:
    """Yield consecutive parts of texts with at most `size` words in total, or a single longer text."""
    ends = np.cumsum(np.maximum(lengths, 1))
    begin = 0
    while begin < len(ends):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + size, side="right")))
        yield slice(begin, end)
        begin = end


def part(texts: Texts, rows: slice) -> Texts:
    """Return consecutive texts without copying their words."""
    offsets = texts.offsets[rows.start : rows.stop + 1]
    return Texts(texts.ids[offsets[0] : offsets[-1]], offsets - offsets[0])


def probabilities(model: TextModel, texts: Texts) -> np.ndarray:
    """Return the probabilities of both classes, (n, 2) float64."""
    parts = (model.probabilities(part(texts, rows)) for rows in batches(texts.lengths, WORDS))
    return np.concatenate([np.empty((0, 2)), *parts])


def labels_of(probabilities: np.ndarray) -> np.ndarray:
    """Return the labels, (n,) int64: the class of the larger probability, the first if tied."""
    return (probabilities[:, 1] > probabilities[:, 0]).astype(np.int64)


def pair_gradients(
    model: TextModel, texts: Texts, partners: Texts, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients g and g', (m, d), of texts and their partners (Algorithms 1 and 7) at once."""
    both = model.gradients(concatenate([texts, partners]), np.concatenate([labels, labels]))
    return both[: len(texts.ids)], both[len(texts.ids) :]


def rows_of_length(lengths: np.ndarray, batch_words: int) -> Iterator[np.ndarray]:
    """Yield the indices of texts of equal length, the shortest first: at most `batch_words`, or one text."""
    order = np.argsort(lengths, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        if len(rows):
            step = max(1, batch_words // max(1, int(lengths[rows[0]])))
            yield from (rows[start : start + step] for start in range(0, len(rows), step))


_BLOCK = 4096  # texts per block whose variants' answers are in memory; results do not depend on it


@dataclass(frozen=True)
class Check:
    """The check of n texts.

    The partner x' has the largest |O_y(x') - O_y(x)| (Equation 3) among the variants with another label, if
    any, else among all variants; the first wins ties. `replaced` and `value` are -1 for a text without
    sensitive words.
    """

    texts: Texts
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
class Variants:
    """All texts X_s that differ from n texts in one sensitive word, at all its occurrences, with the answers.

    Sorted by text, then by first occurrence of the sensitive word, then by value.
    """

    rows: slice  # the positions of the n texts among all texts
    origins: np.ndarray  # (v,) int64: the text of each variant, from 0 to n - 1
    replaced: np.ndarray  # (v,) int32: the replaced word
    values: np.ndarray  # (v,) int32: the replacement
    offsets: np.ndarray  # (n + 1,) int64: text i has the variants offsets[i] to offsets[i + 1] - 1
    probabilities: np.ndarray  # (n, 2) float64: of the texts
    variant_probabilities: np.ndarray  # (v, 2) float64

    @property
    def labels(self) -> np.ndarray:
        """The texts' labels, (n,) int64."""
        return labels_of(self.probabilities)

    @property
    def flips(self) -> np.ndarray:
        """Whether variants have another label than their text, (v,) bool."""
        return labels_of(self.variant_probabilities) != self.labels[self.origins]


def exchange(texts: Texts, replaced: np.ndarray, value: np.ndarray) -> Texts:
    """Return texts with one word each replaced at all occurrences; -1 for an unchanged text."""
    return Texts(*write_variants(texts.ids, texts.offsets, np.arange(len(texts)), replaced, value))


def answer_variants(subject: TextSubject, texts: Texts) -> Iterator[Variants]:
    """Query texts and all their variants (Algorithm 2), block by block."""
    k = len(subject.values)
    for begin in range(0, len(texts), _BLOCK):
        rows = slice(begin, min(begin + _BLOCK, len(texts)))
        block = part(texts, rows)
        places = np.flatnonzero(subject.is_value[block.ids])
        origins = np.searchsorted(block.offsets, places, side="right") - 1
        numbers = subject.value_numbers[block.ids[places]]
        first = np.sort(np.unique(origins * k + numbers, return_index=True)[1])
        origins, numbers = origins[first], numbers[first]
        others = np.arange(k - 1) + (np.arange(k - 1) >= numbers[:, None])
        n_variants = np.bincount(origins, minlength=len(block)) * (k - 1)
        offsets = np.concatenate([[0], np.cumsum(n_variants)]).astype(np.int64)
        replaced, values = (
            subject.values[x].astype(np.int32) for x in (numbers.repeat(k - 1), others.ravel())
        )
        origins, outputs = origins.repeat(k - 1), np.empty((len(replaced), 2))
        for batch in batches(block.lengths[origins], WORDS):  # never all words of all variants at once
            columns = (origins[batch], replaced[batch], values[batch])
            written = Texts(*write_variants(block.ids, block.offsets, *columns))
            outputs[batch] = probabilities(subject.model, written)
        yield Variants(rows, origins, replaced, values, offsets, probabilities(subject.model, block), outputs)


def check(subject: TextSubject, texts: Texts) -> Check:
    """Check texts for discrimination, and find the partner x' of each (Algorithm 2, Equation 3)."""
    n = len(texts)
    labels, is_discriminatory, n_queries = np.empty(n, np.int64), np.empty(n, bool), np.empty(n, np.int64)
    replaced, value = np.full((2, n), -1, np.int32)
    result = Check(texts, labels, is_discriminatory, replaced, value, n_queries)
    for variants in answer_variants(subject, texts):
        rows, origins, flips, y = variants.rows, variants.origins, variants.flips, variants.labels
        flipped = np.bincount(origins[flips], minlength=len(y)) > 0
        outputs = variants.variant_probabilities[np.arange(len(flips)), y[origins]]
        differences = np.abs(outputs - variants.probabilities[origins, y[origins]])
        best = first_maxima(variants.offsets, differences, flips | ~flipped[origins])
        has = best >= 0
        result.labels[rows], result.discriminatory[rows] = y, flipped
        result.replaced[rows][has] = variants.replaced[best[has]]
        result.value[rows][has] = variants.values[best[has]]
        result.n_queries[rows] = 1 + np.diff(variants.offsets)
    return result


def count_flips(subject: TextSubject, texts: Texts) -> tuple[np.ndarray, np.ndarray]:
    """Return how many texts contain each of k values, and in how many other values flip the label, (k,)."""
    k = len(subject.values)
    n_texts, n_flips = np.zeros((2, k), np.int64)
    for variants in answer_variants(subject, texts):
        keys = variants.origins * k + subject.value_numbers[variants.replaced]
        n_texts += np.bincount(np.unique(keys) % k, minlength=k)
        n_flips += np.bincount(np.unique(keys[variants.flips]) % k, minlength=k)
    return n_texts, n_flips
