"""The description of a table of samples (.yaml): attributes in the order of the inputs, and the label."""

import bisect
import functools
import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import read_yaml
from biaslab.core.schema import check_schema

__all__ = ["Schema", "load_schema"]

REFUSE, KEEP = "refuse", "keep"
"""What to do with a row that has a value outside its domain."""
WHITESPACE = "whitespace"
MAX_PROTECTED_VALUES = 1000
"""The most combinations of protected values that every sample is checked with."""

_INT32 = np.iinfo(np.int32)
_LISTED = 12  # values that a message lists
_NAME = {
    "type": "string",
    "pattern": "^[^\\s,]([^\\t\\n\\r,]*[^\\s,])?$",
    "description": "a name without commas",
}
_TEXT = {"type": ["string", "integer"], "description": "as in the file; yes, no, true and false in quotes"}
_FLAG = {"type": "boolean", "description": "without quotes"}
_NUMBER = {"type": "integer", "minimum": int(_INT32.min), "maximum": int(_INT32.max)}
_VALUES = {
    "type": "array",
    "minItems": 1,
    "description": "the values in order, each a text, or NAME: [codes in the file]",
    "items": {
        "type": ["string", "integer", "object"],
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {
            "type": "array",
            "items": _TEXT,
            "minItems": 1,
            "description": "the codes in the file that mean this value",
        },
        "description": "a value, or NAME: [codes in the file]; yes, no, true and false in quotes",
    },
}
_CODED = _FLAG | {"description": "whether the file already holds the encoded number"}
_COLUMN = _NAME | {"description": "the column of the file; by default the attribute's name"}
_KIND_KEYS = {
    "integer": {
        "low": _NUMBER | {"description": "the least encoded value"},
        "high": _NUMBER | {"description": "the greatest encoded value"},
        "divide_by": _NUMBER
        | {"minimum": 1, "description": "the divisor of the number; the quotient is rounded down"},
        "clip": _FLAG | {"description": "whether low and high include all values beyond them"},
        "coded": _CODED,
    },
    "category": {"values": _VALUES, "coded": _CODED},
    "bins": {
        "edges": {
            "type": "array",
            "items": {"type": "number", "description": "where a bin begins"},
            "minItems": 1,
            "uniqueItems": True,
            "description": "rising numbers at which the second bin and each later one begin",
        }
    },
}
_KIND_REQUIRED = {"integer": ("low", "high"), "category": ("values",), "bins": ("edges",)}
_ATTRIBUTE = {
    "name": _NAME,
    "kind": {"enum": list(_KIND_KEYS), "description": "how values become integers"},
    "column": _COLUMN,
}
_LABEL = {
    "type": "object",
    "additionalProperties": False,
    "description": "column, classes",
    "properties": {
        "column": _NAME,
        "classes": _VALUES | {"description": "the classes in the order of the classifier's outputs"},
        "coded": _CODED,
    },
}
_TABLE = {
    "type": "object",
    "additionalProperties": False,
    "description": "attributes, label, protected",
    "properties": {
        "title": {"type": "string", "description": "the description of the table"},
        "source": {"type": "string", "description": "its source and its encoding"},
        "separator": {
            "enum": [",", ";", "|", "tab", WHITESPACE],
            "description": "the separator of fields",
        },
        "header": _FLAG | {"description": "whether the first line names the columns; true by default"},
        "last_line_open": _FLAG
        | {"description": "whether the published file ends inside its last line; false by default"},
        "columns": {
            "type": "array",
            "items": _NAME,
            "minItems": 1,
            "uniqueItems": True,
            "description": "names of all columns, in place of the header's",
        },
        "comment": {
            "type": "string",
            "minLength": 1,
            "description": "the prefix of lines that are not rows",
        },
        "missing": {
            "type": "array",
            "items": _TEXT,
            "description": "texts that mark a missing value; rows with one are skipped",
        },
        "outside": {"enum": [REFUSE, KEEP], "description": "what to do with values outside the domain"},
        "protected": {
            "type": "array",
            "items": _NAME,
            "minItems": 1,
            "uniqueItems": True,
            "description": "names of the protected attributes",
        },
        "attributes": {
            "type": "array",
            "items": {"type": "object", "description": "name, kind and the keys of that kind"},
            "minItems": 1,
            "description": "the attributes in the order of the classifier's inputs",
        },
        "label": _LABEL,
    },
}
_DIGITS = re.compile(r"[+-]?\d{1,18}")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Integer:
    """A number, which may be divided and clipped: ``number // divide_by``."""

    name: str
    column: str  # of the file
    low: int  # the domain after encoding, both ends inside
    high: int
    divide_by: int = 1
    clip: bool = False  # whether `low` and `high` stand for all that is beyond them, too
    coded: bool = False  # whether the file already holds the encoded number

    def code(self, text: str) -> int:
        """Return the encoded number of a field; without `clip` it may lie outside the domain.

        Like those of the other kinds it raises a ValueError whose message ends a sentence that begins with
        the field.
        """
        number = _whole(text)
        if self.coded:
            return number
        code = number // self.divide_by
        return min(max(code, self.low), self.high) if self.clip else code

    def clips(self, text: str) -> bool:
        """Return whether a field is outside the domain, so that `clip` moves it to the nearest bound."""
        return self.clip and not self.coded and not self.low <= _whole(text) // self.divide_by <= self.high

    def cell(self, code: int) -> int:
        """Return a number of the table that is encoded so: the lowest, where it stands for several."""
        return code if self.coded else code * self.divide_by

    def word(self, code: int) -> str:
        """Return the number, or the range of numbers, that an encoded number stands for."""
        first = code * self.divide_by
        last = first + self.divide_by - 1
        if self.clip and code in (self.low, self.high) and self.low < self.high:
            return f"up to {last}" if code == self.low else f"{first} or more"
        if first == last:
            return str(first)
        return f"{first} to {last}" if first < 0 else f"{first}-{last}"


@dataclass(frozen=True)
class Category:
    """One of several values, encoded by its place."""

    name: str
    column: str  # of the file
    values: tuple[str, ...]  # their names, in order
    codes: Mapping[str, int]  # what the file writes for each; several may mean one value
    coded: bool = False  # whether the file already holds the encoded number
    low = 0

    @property
    def high(self) -> int:
        """The last value's place."""
        return len(self.values) - 1

    def code(self, text: str) -> int:
        """Return the place of a value, 0 for the first."""
        if self.coded:
            return _whole(text)
        if text not in self.codes:
            near = suggest(text, self.codes)
            raise ValueError(f"is none of the values {_listed(list(self.codes))}{near}")
        return self.codes[text]

    def cell(self, code: int) -> str | int:
        """Return what the table writes for a value, the first of several; whole numbers as numbers."""
        if self.coded:
            return code
        text = next((text for text, place in self.codes.items() if place == code), self.values[code])
        return int(text) if all(map(_DIGITS.fullmatch, self.codes)) else text

    def word(self, code: int) -> str:
        """Return the name of a value."""
        return self.values[code] if 0 <= code <= self.high else f"{code} (no value)"


@dataclass(frozen=True)
class Bins:
    """A number, encoded by the bin that it lies in; the first and the last bin are open."""

    name: str
    column: str  # of the file
    edges: tuple[float, ...]  # rising; where the second bin and each later one begin
    low = 0

    @property
    def high(self) -> int:
        """The last bin's number."""
        return len(self.edges)

    def code(self, text: str) -> int:
        """Return the bin of a number, 0 for the first."""
        return bisect.bisect_right(self.edges, _finite(text))

    def cell(self, code: int) -> float:
        """Return a number in a bin: where it begins; of the first one, which has no beginning, one less."""
        return float(self.edges[0] - 1 if code <= 0 else self.edges[min(code, self.high) - 1])

    def word(self, code: int) -> str:
        """Return the numbers in a bin."""
        if code <= 0:
            return f"below {_plain(self.edges[0])}"
        if code >= self.high:
            return f"{_plain(self.edges[-1])} or more"
        return f"{_plain(self.edges[code - 1])} to below {_plain(self.edges[code])}"


Attribute = Integer | Category | Bins


@dataclass(frozen=True)
class Schema:
    """How a table is read.

    Attributes
    ----------
    name : str
        The schema's file, for messages.
    attributes : tuple of Attribute
        In the order of the classifier's inputs.
    label : Category
        The column of the label; its values are the classes in the order of the classifier's outputs.
    protected : tuple of str
        Names of the protected attributes.
    separator : str
        One character, or `WHITESPACE`.
    header : bool
        Whether the first line names the columns.
    columns : tuple of str
        Names of all columns in place of the header's; empty where the header's hold.
    comment : str
        What a line that is no row begins with; empty where there is none.
    missing : frozenset of str
        Texts that stand for no value, unless they are a value of the attribute.
    outside : str
        `REFUSE` or `KEEP`.
    last_line_open : bool
        Whether the whole file ends without the end of its last line; any other such file may be cut.
    """

    name: str
    attributes: tuple[Attribute, ...]
    label: Category
    protected: tuple[str, ...]
    separator: str = ","
    header: bool = True
    columns: tuple[str, ...] = ()
    comment: str = ""
    missing: frozenset[str] = frozenset()
    outside: str = REFUSE
    last_line_open: bool = False

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
            Names of attributes, each once.

        Returns
        -------
        Protected
            The attributes with all combinations of their values, at most 1000.

        Raises
        ------
        InputError
            When a name is unknown or there twice, or when they have too many combinations of values.
        """
        known = self.domain.names
        if unknown := next((name for name in names if name not in known), None):
            near = suggest(unknown, known) or f"; there are {', '.join(known)}"
            raise InputError(f"{self.name}: there is no attribute '{unknown}'{near}")
        columns = self.domain.columns(names)
        sizes = [int(self.domain.high[c]) - int(self.domain.low[c]) + 1 for c in columns]
        if (n := int(np.prod(sizes, dtype=object))) > MAX_PROTECTED_VALUES:
            raise InputError(
                f"{self.name}: protected {', '.join(names)} has {n} values, more than {MAX_PROTECTED_VALUES};"
                " encode it with divide_by or as bins"
            )
        return Protected.of(self.domain, columns)


def load_schema(path: str | os.PathLike) -> Schema:
    """Read the description of a table.

    Parameters
    ----------
    path : path-like
        A YAML file with the keys ``attributes``, ``label``, ``protected`` and, where defaults do not hold,
        ``separator``, ``header``, ``columns``, ``comment``, ``missing``, ``outside``, ``last_line_open``,
        ``title``, ``source``.

    Returns
    -------
    Schema
        The description.

    Raises
    ------
    InputError
        For the first thing that is wrong: file, key, and what may stand there.
    """
    value = read_yaml(Path(path))
    check_schema(value, _TABLE, str(path))
    _require(value, ("attributes", "label", "protected"), str(path))
    _require(value["label"], ("column", "classes"), f"{path}: label")
    label = value["label"]
    schema = Schema(
        name=str(path),
        attributes=tuple(_attribute(entry, f"{path}: attributes") for entry in value["attributes"]),
        label=_category(label["column"], label["column"], label["classes"], label, f"{path}: label.classes"),
        protected=tuple(value["protected"]),
        separator="\t" if value.get("separator") == "tab" else value.get("separator", ","),
        header=value.get("header", True),
        columns=tuple(value.get("columns", ())),
        comment=value.get("comment", ""),
        missing=frozenset(map(str, value.get("missing", ()))),
        outside=value.get("outside", REFUSE),
        last_line_open=value.get("last_line_open", False),
    )
    for problem in _contradictions(schema):
        raise InputError(f"{path}: {problem}")
    for name in schema.protected:
        schema.protect([name])
    return schema


def _contradictions(schema: Schema) -> Iterator[str]:
    """Yield what no JSON schema can say."""
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


def _attribute(entry: Mapping[str, Any], where: str) -> Attribute:
    name = entry.get("name")
    where = f"{where}: {name}" if isinstance(name, str) else where
    _require(entry, ("name", "kind"), where)
    kind = entry["kind"] if entry["kind"] in list(_KIND_KEYS) else None
    properties = _ATTRIBUTE | (_KIND_KEYS[kind] if kind else {})
    rules = {"type": "object", "additionalProperties": not kind, "properties": properties}
    check_schema(dict(entry), rules, where)
    _require(entry, _KIND_REQUIRED[kind], where)
    column = entry.get("column", name)
    if kind == "category":
        return _category(name, column, entry["values"], entry, f"{where}: values")
    if kind == "bins":
        edges = tuple(map(float, entry["edges"]))
        if any(a >= b for a, b in itertools.pairwise(edges)):
            raise InputError(f"{where}: edges: {_listed(map(_plain, edges))} do not rise; sort them")
        return Bins(name, column, edges)
    return Integer(column=column, **{key: entry[key] for key in entry if key not in ("kind", "column")})


def _category(
    name: str, column: str, entries: Sequence[Any], more: Mapping[str, Any], where: str
) -> Category:
    """Build a category from its values: texts, or mappings from a name to its codes in the file."""
    values, codes = [], {}
    for place, entry in enumerate(entries):
        value, texts = next(iter(entry.items())) if isinstance(entry, Mapping) else (entry, [entry])
        if str(value) in values:
            raise InputError(f"{where}: '{value}' appears twice; delete one")
        values.append(str(value))
        for text in (str(text).strip() for text in texts):  # as fields are read
            if codes.setdefault(text, place) != place:
                raise InputError(f"{where}: the code '{text}' means two values; keep one")
    return Category(name, column, tuple(values), codes, more.get("coded", False))


def _require(value: Mapping, keys: Sequence[str], where: str) -> None:
    if missing := next((key for key in keys if key not in value), None):
        raise InputError(f"{where}: the key '{missing}' is missing; it needs {', '.join(keys)}")


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
