"""Check configurations against a JSON schema with one-line errors, and fill in defaults."""

import copy
import json
import math
import re
from collections.abc import Mapping
from typing import Any

import jsonschema

from biaslab.core.errors import InputError, suggest

_EXPONENT = re.compile(r"([+-]?[0-9]+\.?[0-9]*)[eE]([+-]?[0-9]+)")
_TYPE_NAMES = {
    "object": "a mapping (key: value)",
    "array": "a list",
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_Validator = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "number": lambda _, value: _is_number(value) and abs(value) < math.inf,
            "integer": lambda _, value: _is_number(value) and value % 1 == 0 and abs(value) < 2**63,
        }
    ),
)


def merge(base: Mapping, overlay: Mapping) -> dict[str, Any]:
    """Merge `overlay` into `base`: mappings key by key; other values are replaced."""
    merged = dict(base)
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = merge(merged[key], value)
        else:
            merged[key] = value
    return merged


def fill_defaults(value: Any, schema: Mapping) -> Any:
    """Return a deep copy of a valid value, completed with the defaults of the schema."""
    if not isinstance(value, Mapping):
        return copy.deepcopy(value)
    properties = schema.get("properties", {})
    further = schema.get("additionalProperties") or {}
    defaults = {key: child["default"] for key, child in properties.items()}
    return {
        key: fill_defaults(child, properties.get(key, further))
        for key, child in merge(defaults, value).items()
    }


def check_schema(value: Any, schema: Mapping, name: str) -> None:
    """Raise an error for the first problem of `value`; messages begin with `name`, e.g. its file."""
    if problem := find_problem(value, schema):
        raise InputError(f"{name}: {problem}")


def find_problem(value: Any, schema: Mapping) -> str:
    """Describe the topmost key or value that the schema (draft 2020-12) refuses; return "" for none."""
    errors = _Validator(schema).iter_errors(value)
    first = min(
        errors,
        key=lambda error: (len(error.absolute_path), list(map(str, error.absolute_path))),
        default=None,
    )
    if first is None:
        return ""
    if first.validator == "additionalProperties":
        known = list(first.schema["properties"])
        unknown = next(key for key in first.instance if key not in known)
        near = suggest(str(unknown), known) or f"; known here: {', '.join(known)}"
        return f"{_key(first, unknown)}: unknown key{near}"
    meaning = first.schema.get("description", "").rstrip()
    if "propertyNames" in first.absolute_schema_path:
        return f"{_key(first, first.instance)}: not a usable name; write {meaning}"
    return f"{_key(first)}: {_problem(first)}; write {_expected(first.schema)}: {meaning}"


def _key(error: jsonschema.ValidationError, *more: object) -> str:
    """Return the dotted path of the invalid key."""
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in (*error.absolute_path, *more)]
    return "".join(parts).lstrip(".") or "configuration"


def _problem(error: jsonschema.ValidationError) -> str:
    """Describe the problem of a value."""
    value, limit = error.instance, error.validator_value
    shown = {dict: "a mapping", list: "a list"}.get(type(value)) or json.dumps(value, default=str)
    match error.validator:
        case "type":
            return f"{shown} is not {_expected(error.schema)}{_exponent_hint(value)}"
        case "enum":
            return f"{shown} is not known{suggest(str(value), limit)}"
        case "minimum":
            return f"{shown} is less than {limit}"
        case "maximum":
            return f"{shown} is more than {limit}"
        case "exclusiveMinimum":
            return f"{shown} is not more than {limit}"
        case "uniqueItems":
            return "the list names something twice"
        case "minItems" | "minLength":
            return "is empty"
        case rule:
            return f"{shown} breaks the rule {rule}: {limit}"


def _exponent_hint(value: object) -> str:
    """Return a hint for a number such as 5e-05 or 1e5, which YAML 1.1 reads as text; "" for others."""
    if not isinstance(value, str) or not (parts := _EXPONENT.fullmatch(value.strip())):
        return ""
    mantissa, exponent = parts.groups()
    point = "" if "." in mantissa else ".0"
    sign = "" if exponent[0] in "+-" else "+"
    return f", because YAML reads it as a text (write {mantissa}{point}e{sign}{exponent})"


def _expected(schema: Mapping) -> str:
    """Return the type or the choices that a schema requires, in words."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return " or ".join(_TYPE_NAMES[name] for name in types)
