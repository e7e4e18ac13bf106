"""The word sets of a word embedding association test (WEAT): their files, and word ids in a vocabulary."""

import dataclasses
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml
from biaslab.core.settings import FILLED, PYDANTIC, Positive, validate

__all__ = ["WeatIndices", "WordSets", "in_vocabulary", "read_word_sets"]

RESERVED = ("baseline", "random", "ppmi", "perturbation_sets")
"""Reserved names of tests: in names of files and of sets of documents they have another meaning."""
WEAT = "weat"  # the default measure of word sets

_Word = Annotated[str, "a word, in quotes where YAML takes it for another", FILLED]
_Sets = dict[str, Annotated[list[_Word], "words, [nurse, doctor, ...]"]]
_NUMBERED = {"weat": "WEAT", "caliskan": "Caliskan"}


@dataclass(frozen=True, config=PYDANTIC)
class WordSets:
    """The four word sets of one association test."""

    name: Annotated[str, "short name: letters, digits and underscores"]
    title: Annotated[str, "what the test compares"]
    source: Annotated[str, "the source of its words"]
    targets: Annotated[_Sets, "the two target sets: S, then T"]
    attributes: Annotated[_Sets, "the two attribute sets: A, then B"]
    measure: Annotated[str, "name of the measure of bias"] = WEAT
    parameters: Annotated[dict[str, Positive], "parameters of the measure"] = field(default_factory=dict)

    @property
    def sets(self) -> dict[str, list[str]]:
        """The four sets by name, in the order S, T, A, B."""
        return {**self.targets, **self.attributes}


@dataclasses.dataclass(frozen=True)
class WeatIndices:
    """The words of a test as rows of an embedding.

    Attributes
    ----------
    S, T, A, B : numpy.ndarray of int64
        Word ids of the two target and the two attribute sets, in the order of the word sets.
    name : str
        Name of the test.
    lost : dict of str to tuple of str
        The words of each set that are not in the vocabulary, by the name of the set.
    measure, parameters : str, dict of str to float
        As in `WordSets`.
    rounding : float
        Rounding error of a cosine from the digits of the vector file; 0 if only the number type limits it.
    """

    name: str
    S: np.ndarray
    T: np.ndarray
    A: np.ndarray
    B: np.ndarray
    lost: dict[str, tuple[str, ...]] = field(default_factory=dict)
    measure: str = WEAT
    parameters: dict[str, float] = field(default_factory=dict)
    rounding: float = 0.0

    @property
    def lost_words(self) -> list[str]:
        """All words that are not in the vocabulary, set by set."""
        return [word for words in self.lost.values() for word in words]


def read_word_sets(path: str | os.PathLike, measures: Mapping[str, Iterable[str]] | None = None) -> WordSets:
    """Read the word sets of one test from a YAML file.

    Parameters
    ----------
    path : path-like
        A mapping with the keys ``name``, ``title``, ``source``, ``targets`` (S, then T) and ``attributes``
        (A, then B). The last two map the name of a set to its words. The keys ``measure`` and ``parameters``
        (of the measure) are optional.
    measures : mapping of str to iterable of str, optional
        The measures that the caller supports, with the names of their parameters; only WEAT by default.

    Returns
    -------
    WordSets
        The checked sets.

    Raises
    ------
    InputError
        When the file is missing or malformed, a word is repeated in a set, two opposite sets share a word, or
        the measure is not one of `measures`.
    """
    word_sets = validate(WordSets, read_yaml(Path(path)), str(path))
    if not re.fullmatch("[A-Za-z0-9_]+", word_sets.name):
        raise InputError(f"{path}: name: use letters, digits and underscores only")
    if word_sets.name in RESERVED:
        raise InputError(f"{path}: name: the workflow reserves this name; choose another name")
    if not word_sets.title:
        raise InputError(f"{path}: title: is empty; write what the test compares")
    _check_measure(path, word_sets, {WEAT: ()} if measures is None else measures)
    for key, sets in (("targets", word_sets.targets), ("attributes", word_sets.attributes)):
        if len(sets) != 2:
            raise InputError(f"{path}: {key}: give exactly two sets of words")
        for name, words in sets.items():
            if len(words) < 2:
                raise InputError(f"{path}: {key}.{name}: give at least two words")
    if len(word_sets.sets) < 4:
        raise InputError(f"{path}: a target set and an attribute set have the same name; rename one of them")
    for name, words in word_sets.sets.items():
        if repeated := _first_repetition(words):
            raise InputError(f"{path}: set '{name}' contains '{repeated}' twice; delete the repetition")
    for pair in (word_sets.targets, word_sets.attributes):
        (first, words), (second, others) = pair.items()
        if shared := _first_repetition([*words, *others]):
            raise InputError(
                f"{path}: sets '{first}' and '{second}' both contain '{shared}'; delete it from a set"
            )
    return word_sets


def in_vocabulary(word_sets: WordSets, vocabulary: Mapping[str, int], rounding: float = 0.0) -> WeatIndices:
    """Convert word sets to word ids; words that are not in the vocabulary are dropped from their set.

    Parameters
    ----------
    word_sets : WordSets
        The sets of one test.
    vocabulary : mapping of str to int
        Word to word id.
    rounding : float
        As in `WeatIndices`.

    Returns
    -------
    WeatIndices
        Ids of the remaining words, and the lost words.

    Raises
    ------
    InputError
        When a set keeps fewer than two words.
    """
    ids, lost = [], {}
    for name, words in word_sets.sets.items():
        lost[name] = tuple(word for word in words if word not in vocabulary)
        ids.append(np.array([vocabulary[word] for word in words if word in vocabulary], dtype=np.int64))
        if len(ids[-1]) < 2:
            lower = [word for word in lost[name] if word.lower() in vocabulary]
            hint = f"write '{lower[0]}' in lower case, as in the vocabulary," if lower else ""
            raise InputError(
                f"{word_sets.name}: the vocabulary contains {len(ids[-1])} of the {len(words)} words of set"
                f" '{name}' (missing: {', '.join(lost[name])});"
                f" {hint or 'use a larger corpus or a smaller min_count,'} or remove the test"
            )
    S, T, A, B = ids
    return WeatIndices(word_sets.name, S, T, A, B, lost, word_sets.measure, word_sets.parameters, rounding)


def read_tests(
    files: Iterable[str | os.PathLike],
    vocabulary: Mapping[str, int],
    measures: Mapping[str, Iterable[str]] | None = None,
) -> list[WeatIndices]:
    """Read tests, and convert their words to word ids; see `read_word_sets` and `in_vocabulary`."""
    return [in_vocabulary(read_word_sets(file, measures), vocabulary) for file in files]


def in_words(test: str) -> str:
    """Return the label of an association test in figures: the papers' tests by number, others by name."""
    match = re.fullmatch(r"([a-z]+)(\d+)", test)
    if match and match[1] in _NUMBERED:
        return f"{_NUMBERED[match[1]]} {match[2]}"
    return test.replace("_", " ")


def _check_measure(path: str | os.PathLike, test: WordSets, measures: Mapping[str, Iterable[str]]) -> None:
    measure = test.measure
    if measure not in measures:
        raise InputError(
            f"{path}: measure: '{measure}' is not available here (available: {', '.join(measures)})"
            f"{suggest(measure, measures)}"
        )
    parameters = list(measures[measure])
    if unknown := [name for name in test.parameters if name not in parameters]:
        advice = f"use {', '.join(parameters)}" if parameters else "delete it"
        raise InputError(f"{path}: parameters: {measure} has no parameter '{unknown[0]}'; {advice}")


def _first_repetition(words: Sequence[str]) -> str | None:
    """Return the first word that repeats an earlier word, or None."""
    return next((word for place, word in enumerate(words) if word in words[:place]), None)
