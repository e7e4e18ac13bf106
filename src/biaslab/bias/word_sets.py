"""The word sets of a word embedding association test (WEAT): their files, and word ids in a vocabulary."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import jsonschema
import numpy as np

from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml

__all__ = ["WeatIndices", "WordSets", "in_vocabulary", "read_word_sets"]

RESERVED = ("baseline", "random", "ppmi", "perturbation_sets")
"""Reserved names of tests: in names of files and of sets of documents they have another meaning."""
_WORDS = {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 2}
_TWO_SETS = {"type": "object", "additionalProperties": _WORDS, "minProperties": 2, "maxProperties": 2}
# The name of a test becomes part of names of files and of perturbation sets, whose parts hyphens separate.
_NAME = {"type": "string", "pattern": "^[A-Za-z0-9_]+$", "not": {"enum": list(RESERVED)}}
_KEYS = {
    "name": _NAME,
    "title": {"type": "string", "minLength": 1},
    "source": {"type": "string"},
    "targets": _TWO_SETS,
    "attributes": _TWO_SETS,
}
_OPTIONAL = {
    "measure": {"type": "string"},
    "parameters": {"type": "object", "additionalProperties": {"type": "number", "exclusiveMinimum": 0}},
}
_PROBLEMS = {
    "pattern": "use letters, digits and underscores only",
    "not": "the workflow reserves this name; choose another name",
    "minProperties": "give exactly two sets of words",
    "maxProperties": "give exactly two sets of words",
    "minItems": "give at least two words",
    "exclusiveMinimum": "give a number above 0",
}
_SCHEMA = {"type": "object", "properties": _KEYS | _OPTIONAL, "required": list(_KEYS)}
WEAT = "weat"
"""The default measure of word sets."""

_NUMBERED = {"weat": "WEAT", "caliskan": "Caliskan"}


@dataclass(frozen=True)
class WordSets:
    """The four word sets of one association test.

    Attributes
    ----------
    name : str
        Short name: letters, digits and underscores.
    title, source : str
        What the test compares, and the source of its words.
    targets : dict of str to list of str
        The two target sets: S, then T.
    attributes : dict of str to list of str
        The two attribute sets: A, then B.
    measure : str
        Name of the measure of bias.
    parameters : dict of str to float
        Parameters of the measure.
    """

    name: str
    title: str
    source: str
    targets: dict[str, list[str]]
    attributes: dict[str, list[str]]
    measure: str = WEAT
    parameters: dict[str, float] = field(default_factory=dict)

    @property
    def sets(self) -> dict[str, list[str]]:
        """The four sets by name, in the order S, T, A, B."""
        return {**self.targets, **self.attributes}


@dataclass(frozen=True)
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
    value = read_yaml(Path(path))
    _check_keys(path, value)
    _check_measure(path, value, {WEAT: ()} if measures is None else measures)
    word_sets = WordSets(**value)
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


def _check_keys(path: str | os.PathLike, value: Mapping) -> None:
    keys = [*_KEYS, *_OPTIONAL]
    if unknown := [str(key) for key in value if key not in keys]:
        names = ", ".join(keys)
        raise InputError(f"{path}: unknown key '{unknown[0]}'{suggest(unknown[0], keys)} (known: {names})")
    problem = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(_SCHEMA).iter_errors(value))
    if problem is None:
        return
    where = problem.json_path.removeprefix("$").removeprefix(".")
    message = _PROBLEMS.get(problem.validator, problem.message.splitlines()[0])
    quotes = (
        "; put it in quotes" if problem.validator == "type" and problem.validator_value == "string" else ""
    )
    raise InputError(f"{path}: {where + ': ' if where else ''}{message}{quotes}")


def _check_measure(path: str | os.PathLike, value: Mapping, measures: Mapping[str, Iterable[str]]) -> None:
    measure = value.get("measure", WEAT)
    if measure not in measures:
        raise InputError(
            f"{path}: measure: '{measure}' is not available here (available: {', '.join(measures)})"
            f"{suggest(measure, measures)}"
        )
    parameters = list(measures[measure])
    if unknown := [name for name in value.get("parameters", {}) if name not in parameters]:
        advice = f"use {', '.join(parameters)}" if parameters else "delete it"
        raise InputError(f"{path}: parameters: {measure} has no parameter '{unknown[0]}'; {advice}")


def _first_repetition(words: Sequence[str]) -> str | None:
    """Return the first word that repeats an earlier word, or None."""
    return next((word for place, word in enumerate(words) if word in words[:place]), None)
