"""Word lists of the debiasing area: files, and the words that an embedding contains.

There are lists of words (occupations, gender-specific words) and lists of sets of words (defining pairs,
equality sets). Our own are YAML mappings with a name, a title and a source. The JSON files that Bolukbasi et
al. 2016 published with their code are also supported.
"""

import dataclasses
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from pydantic.dataclasses import dataclass

from biaslab.bias.word_sets import WordSets
from biaslab.core.errors import InputError
from biaslab.core.files import parse_json, read_text, read_yaml
from biaslab.core.settings import FILLED, PYDANTIC, fields_of, validate
from biaslab.embeddings.vocabulary import AnyCase

__all__ = [
    "KnownSets",
    "KnownWords",
    "SetList",
    "WordList",
    "known_sets",
    "known_words",
    "read_scores",
    "read_sets",
    "read_words",
]

JSON_SUFFIX = ".json"
_SCORED = 3  # parts of an entry with scores: a word and two numbers
_LEAST_WORDS = 2
_N_EXAMPLES = 8

_Word = Annotated[str, "a word, in quotes where YAML takes it for another", FILLED]
_Words = Annotated[tuple[_Word, ...], "words, [nurse, doctor, ...]"]
_Name = Annotated[str, "a short name", FILLED]
_Title = Annotated[str, "what the words have in common"]
_Source = Annotated[str, "where the words come from"]


@dataclass(frozen=True, config=PYDANTIC)
class WordList:
    """At least two words, each once."""

    name: _Name
    words: _Words
    title: _Title = ""
    source: _Source = ""


@dataclass(frozen=True, config=PYDANTIC)
class SetList:
    """At least one set of two words or more; no word is twice in a set or in two sets."""

    name: _Name
    sets: Annotated[tuple[_Words, ...], "sets of words, [[she, he], [woman, man], ...]"]
    title: _Title = ""
    source: _Source = ""


class KnownWords(NamedTuple):
    """The words of a list that an embedding contains.

    Attributes
    ----------
    rows : (n,) int64
        Their rows, in the order of the list.
    lost : tuple of str
        The words that are missing in the embedding.
    """

    rows: np.ndarray
    lost: tuple[str, ...]


class KnownSets(NamedTuple):
    """The sets of a list that an embedding contains.

    Attributes
    ----------
    rows : list of tuples of int
        The rows of each set that keeps two words or more.
    lost : tuple of str
        The words that are missing in the embedding.
    dropped : tuple of tuples of str
        The omitted sets, with fewer than two words left.
    """

    rows: list[tuple[int, ...]]
    lost: tuple[str, ...]
    dropped: tuple[tuple[str, ...], ...]


def read_words(path: str | os.PathLike) -> WordList:
    """Read a list of words.

    Parameters
    ----------
    path : path-like
        YAML: a mapping with ``name``, ``words`` and optionally ``title`` and ``source``. JSON: a list of
        words, or of lists that begin with a word, such as the authors' ``[profession, score, score]``.

    Returns
    -------
    WordList
        The checked list.

    Raises
    ------
    InputError
        When the file is missing or of another form, a word occurs twice, or there are fewer than two.
    """
    path = Path(path)
    words = _read(path, WordList, "words")
    if len(words.words) < _LEAST_WORDS:
        raise InputError(f"{path}: the list has {len(words.words)} word(s); give at least {_LEAST_WORDS}")
    _refuse_repeated(path, words.words)
    return words


def read_scores(path: str | os.PathLike) -> dict[str, tuple[float, float]]:
    """Return the two scores of each word of the authors' list of occupations: definitional, stereotypical.

    Parameters
    ----------
    path : path-like
        JSON, a list of ``[word, score, score]``; entries of another form have no scores.

    Returns
    -------
    dict of str to tuple of float
        Of the words that have them. Negative numbers lean to the female end, positive ones to the male end.
    """
    path = Path(path)
    entries = _read_json(path) if path.suffix == JSON_SUFFIX else []
    return {
        entry[0]: (float(entry[1]), float(entry[2]))
        for entry in entries
        if isinstance(entry, list)
        and len(entry) == _SCORED
        and all(isinstance(score, int | float) and not isinstance(score, bool) for score in entry[1:])
    }


def read_sets(path: str | os.PathLike) -> SetList:
    """Read a list of sets of words, such as defining pairs.

    Parameters
    ----------
    path : path-like
        YAML: a mapping with ``name``, ``sets`` and optionally ``title`` and ``source``. JSON: a list of lists
        of words.

    Returns
    -------
    SetList
        The checked list.

    Raises
    ------
    InputError
        When the file is missing or of another form, there is no set, a set has fewer than two words, or a
        word occurs more than once.
    """
    path = Path(path)
    sets = _read(path, SetList, "sets")
    if not sets.sets:
        raise InputError(f"{path}: the file has no set of words; give [[she, he], [woman, man], ...]")
    for number, words in enumerate(sets.sets, 1):
        if len(words) < _LEAST_WORDS:
            listed = ", ".join(words) or "none"
            raise InputError(
                f"{path}: set {number} has {len(words)} word(s) ({listed}); give at least {_LEAST_WORDS}"
            )
    _refuse_repeated(path, [word for words in sets.sets for word in words])
    return sets


def known_words(words: WordList, ids: Mapping[str, int]) -> KnownWords:
    """Find the words of a list in a vocabulary.

    Parameters
    ----------
    words : WordList
        The list.
    ids : mapping of str to int
        Row of every word of the embedding.

    Returns
    -------
    KnownWords
        The present and the missing words.

    Raises
    ------
    InputError
        If fewer than two words are present.
    """
    rows = list(dict.fromkeys(ids[word] for word in words.words if word in ids))
    lost = tuple(word for word in words.words if word not in ids)
    if len(rows) < _LEAST_WORDS:
        raise InputError(
            f"{words.name}: the embedding has {len(rows)} of its {len(words.words)} words"
            f" ({_describe_lost(lost, ids)}); give words that it has"
        )
    return KnownWords(np.array(rows, dtype=np.int64), lost)


def known_sets(sets: SetList, ids: Mapping[str, int]) -> KnownSets:
    """Find the sets of a list in a vocabulary; a set that keeps fewer than two words is dropped.

    Parameters
    ----------
    sets, ids : SetList, mapping of str to int
        The list, and the row of every word of the embedding.

    Returns
    -------
    KnownSets
        The present sets, the missing words and the dropped sets.

    Raises
    ------
    InputError
        When no set is left.
    """
    used: set[int] = set()  # by one set each, also where two words are one in other letters
    rows_of_sets = []
    for words in sets.sets:
        rows = dict.fromkeys(ids[word] for word in words if word in ids)
        rows_of_sets.append(tuple(row for row in rows if row not in used))
        used |= rows.keys()
    lost = tuple(word for words in sets.sets for word in words if word not in ids)
    kept = [rows for rows in rows_of_sets if len(rows) >= _LEAST_WORDS]
    if not kept:
        raise InputError(
            f"{sets.name}: the embedding has no set with {_LEAST_WORDS} words or more"
            f" ({_describe_lost(lost, ids)}); give sets of words that it has"
        )
    pairs = zip(sets.sets, rows_of_sets, strict=True)
    return KnownSets(kept, lost, tuple(words for words, rows in pairs if len(rows) < _LEAST_WORDS))


def match_case(test: WordSets, ids: AnyCase) -> WordSets:
    """Return a test with the capitals of an embedding for words that it has only in other capitals.

    A word keeps its own capitals, and so is lost, if the opposite set contains the other form.
    """
    targets: dict[str, list[str]] = {}
    attributes: dict[str, list[str]] = {}
    for sets, matched in ((test.targets, targets), (test.attributes, attributes)):
        for name, words in sets.items():
            opposite = [form for forms_of_set in matched.values() for form in forms_of_set]
            chosen = (ids.recased.get(word, word) if word in ids else word for word in words)
            pairs = zip(words, chosen, strict=True)
            matched[name] = list(dict.fromkeys(word if form in opposite else form for word, form in pairs))
    return dataclasses.replace(test, targets=targets, attributes=attributes)


def describe_recased(recased: Mapping[str, str]) -> str:
    """Return how many words an embedding has in another case of letters alone, with examples."""
    forms = [f"{word} as {form}" for word, form in recased.items()]
    more = ", ..." if len(forms) > _N_EXAMPLES else ""
    return f"{len(forms)} in another letter case only ({', '.join(forms[:_N_EXAMPLES])}{more})"


def describe_undirected(file: str | os.PathLike, ids: AnyCase) -> list[str]:
    """Return a line that names the words asked about whose vectors are zero, if there are any."""
    words = list(ids.undirected)
    zero = "has a zero vector and counts" if len(words) == 1 else "have zero vectors and count"
    return [f"{file}: {', '.join(words)} {zero} as missing from the lists"] if words else []


def _read(path: Path, kind: type, key: str) -> Any:
    """Return a list from its file: a mapping in YAML, only the entries (the field `key`) in JSON."""
    if path.suffix != JSON_SUFFIX:
        return validate(kind, read_yaml(path), str(path))
    value = _read_json(path)
    is_scored = (
        isinstance(value, list) and value and all(isinstance(entry, list) and entry for entry in value)
    )
    if kind is WordList and is_scored:  # entries such as [profession, score, score]
        value = [entry[0] for entry in value]
    return kind(path.stem, validate(fields_of(kind)[key], value, str(path)))


def _read_json(path: Path) -> Any:
    text = read_text(path, "word list")
    try:
        return parse_json(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: the file is not JSON ({error}); correct it") from error


def _refuse_repeated(path: Path, words: Sequence[str]) -> None:
    word, count = Counter(words).most_common(1)[0]
    if count > 1:
        raise InputError(f"{path}: '{word}' is repeated ({count} times); keep it once")


def _describe_lost(lost: Sequence[str], ids: Mapping[str, int]) -> str:
    """Name missing words, and how the embedding writes the first that differs by case alone."""
    text = f"lost: {', '.join(lost[:10]) or 'none'}" + (
        f" and {len(lost) - 10} more" if len(lost) > 10 else ""
    )
    folded = {word.casefold(): word for word in reversed(lost)}
    for word in ids:
        if word.casefold() in folded:
            return f"{text}; the embedding writes '{folded[word.casefold()]}' as '{word}'"
    return text
