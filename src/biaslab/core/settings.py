"""Define each setting once, as a field of a dataclass with its type, default, bounds and description.

These fields determine the schema of the configuration, the text of ``config.yaml``, the tables of keys in the
documentation, the options of commands, and the arguments of functions. This module needs no validation
library, because planning a run must need only the packages of Snakemake.
"""

import dataclasses
import inspect
import keyword
import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from biaslab.core.errors import InputError, suggest


@dataclasses.dataclass(frozen=True)
class Field:
    """Rules of a setting, in the annotation of its field: ``Annotated[int, "passes", Field(ge=1)]``.

    Attributes
    ----------
    description : str
        Meaning of the setting, with its unit: the text in the annotation.
    ge, gt, le, lt : number, optional
        Bounds of a number; `gt` and `lt` are exclusive.
    pattern : str
        Regular expression of a text.
    is_filled, is_unique : bool
        Whether a list or a text must not be empty, and whether the items of a list must be distinct.
    comments : mapping of str to str
        Comments of ``config.yaml`` on the keys of a mapping.
    """

    description: str = ""
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    pattern: str = ""
    is_filled: bool = False
    is_unique: bool = False
    comments: Mapping[str, str] = dataclasses.field(default_factory=dict, hash=False)


Count = Annotated[int, Field(ge=1)]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(gt=0, le=1)]
SEED = 1
Seed = Annotated[Natural, "seed of the whole run, from which every random stream derives"]

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}


def said_of(kind: Any) -> Field | None:
    """Return the description and the rules (`Field`) in the annotation of a setting."""
    parts = getattr(kind, "__metadata__", ())
    rules = next((part for part in reversed(parts) if isinstance(part, Field)), None)
    text = next((part for part in reversed(parts) if isinstance(part, str)), "")
    return dataclasses.replace(rules or Field(), description=text) if rules or text else None


def check(settings: Any) -> None:
    """Refuse an instance of a dataclass with fields that violate their rules."""
    from biaslab.core.schema import find_problem

    if problem := find_problem(plain(settings), schema_of(type(settings))):
        raise InputError(problem)


def schema_of(kind: Any, default: Any = None, said: Field | None = None) -> dict[str, Any]:
    """Return the JSON schema of an annotation.

    Parameters
    ----------
    default : object, optional
        For a dataclass, an instance with the defaults; without it, the defaults of the fields apply.
    said : Field, optional
        Description and rules; for a dataclass by default its docstring.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        own, outer = said_of(kind) or Field(), said or Field()
        text = own.description or outer.description
        return schema_of(inner[0], default, dataclasses.replace(own, description=text))
    if origin in (Union, types.UnionType):
        schema = schema_of(next(k for k in inner if k is not types.NoneType), default, said)
        return schema | {"type": [schema["type"], "null"]}
    schema = {"description": said.description} if said and said.description else {}
    if dataclasses.is_dataclass(kind):
        # The first line of the docstring, in lower case and without full stop.
        text = (kind.__doc__ or "").partition("\n")[0].removesuffix(".")
        text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
        return {"description": text} | schema | _object_schema(kind, default)
    if origin is Literal:
        return schema | {"type": "string", "enum": list(inner)}
    if origin in (list, tuple):
        limits = {"minItems": 1} if said and said.is_filled else {}
        limits |= {"uniqueItems": True} if said and said.is_unique else {}
        return schema | {"type": "array", "items": schema_of(inner[0])} | limits
    if origin is dict:
        names = {"propertyNames": schema_of(inner[0])} if said_of(inner[0]) else {}
        comments = {"comments": said.comments} if said and said.comments else {}
        return schema | {"type": "object", "additionalProperties": schema_of(inner[1])} | names | comments
    limits = {word: getattr(said, name) for name, word in _BOUNDS.items()} if said else {}
    limits |= {"pattern": said.pattern or None, "minLength": 1 if said.is_filled else None} if said else {}
    return schema | {"type": _TYPES[kind]} | {k: v for k, v in limits.items() if v is not None}


def plain(value: Any) -> Any:
    """Convert a default or an instance for JSON; numbers without a fraction become integers."""
    if dataclasses.is_dataclass(value):
        return {key_of(field.name): plain(getattr(value, field.name)) for field in _own_first(type(value))}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def key_of(name: str) -> str:
    """Return the key of a field: ``lambda`` for ``lambda_``, because Python reserves the word."""
    return name.removesuffix("_")


def _object_schema(kind: type, default: Any) -> dict[str, Any]:
    """Return the schema of a dataclass; values of an instance replace the defaults of the fields."""
    properties = {}
    for field in _own_first(kind):
        value = getattr(default, field.name) if default is not None else default_of(field)
        schema = schema_of(fields_of(kind)[field.name], value if dataclasses.is_dataclass(value) else None)
        if "properties" in schema:
            value = {}
        if value is not dataclasses.MISSING:
            schema["default"] = plain(value)
        properties[key_of(field.name)] = schema
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _own_first(kind: type) -> list[dataclasses.Field]:
    """Return the fields of a dataclass in documentation order: its own fields, then inherited ones."""
    own_names = inspect.get_annotations(kind)
    return sorted(dataclasses.fields(kind), key=lambda field: field.name not in own_names)


def default_of(field: dataclasses.Field) -> Any:
    """Return the default of a field; MISSING if it has none."""
    factory = field.default_factory
    return field.default if factory is dataclasses.MISSING else factory()


def build(kind: Any, value: Any, name: str = "") -> Any:
    """Convert a value to the type of an annotation.

    A dataclass is built from a mapping, or from a text if it has a class method ``parse``. Any other class is
    built from one text or number, for example ``Path``.

    Parameters
    ----------
    name : str
        Name of the value in messages, for example ``training.epochs``.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or origin is Literal:
        return value
    if origin is Annotated:
        return build(inner[0], value, name)
    if origin in (Union, types.UnionType):
        return None if value is None else build(next(k for k in inner if k is not type(None)), value, name)
    if origin in (list, tuple, Sequence):
        built = [build(inner[0], v, f"{name}[{i}]") for i, v in enumerate(_as(list, value, name))]
        return tuple(built) if origin is tuple else built
    if origin in (dict, Mapping):
        return {k: build(inner[1], v, f"{name}.{k}") for k, v in _as(dict, value, name).items()}
    if dataclasses.is_dataclass(kind):
        if isinstance(value, str) and hasattr(kind, "parse"):
            return kind.parse(value)
        kinds = {key_of(key): annotation for key, annotation in fields_of(kind).items()}
        built = build_all(kinds, _as(dict, value, name), name)
        return kind(**{f"{key}_" if keyword.iskeyword(key) else key: part for key, part in built.items()})
    try:
        return value if isinstance(value, kind) else kind(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {value!r} is not of the kind {kind.__name__} ({error})") from error


def build_all(kinds: Mapping[str, Any], values: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Convert named values to the types of their names; refuse unknown names."""
    for key in values:
        if key not in kinds:
            raise InputError(f"{f'{name}.{key}'.lstrip('.')}: unknown{suggest(key, kinds)}")
    return {key: build(kinds[key], value, f"{name}.{key}".lstrip(".")) for key, value in values.items()}


@cache
def fields_of(kind: type) -> dict[str, Any]:
    """Return the annotations of a dataclass by the names of its fields."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _as(kind: type, value: Any, name: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(f"{name}: {value!r} is not a {'list' if kind is list else 'mapping'}")
    return value
