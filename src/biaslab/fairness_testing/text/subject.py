"""The subject of a test: a text classifier, the exchangeable words, and the replacement words."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.core.errors import InputError
from biaslab.text.models import TextModel
from biaslab.text.words import Texts


@dataclass(frozen=True)
class TextSubject:
    """A classifier under test, for one protected feature."""

    model: TextModel
    # (k,) int32: the words that are values of the feature, at least two; a text may contain several.
    values: np.ndarray
    # (V, K) int32: the candidate replacements of each word, padded with -1 on the right; without values.
    neighbours: np.ndarray

    def __post_init__(self) -> None:
        n_words = len(self.model.vectors)
        if len(np.unique(self.values)) < 2 or len(np.unique(self.values)) < len(self.values):
            raise InputError("a feature needs two or more values, each once; correct the list of terms")
        if self.values.min() < 0 or self.values.max() >= n_words:
            raise InputError(
                f"a value is not among the {n_words} words of the lexicon; build the lexicon with the terms"
            )
        if len(self.neighbours) != n_words:
            raise InputError(
                f"neighbours of {len(self.neighbours)} words for a lexicon of {n_words};"
                " compute the neighbours in the classifier's own lexicon"
            )
        if np.isin(self.neighbours, self.values).any():
            raise InputError("a value of the feature is among the neighbours; exclude all values from them")

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

    def free(self, texts: Texts) -> np.ndarray:
        """Return whether words of texts may be perturbed, (m,) bool."""
        return self.is_free[texts.ids]


def have_marked(texts: Texts, is_marked: np.ndarray) -> np.ndarray:
    """Return whether texts contain a marked word, (n,) bool; `is_marked` is (m,) bool."""
    n_marked = np.concatenate([[0], np.cumsum(is_marked)])
    return n_marked[texts.offsets[1:]] > n_marked[texts.offsets[:-1]]
