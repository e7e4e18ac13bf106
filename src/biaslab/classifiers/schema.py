"""Read the schema of a table of samples (.yaml): attributes in the order of the inputs, and the label."""

import bisect
import dataclasses
import functools
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Le
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticKnownError

from biaslab.classifiers.domain import Domain, Protected
from biaslab.core import settings
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml
from biaslab.core.settings import DISTINCT, FILLED, PYDANTIC, Number, validate

__all__ = ["Schema", "load_schema"]

REFUSE = "refuse"  # the rule that refuses a row with a value outside its domain
WHITESPACE = "whitespace"
MAX_PROTECTED_VALUES = 1000  # maximum number of combinations of protected values for each sample

_INT32 = np.iinfo(np.int32)
_LISTED = 12  # maximum number of values in a message


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _as_codes(value: Any) -> Any:
    """Return the mapping of a value to its codes in the file, by default the value itself."""
    if isinstance(value, Mapping) and len(value) != 1:
        raise ValueError("names no value or several values")
    return {value: [value]} if isinstance(value, str | int) else value


_Name = Annotated[str, "a name without commas", Field(pattern="^[^\\s,]([^\\t\\n\\r,]*[^\\s,])?$")]
_Text = Annotated[str, BeforeValidator(_as_text), "as in the file; yes, no, true and false in quotes"]
_Codes = Annotated[tuple[_Text, ...], "the codes in the file that mean this value", FILLED]
_Value = Annotated[
    dict[_Text, _Codes],
    BeforeValidator(_as_codes),
    "a value, or NAME: [codes in the file]; yes, no, true and false in quotes",
]
_Code = Annotated[settings.Integer, Ge(_INT32.min), Le(_INT32.max)]
_Coded = Annotated[StrictBool, "whether the file already holds the encoded number"]
_DIGITS = re.compile(r"[+-]?\d{1,18}")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True, config=PYDANTIC)
class Integer:
    """A number, which may be divided and clipped: ``number // divide_by``."""

    name: _Name
    column: Annotated[_Name, "the column of the file; by default the attribute's name"]
    low: Annotated[_Code, "the least encoded value"]
    high: Annotated[_Code, "the greatest encoded value"]
    divide_by: Annotated[_Code, Ge(1), "the divisor of the number; the quotient is rounded down"] = 1
    clip: Annotated[StrictBool, "whether low and high include all values beyond them"] = False
    coded: _Coded = False

    def code(self, text: str) -> int:
        """Return the code of a field; the message of a ValueError continues a sentence about the field."""
        number = _whole(text)
        if self.coded:
            return number
        code = number // self.divide_by
        return min(max(code, self.low), self.high) if self.clip else code

    def clips(self, text: str) -> bool:
        """Return whether a field is outside the domain, so that `clip` moves it to the nearest bound."""
        return self.clip and not self.coded and not self.low <= _whole(text) // self.divide_by <= self.high

    def cell(self, code: int) -> int:
        """Return the lowest number of the table with a code."""
        return code if self.coded else code * self.divide_by

    def word(self, code: int) -> str:
        """Return the number or the range of numbers of a code."""
        first = code * self.divide_by
        last = first + self.divide_by - 1
        if self.clip and code in (self.low, self.high) and self.low < self.high:
            return f"up to {last}" if code == self.low else f"{first} or more"
        if first == last:
            return str(first)
        return f"{first} to {last}" if first < 0 else f"{first}-{last}"


@dataclasses.dataclass(frozen=True)
class Category:
    """One of several values, encoded by its position."""

    name: str
    column: str  # of the file
    values: tuple[str, ...]  # names of the values, in order
    codes: Mapping[str, int]  # the code of each text in the file; several texts may mean one value
    coded: bool = False  # whether the file already has the code
    low = 0

    @property
    def high(self) -> int:
        """The code of the last value."""
        return len(self.values) - 1

    def code(self, text: str) -> int:
        """Return the code of a value, 0 for the first."""
        if self.coded:
            return _whole(text)
        if text not in self.codes:
            near = suggest(text, self.codes)
            raise ValueError(f"is not one of the values {_listed(list(self.codes))}{near}")
        return self.codes[text]

    def cell(self, code: int) -> str | int:
        """Return the first text of the table for a value, or a number if all texts are integers."""
        if self.coded:
            return code
        text = next((text for text, place in self.codes.items() if place == code), self.values[code])
        return int(text) if all(map(_DIGITS.fullmatch, self.codes)) else text

    def word(self, code: int) -> str:
        """Return the name of a value."""
        return self.values[code] if 0 <= code <= self.high else f"{code} (no value)"


@dataclass(frozen=True, config=PYDANTIC)
class Bins:
    """A number, encoded by its bin; the first and the last bin are open."""

    name: _Name
    column: Annotated[_Name, "the column of the file; by default the attribute's name"]
    edges: Annotated[
        tuple[Annotated[Number, "where a bin begins"], ...],
        "rising numbers at which the second bin and each later one begin",
        FILLED,
        DISTINCT,
    ]
    low = 0

    @property
    def high(self) -> int:
        """The number of the last bin."""
        return len(self.edges)

    def code(self, text: str) -> int:
        """Return the bin of a number, 0 for the first."""
        return bisect.bisect_right(self.edges, _finite(text))

    def cell(self, code: int) -> float:
        """Return the beginning of a bin; for the first bin, the beginning of the second bin minus 1."""
        return float(self.edges[0] - 1 if code <= 0 else self.edges[min(code, self.high) - 1])

    def word(self, code: int) -> str:
        """Return the numbers in a bin."""
        if code <= 0:
            return f"below {_plain(self.edges[0])}"
        if code >= self.high:
            return f"{_plain(self.edges[-1])} or more"
        return f"{_plain(self.edges[code - 1])} to below {_plain(self.edges[code])}"


Attribute = Integer | Category | Bins


@dataclass(frozen=True, config=PYDANTIC)
class _Categories:
    """The keys of a category."""

    name: _Name
    column: Annotated[_Name, "the column of the file; by default the attribute's name"]
    values: Annotated[
        tuple[_Value, ...], "the values in order, each a text, or NAME: [codes of the file]", FILLED
    ]
    coded: _Coded = False


@dataclass(frozen=True, config=PYDANTIC)
class _Label:
    """The column of the label, and its classes."""

    column: _Name
    classes: Annotated[tuple[_Value, ...], "the classes in the order of the classifier's outputs", FILLED]
    coded: _Coded = False


_KINDS = {"integer": Integer, "category": _Categories, "bins": Bins}


@dataclass(frozen=True, config=PYDANTIC)
class _Kind:
    """The keys of every attribute."""

    name: _Name
    kind: Annotated[Literal["integer", "category", "bins"], "how values become integers"]


def _attribute(entry: Any) -> Attribute:
    if not isinstance(entry, Mapping):
        raise PydanticKnownError("dict_type")
    where = f"attributes: {entry['name']}" if isinstance(entry.get("name"), str) else "attributes"
    common = validate(_Kind, {key: entry[key] for key in ("name", "kind") if key in entry}, where)
    keys = {"column": common.name} | {key: value for key, value in entry.items() if key != "kind"}
    attribute = validate(_KINDS[common.kind], keys, where)
    if isinstance(attribute, _Categories):
        return _category(common.name, attribute.column, attribute.values, attribute.coded, f"{where}: values")
    edges = getattr(attribute, "edges", ())
    if any(a >= b for a, b in itertools.pairwise(edges)):
        raise InputError(f"{where}: edges: {_listed(map(_plain, edges))} do not rise; sort them")
    return attribute


def _label(entry: Any) -> Category:
    label = validate(_Label, entry, "label")
    return _category(label.column, label.column, label.classes, label.coded, "label.classes")


def _category(
    name: str, column: str, entries: Sequence[Mapping[str, Sequence[str]]], coded: bool, where: str
) -> Category:
    values: list[str] = []
    codes: dict[str, int] = {}
    for place, (value, texts) in enumerate(item for entry in entries for item in entry.items()):
        if value in values:
            raise InputError(f"{where}: '{value}' appears twice; delete one")
        values.append(value)
        for text in map(str.strip, texts):  # as fields are stripped
            if codes.setdefault(text, place) != place:
                raise InputError(f"{where}: the code '{text}' means two values; keep one")
    return Category(name, column, tuple(values), codes, coded)


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Schema:
    """The columns of a table and their meaning."""

    attributes: Annotated[
        tuple[Annotated[Attribute, BeforeValidator(_attribute), "name, kind and the keys of that kind"], ...],
        "the attributes in the order of the classifier's inputs",
        FILLED,
    ]
    label: Annotated[Category, BeforeValidator(_label), "column, classes"]
    protected: Annotated[tuple[_Name, ...], "names of the protected attributes", FILLED, DISTINCT]
    separator: Annotated[
        Literal[",", ";", "|", "tab", "whitespace"],
        "the separator of fields",
        AfterValidator(lambda name: "\t" if name == "tab" else name),
    ] = ","
    header: Annotated[StrictBool, "whether the first line names the columns"] = True
    columns: Annotated[
        tuple[_Name, ...], "names of all columns, in place of the header's", FILLED, DISTINCT
    ] = ()
    comment: Annotated[str, "the prefix of lines that are not rows", FILLED] = ""
    missing: Annotated[
        tuple[_Text, ...], "texts that mark a missing value, unless they are values of the attribute"
    ] = ()
    outside: Annotated[Literal["refuse", "keep"], "what to do with values outside the domain"] = "refuse"
    last_line_open: Annotated[StrictBool, "whether the published file ends inside its last line"] = False
    title: Annotated[str, "the description of the table"] = ""
    source: Annotated[str, "its source and its encoding"] = ""
    name: Annotated[str, "the schema's file, for messages"] = ""

    @functools.cached_property
    def domain(self) -> Domain:
        """The domain of the encoded samples."""
        low, high = (
            np.array([getattr(a, end) for a in self.attributes], np.int32) for end in ("low", "high")
        )
        return Domain(tuple(a.name for a in self.attributes), low, high)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.label.values

    def protect(self, names: Sequence[str]) -> Protected:
        """Return attributes that may vary together within a pair.

        Parameters
        ----------
        names : sequence of str
            Distinct names of attributes.

        Returns
        -------
        Protected
            The attributes with all combinations of their values, at most 1000.

        Raises
        ------
        InputError
            If a name is unknown or appears twice, or if there are too many combinations of values.
        """
        all_names = self.domain.names
        if unknown := next((name for name in names if name not in all_names), None):
            near = suggest(unknown, all_names) or f"; there are {', '.join(all_names)}"
            raise InputError(f"{self.name}: there is no attribute '{unknown}'{near}")
        if len(set(names)) < len(names):
            raise InputError(f"protected attributes [{', '.join(names)}]: name at least one, and each once")
        columns = self.domain.columns(names)
        sizes = [int(self.domain.high[c]) - int(self.domain.low[c]) + 1 for c in columns]
        if (n := int(np.prod(sizes, dtype=object))) > MAX_PROTECTED_VALUES:
            raise InputError(
                f"{self.name}: protected {', '.join(names)} has {n} values, more than {MAX_PROTECTED_VALUES};"
                " encode it with divide_by or as bins"
            )
        return Protected.of(self.domain, columns)


def load_schema(path: str | os.PathLike) -> Schema:
    """Read the schema of a table.

    Parameters
    ----------
    path : path-like
        A YAML file with the keys ``attributes``, ``label``, ``protected`` and optionally ``separator``,
        ``header``, ``columns``, ``comment``, ``missing``, ``outside``, ``last_line_open``, ``title`` and
        ``source``.

    Returns
    -------
    Schema

    Raises
    ------
    InputError
        For the first problem, with file, key and valid values.
    """
    value = read_yaml(Path(path))
    try:
        if "name" in value:
            raise InputError("name: unknown key; remove it, because messages name the file")
        schema = validate(Schema, value | {"name": str(path)})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    for problem in _contradictions(schema):
        raise InputError(f"{path}: {problem}")
    for name in schema.protected:
        schema.protect([name])
    return schema


def _contradictions(schema: Schema) -> Iterator[str]:
    """Yield the problems that a JSON schema cannot express."""
    names = [a.name for a in schema.attributes]
    if twice := next((n for n in names if names.count(n) > 1), None):
        yield f"attributes: two attributes are named '{twice}'; rename one"
    if not (schema.header or schema.columns):
        yield "columns: the key is missing; without a header, name all columns here"
    for attribute in (*schema.attributes, schema.label):
        if schema.columns and attribute.column not in schema.columns:
            yield f"columns: has no '{attribute.column}'{suggest(attribute.column, schema.columns)}; add it"
        if attribute.low > attribute.high:
            yield f"attributes: {attribute.name}: low exceeds high; exchange them"
    if taken := next((a.name for a in schema.attributes if a.column == schema.label.column), None):
        yield f"attributes: {taken}: is the column of the label; leave it out"
    if len(schema.classes) < 2:
        yield "label.classes: there is one class; name at least two"
    for name in schema.protected:
        if name not in names:
            yield f"protected: there is no attribute '{name}'{suggest(name, names)}; name one of them"
        elif (a := schema.attributes[names.index(name)]).low == a.high:
            yield f"protected: '{name}' has a single value, so no comparison is possible; remove it"


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = _finite(text)
    if not number.is_integer():
        raise ValueError("is not an integer; describe the attribute as bins")
    return int(number)


def _finite(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not np.isfinite(number):
        point = text.replace(",", ".")
        hint = f" (write a decimal point: {point})" if _DECIMAL_COMMA.fullmatch(text) else ""
        raise ValueError(f"is not a number{hint}")
    return number


def _plain(number: float) -> str:
    return str(int(number)) if number.is_integer() else str(number)


def _listed(words: Sequence[str] | Iterator[str]) -> str:
    words = list(words)
    more = f" and {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return ", ".join(words[:_LISTED]) + more
