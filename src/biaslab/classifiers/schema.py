"""Read the schema of a table of samples (.yaml): attributes in the order of the inputs, and the label."""

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
"""Rules for a row with a value outside its domain."""
WHITESPACE = "whitespace"
MAX_PROTECTED_VALUES = 1000
"""Maximum number of combinations of protected values for each sample."""

_INT32 = np.iinfo(np.int32)
_LISTED = 12  # maximum number of values in a message


def _list(items: Mapping[str, Any], description: str, **rules: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, "minItems": 1, "description": description} | rules


def _flag(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


_NAME = {
    "type": "string",
    "pattern": "^[^\\s,]([^\\t\\n\\r,]*[^\\s,])?$",
    "description": "a name without commas",
}
_TEXT = {"type": ["string", "integer"], "description": "as in the file; yes, no, true and false in quotes"}
_NUMBER = {"type": "integer", "minimum": int(_INT32.min), "maximum": int(_INT32.max)}
_VALUE = {
    "type": ["string", "integer", "object"],
    "minProperties": 1,
    "maxProperties": 1,
    "additionalProperties": _list(_TEXT, "the codes in the file that mean this value"),
    "description": "a value, or NAME: [codes in the file]; yes, no, true and false in quotes",
}
_CODED = _flag("whether the file already holds the encoded number")
_KIND_KEYS = {
    "integer": {
        "low": _NUMBER | {"description": "the least encoded value"},
        "high": _NUMBER | {"description": "the greatest encoded value"},
        "divide_by": _NUMBER
        | {"minimum": 1, "description": "the divisor of the number; the quotient is rounded down"},
        "clip": _flag("whether low and high include all values beyond them"),
        "coded": _CODED,
    },
    "category": {
        "values": _list(_VALUE, "the values in order, each a text, or NAME: [codes in the file]"),
        "coded": _CODED,
    },
    "bins": {
        "edges": _list(
            {"type": "number", "description": "where a bin begins"},
            "rising numbers at which the second bin and each later one begin",
            uniqueItems=True,
        )
    },
}
_KIND_REQUIRED = {"integer": ("low", "high"), "category": ("values",), "bins": ("edges",)}
_ATTRIBUTE = {
    "name": _NAME,
    "kind": {"enum": list(_KIND_KEYS), "description": "how values become integers"},
    "column": _NAME | {"description": "the column of the file; by default the attribute's name"},
}
_LABEL = {
    "type": "object",
    "additionalProperties": False,
    "description": "column, classes",
    "properties": {
        "column": _NAME,
        "classes": _list(_VALUE, "the classes in the order of the classifier's outputs"),
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
        "header": _flag("whether the first line names the columns; true by default"),
        "last_line_open": _flag("whether the published file ends inside its last line; false by default"),
        "columns": _list(_NAME, "names of all columns, in place of the header's", uniqueItems=True),
        "comment": {"type": "string", "minLength": 1, "description": "the prefix of lines that are not rows"},
        "missing": _list(_TEXT, "texts that mark a missing value; rows with one are skipped", minItems=0),
        "outside": {"enum": [REFUSE, KEEP], "description": "what to do with values outside the domain"},
        "protected": _list(_NAME, "names of the protected attributes", uniqueItems=True),
        "attributes": _list(
            {"type": "object", "description": "name, kind and the keys of that kind"},
            "the attributes in the order of the classifier's inputs",
        ),
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
    low: int  # the domain after encoding, including both ends
    high: int
    divide_by: int = 1
    clip: bool = False  # whether `low` and `high` include all values beyond them
    coded: bool = False  # whether the file already has the encoded number

    def code(self, text: str) -> int:
        """Return the code of a field; without `clip`, it may lie outside the domain.

        For all types of attributes, the message of a ValueError continues a sentence that begins with the
        field.
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


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class Bins:
    """A number, encoded by its bin; the first and the last bin are open."""

    name: str
    column: str  # of the file
    edges: tuple[float, ...]  # ascending, the beginnings of the second bin and all later bins
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


@dataclass(frozen=True)
class Schema:
    """The columns of a table and their meaning.

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
        Names of all columns, if they replace the header's; else empty.
    comment : str
        The prefix of lines that are no rows, or empty.
    missing : frozenset of str
        Texts that mark a missing value, unless they are values of the attribute.
    outside : str
        `REFUSE` or `KEEP`.
    last_line_open : bool
        Whether the complete file ends without a line end. Other files without a line end may be cut.
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
    check_schema(value, _TABLE, str(path))
    _require(value, ("attributes", "label", "protected"), str(path))
    _require(value["label"], ("column", "classes"), f"{path}: label")
    label = value["label"]
    options = {key: value[key] for key in ("header", "comment", "outside", "last_line_open") if key in value}
    schema = Schema(
        name=str(path),
        attributes=tuple(_attribute(entry, f"{path}: attributes") for entry in value["attributes"]),
        label=_category(label["column"], label["column"], label["classes"], label, f"{path}: label.classes"),
        protected=tuple(value["protected"]),
        separator="\t" if value.get("separator") == "tab" else value.get("separator", ","),
        columns=tuple(value.get("columns", ())),
        missing=frozenset(map(str, value.get("missing", ()))),
        **options,
    )
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
        for text in (str(text).strip() for text in texts):  # as fields are stripped
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
