"""Protected words: the values of a sensitive feature in texts (Zhang et al. 2021, Section 5.1)."""

import os
import re
from dataclasses import field
from pathlib import Path
from typing import Annotated

from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.files import read_text, read_yaml
from biaslab.core.settings import PYDANTIC, validate
from biaslab.text.words import split_words

EVERY_TEXT = "all"
"""The name of the feature for all texts in results."""

_HEADER = ["feature", "values"]
_FEATURE = re.compile(r"[a-z0-9][a-z0-9_-]*")
_Feature = Annotated[str, "the name of a feature, in quotes if need be"]
_Word = Annotated[str, "a word in lower case, in quotes if need be"]
_Words = Annotated[list[_Word], "the values of a feature; yes, no, true and false in quotes"]

Rows = list[tuple[str, str, list[str]]]
"""Position, name and values of each feature."""


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class _File:
    """Sensitive features."""

    features: Annotated[dict[_Feature, _Words], "the values of each feature"] = field(default_factory=dict)
    title: Annotated[str, "what the list is"] = ""
    source: Annotated[str, "where it comes from"] = ""


def read_terms(path: str | os.PathLike) -> dict[str, tuple[str, ...]]:
    """Read the values of one or several sensitive features, each one word, in the order of the file.

    ``.csv`` as published by the authors, ``.yaml`` as in `_File`, or ``.txt`` with the values of one feature,
    which is named after the file.
    """
    path = Path(path)
    if path.suffix == ".csv":
        rows = _read_csv(path)
    elif path.suffix in (".yaml", ".yml"):
        features = validate(_File, read_yaml(path), str(path)).features
        rows = [(f"{path}: features.{name}", name, values) for name, values in features.items()]
    elif path.suffix == ".txt":
        lines = [line.strip() for line in read_text(path, "term list").splitlines()]
        rows = [(str(path), path.stem, [line for line in lines if line and not line.startswith("#")])]
    else:
        raise InputError(f"{path}: unknown format of a term list; use a file .csv, .yaml or .txt")
    if not rows:
        raise InputError(f"{path}: the file has no features; write at least one feature and its values")
    terms: dict[str, tuple[str, ...]] = {}
    for where, feature, values in rows:
        if not _FEATURE.fullmatch(feature):
            raise InputError(
                f"{where}: a feature cannot be named '{feature}'; use letters a to z, digits, - and _ only"
            )
        if feature == EVERY_TEXT:
            raise InputError(f"{where}: '{EVERY_TEXT}' stands for every text in results; rename the feature")
        if feature in terms:
            raise InputError(f"{where}: the feature '{feature}' is repeated; remove one of its lines")
        _check_values(feature, values, where)
        terms[feature] = tuple(values)
    return terms


def _read_csv(path: Path) -> Rows:
    texts = read_text(path, "term list").splitlines()
    lines = [(i, [field.strip() for field in line.split(",")]) for i, line in enumerate(texts, 1)]
    lines = [(i, fields) for i, fields in lines if any(fields)]
    if lines and lines[0][1] != _HEADER:
        raise InputError(f"{path}, line {lines[0][0]}: the header is not 'feature, values'; insert it")
    return [(f"{path}, line {i}", fields[0], fields[1:]) for i, fields in lines[1:]]


def _check_values(feature: str, values: list[str], where: str) -> None:
    for i, value in enumerate(values):
        if value != value.lower():
            raise InputError(f"{where}: '{value}' has capital letters; write '{value.lower()}'")
        if split_words(value) != [value]:
            raise InputError(
                f"{where}: '{value}' is not one word; write only letters and digits, with - or ' inside"
            )
        if value in values[:i]:
            raise InputError(f"{where}: the value '{value}' is repeated; remove one")
    if len(values) < 2:
        raise InputError(
            f"{where}: the feature '{feature}' has {len(values)} value{'' if len(values) == 1 else 's'}; "
            "write at least two, to exchange them"
        )
