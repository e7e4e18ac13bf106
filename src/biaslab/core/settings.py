"""Settings, each said once: a field of a dataclass with its type, default, bounds and description.

From these fields come the schema of the configuration, the text of ``config.yaml``, the tables of keys in the
documentation, the options of commands, and the object that a function takes. Planning a run needs Snakemake's
own packages alone, so no validating library is at hand here.
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
    """What is said of a setting, in the annotation of its field: ``Annotated[int, "passes", Field(ge=1)]``.

    Attributes
    ----------
    description : str
        What it means, with its unit: the text beside it in the annotation.
    ge, gt, le, lt : number, optional
        Bounds of a number; `gt` and `lt` are exclusive.
    pattern : str
        Of a text.
    is_filled, is_unique : bool
        Whether a list or a text must not be empty, and whether a list may name nothing twice.
    comments : mapping of str to str
        Of the names in a mapping, what ``config.yaml`` says of them.
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
    """Return what an annotation says of a setting: the text in it, and the rules of a `Field`."""
    parts = getattr(kind, "__metadata__", ())
    rules = next((part for part in reversed(parts) if isinstance(part, Field)), None)
    text = next((part for part in reversed(parts) if isinstance(part, str)), "")
    return dataclasses.replace(rules or Field(), description=text) if rules or text else None


def check(settings: Any) -> None:
    """Refuse an instance of a dataclass whose fields break what is said of them."""
    from biaslab.core.schema import find_problem

    if problem := find_problem(plain(settings), schema_of(type(settings))):
        raise InputError(problem)


def schema_of(kind: Any, default: Any = None, said: Field | None = None) -> dict[str, Any]:
    """Return the JSON schema of what an annotation asks for.

    Parameters
    ----------
    default : object, optional
        Of a dataclass, an instance with the defaults; by default those of its fields.
    said : Field, optional
        What is said of it; of a dataclass its docstring by default.
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
        # The first line of the docstring, without its capital and its full stop.
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
    """Return a default or an instance as JSON has it; a number without a fraction is whole."""
    if dataclasses.is_dataclass(value):
        return {key_of(field.name): plain(getattr(value, field.name)) for field in _own_first(type(value))}
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def key_of(name: str) -> str:
    """Return what a configuration calls a field: ``lambda_`` is ``lambda`` there, which Python keeps."""
    return name.removesuffix("_")


def _object_schema(kind: type, default: Any) -> dict[str, Any]:
    """Return the schema of a dataclass; what an instance holds goes before the defaults of the fields."""
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
    """Return the fields of a dataclass as a reader meets them: its own, and then those that it inherits."""
    own = inspect.get_annotations(kind)
    return sorted(dataclasses.fields(kind), key=lambda field: field.name not in own)


def default_of(field: dataclasses.Field) -> Any:
    """Return the default of a field; MISSING where there is none."""
    made = field.default_factory
    return field.default if made is dataclasses.MISSING else made()


def build(kind: Any, value: Any, name: str = "") -> Any:
    """Return a value as the type that an annotation asks for.

    A dataclass is made of a mapping, or of a text where it has a class method ``parse``; any other class of
    one text or number, as ``Path`` is.

    Parameters
    ----------
    name : str
        What messages call the value, ``training.epochs`` for instance.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or origin is Literal:
        return value
    if origin is Annotated:
        return build(inner[0], value, name)
    if origin in (Union, types.UnionType):
        return None if value is None else build(next(k for k in inner if k is not type(None)), value, name)
    if origin in (list, tuple, Sequence):
        made = [build(inner[0], v, f"{name}[{i}]") for i, v in enumerate(_as(list, value, name))]
        return tuple(made) if origin is tuple else made
    if origin in (dict, Mapping):
        return {k: build(inner[1], v, f"{name}.{k}") for k, v in _as(dict, value, name).items()}
    if dataclasses.is_dataclass(kind):
        if isinstance(value, str) and hasattr(kind, "parse"):
            return kind.parse(value)
        kinds = {key_of(key): one for key, one in fields_of(kind).items()}
        made = build_all(kinds, _as(dict, value, name), name)
        return kind(**{f"{key}_" if keyword.iskeyword(key) else key: one for key, one in made.items()})
    try:
        return value if isinstance(value, kind) else kind(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: {value!r} is not of the kind {kind.__name__} ({error})") from error


def build_all(kinds: Mapping[str, Any], values: Mapping[str, Any], name: str = "") -> dict[str, Any]:
    """Return named values as the types of their names; a name that is not known is refused."""
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
