"""Settings, each said once: a field of a dataclass with its type, default, bounds and description.

From these fields come the options of commands and the object that a function takes. The schemas of the
configuration are still files of their own (``workflow/schemas``). Planning a run needs Snakemake's own
packages alone, so no validating library is at hand here.
"""

import dataclasses
import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from biaslab.core.errors import InputError, suggest


@dataclasses.dataclass(frozen=True)
class Field:
    """What is said of a setting, in the annotation of its field: ``Annotated[int, Field("...", ge=1)] = 75``.

    Attributes
    ----------
    description : str
        What it means, with its unit.
    ge, gt, le : number, optional
        Bounds of a number, or of each number of a list; `gt` is exclusive.
    """

    description: str
    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    def problem(self, value: Any) -> str:
        """Say which bound a value breaks; "" for none."""
        if self.ge is not None and value < self.ge:
            return f"{value} is less than {self.ge}"
        if self.gt is not None and not value > self.gt:
            return f"{value} is not more than {self.gt}"
        if self.le is not None and value > self.le:
            return f"{value} is more than {self.le}"
        return ""


def said_of(kind: Any) -> Field | None:
    """Return what an annotation says of a setting."""
    return next((said for said in getattr(kind, "__metadata__", ()) if isinstance(said, Field)), None)


def choices_of(kind: Any) -> tuple[str, ...]:
    """Return the values that an annotation lists; none where it lists none."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return inner
    return choices_of(inner[0]) if get_origin(kind) is Annotated else ()


def check(settings: Any) -> None:
    """Refuse an instance of a dataclass whose fields break what is said of them."""
    for name, kind in fields_of(type(settings)).items():
        value, said, known = getattr(settings, name), said_of(kind), choices_of(kind)
        if known and value not in known:
            raise InputError(
                f"{name}: '{value}' is unknown{suggest(value, known)}; write one of {', '.join(known)}"
            )
        values = value if isinstance(value, list | tuple) else [value]
        for one in values if said else ():
            if isinstance(one, int | float) and (problem := said.problem(one)):
                raise InputError(f"{name}: {problem}; write {said.description}")


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
        return kind(**build_all(fields_of(kind), _as(dict, value, name), name))
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
