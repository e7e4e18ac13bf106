"""Define each setting once, as a field of a pydantic dataclass: type, default, bounds and description.

The description is a text in the annotation: ``epochs: Annotated[Count, "passes over the corpus"] = 5``. The
fields determine the text of ``config.yaml``, the tables of keys in the documentation, the options of
commands, the arguments of steps, and the messages for bad input.
"""

import dataclasses
import inspect
import json
import math
import re
import types
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, with_config
from pydantic_core import PydanticKnownError
from typing_extensions import TypedDict, is_typeddict

from biaslab.core.errors import InputError, suggest


def key_of(name: str) -> str:
    """Return the key of a field: ``lambda`` for ``lambda_``, because Python reserves the word."""
    return name.removesuffix("_")


def _check_number(value: Any, limit: float = math.inf) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < limit:
        raise PydanticKnownError("float_type")
    return value


def _check_filled(values: Sequence) -> Sequence:
    if not values:
        raise ValueError("is empty")
    return values


def _check_distinct(values: Sequence) -> Sequence:
    if len(set(values)) < len(values):
        raise ValueError("the list names something twice")
    return values


PYDANTIC = ConfigDict(
    extra="forbid",
    alias_generator=key_of,
    validate_by_name=True,
    regex_engine="python-re",
    arbitrary_types_allowed=True,
)
"""The options of every pydantic dataclass."""

Integer = Annotated[int, BeforeValidator(partial(_check_number, limit=2**63))]
Number = Annotated[float, BeforeValidator(_check_number)]
Count = Annotated[Integer, Ge(1)]
Natural = Annotated[Integer, Ge(0)]
Several = Annotated[Integer, Ge(2)]
Positive = Annotated[Number, Gt(0)]
NotNegative = Annotated[Number, Ge(0)]
Share = Annotated[Positive, Le(1)]
FILLED = AfterValidator(_check_filled)
DISTINCT = AfterValidator(_check_distinct)
ONE_OR_MORE = FILLED, DISTINCT
SEED = 1
Seed = Annotated[Natural, "seed of the whole run, from which every random stream derives"]

_NAMES = {
    **dict.fromkeys((dict, Mapping), "a mapping (key: value)"),
    **dict.fromkeys((list, tuple, Sequence), "a list"),
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    Path: "a path",
}
_PROBLEMS = {
    "literal_error": "{shown} is not known{near}",
    "greater_than_equal": "{shown} is less than {ge}",
    "greater_than": "{shown} is not more than {gt}",
    "less_than_equal": "{shown} is more than {le}",
    "less_than": "{shown} is not less than {lt}",
    "string_pattern_mismatch": "{shown} breaks the rule pattern: {pattern}",
    "value_error": "{error}",
}
_UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
_EXPONENT = re.compile(r"([+-]?[0-9]+\.?[0-9]*)[eE]([+-]?[0-9]+)")


class Comments(dict):
    """Comments of ``config.yaml`` on the keys of a mapping, in its annotation."""


class Setting(NamedTuple):
    """The meaning of an annotation."""

    type: Any  # without description, rules and None
    about: str  # the description, with the unit
    has_null: bool
    rules: list[Any]  # further parts of the annotation, for example `annotated_types.Ge`

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that the setting may have; empty without a list of values."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()

    @property
    def kind(self) -> type:
        """The class of values: dict for groups of settings."""
        origin = get_origin(self.type) or self.type
        return dict if dataclasses.is_dataclass(origin) or is_typeddict(origin) else origin

    @property
    def expected(self) -> str:
        """The type or the choices in words."""
        name = " or ".join(self.choices) or _NAMES.get(self.kind) or self.kind.__name__
        return f"{name} or null" if self.has_null else name

    def limit(self, rule: type) -> float | None:
        """Return the bound of a rule, for example `annotated_types.Ge`; None without the rule."""
        return next((getattr(r, rule.__name__.lower()) for r in self.rules if isinstance(r, rule)), None)


def setting_of(annotation: Any) -> Setting:
    """Return the meaning of an annotation."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        setting = setting_of(inner[0])
        about = next((part for part in reversed(inner) if isinstance(part, str)), setting.about)
        return setting._replace(about=about, rules=[*setting.rules, *inner[1:]])
    if origin in (Union, types.UnionType):
        first = setting_of(next(k for k in inner if k is not types.NoneType))
        return first._replace(has_null=types.NoneType in inner)
    return Setting(annotation, _title(annotation) if dataclasses.is_dataclass(annotation) else "", False, [])


def _title(group: type) -> str:
    """Return the first line of a docstring, in lower case and without full stop."""
    text = (group.__doc__ or "").partition("\n")[0].removesuffix(".")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


@cache
def fields_of(group: type) -> dict[str, Any]:
    """Return the annotations of a group by key: its own fields, then inherited fields."""
    hints, own = get_type_hints(group, include_extras=True), inspect.get_annotations(group)
    names = [field.name for field in dataclasses.fields(group)] if dataclasses.is_dataclass(group) else hints
    return {key_of(name): hints[name] for name in sorted(names, key=lambda name: name not in own)}


def default_of(field: dataclasses.Field) -> Any:
    """Return the default of a field; MISSING if it has none."""
    factory = field.default_factory
    return field.default if factory is dataclasses.MISSING else factory()


def plain(value: Any) -> Any:
    """Convert settings for JSON; numbers without a fraction become integers."""
    if dataclasses.is_dataclass(value):
        values = {key_of(field.name): getattr(value, field.name) for field in dataclasses.fields(value)}
        return {key: plain(values[key]) for key in fields_of(type(value))}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def merge(base: Mapping, overlay: Mapping) -> dict[str, Any]:
    """Merge `overlay` into `base`: mappings key by key; other values are replaced."""
    merged = dict(base)
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def complete(group: type, value: Any, name: str) -> dict[str, Any]:
    """Check a mapping with some keys of a group of settings; return it with all keys, for JSON."""
    if isinstance(value, Mapping):
        value = _fill_entries(group, merge(plain(group()), value))
    return plain(validate(group, value, name))


def _fill_entries(annotation: Any, value: Any) -> Any:
    """Add default settings to the entries of all mappings from names to groups."""
    kind = setting_of(annotation).type
    if not isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(kind):
        return {key: _fill_entries(fields_of(kind).get(key), child) for key, child in value.items()}
    if get_origin(kind) is not dict:
        return value
    entry = setting_of(get_args(kind)[1]).type
    base = plain(entry()) if dataclasses.is_dataclass(entry) else {}
    filled = {
        key: merge(base, child) if isinstance(child, Mapping) else child for key, child in value.items()
    }
    return {key: _fill_entries(entry, child) for key, child in filled.items()}


def validate(annotation: Any, value: Any, name: str = "") -> Any:
    """Convert a value to the type of an annotation; a message begins with `name`, for example a file."""
    try:
        return TypeAdapter(annotation).validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        parts = name, *_explain(error, annotation)
        raise InputError(": ".join(filter(None, parts))) from error


def build_all(annotations: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Convert named values to the types of their names; refuse unknown names."""
    given = with_config(PYDANTIC)(TypedDict("given", dict(annotations), total=False))
    return validate(given, values)


def _explain(error: ValidationError, annotation: Any) -> tuple[str, str]:
    """Return the topmost bad key, and its problem with the remedy."""
    first = min(error.errors(), key=lambda e: (len(_place(e)), e["type"] == "missing", _place(e)))
    kind, location, value = first["type"], first["loc"], first["input"]
    if kind in (*_UNKNOWN, "missing"):
        *place, key = location
        known = fields_of(setting_of(_find(annotation, place)).type)
        if kind == "missing":
            return _key(place), f"the key '{key}' is missing; the keys are {', '.join(known)}"
        near = suggest(str(key), known) or f"; known here: {', '.join(known)}"
        return _key(location), f"unknown key{near}"
    setting = setting_of(_find(annotation, location))
    if location[-1:] == ("[key]",):
        return _key(location[:-1]), f"not a usable name; write {setting.about}"
    shown = {dict: "a mapping", list: "a list"}.get(type(value)) or json.dumps(value, default=str)
    near = suggest(str(value), setting.choices)
    default = f"{{shown}} is not {setting.expected}{_exponent_hint(value)}"
    problem = _PROBLEMS.get(kind, default).format(shown=shown, near=near, **plain(first.get("ctx", {})))
    return _key(location), f"{problem}; write {setting.expected}: {setting.about}".removesuffix(": ")


def _place(error: Mapping[str, Any]) -> list[str]:
    """Return the location of the mapping or list of a bad key, or of a bad value, for sorting."""
    location = [str(part) for part in error["loc"]]
    n_parts = 1 if error["type"] in (*_UNKNOWN, "missing") else 2 * (location[-1:] == ["[key]"])
    return location[: len(location) - n_parts]


def _find(annotation: Any, location: Sequence[int | str]) -> Any:
    """Return the annotation at a location, for the name of an entry at its ``"[key]"``."""
    if location[-1:] == ("[key]",):
        return get_args(setting_of(_find(annotation, location[:-2])).type)[0]
    for part in location:
        setting = setting_of(annotation)
        inner = get_args(setting.type)
        if inner:
            annotation = inner[setting.kind in (dict, Mapping)]
        else:  # the members of a union have no annotation of their own
            annotation = fields_of(setting.type).get(part, annotation)
    return annotation


def _key(location: Sequence[int | str]) -> str:
    """Return the dotted path of a key."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in location]
    return "".join(parts).lstrip(".")


def _exponent_hint(value: object) -> str:
    """Return a hint for a number such as 5e-05 or 1e5, which YAML 1.1 reads as text; "" for others."""
    if not isinstance(value, str) or not (parts := _EXPONENT.fullmatch(value.strip())):
        return ""
    mantissa, exponent = parts.groups()
    point = "" if "." in mantissa else ".0"
    sign = "" if exponent[0] in "+-" else "+"
    return f", because YAML reads it as a text (write {mantissa}{point}e{sign}{exponent})"
