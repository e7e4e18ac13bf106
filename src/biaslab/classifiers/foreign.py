"""Import and call the user's classifiers, and read their outputs by their own order of classes."""

import importlib
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.core.errors import InputError, suggest

_FLAGS = {"False": "0", "True": "1"}
_TOLERANCE = 1e-3  # of a sum of probabilities, which may be in half precision


def import_object(reference: str) -> object:
    """Return an object, ``MODULE:NAME``, of a module in the current folder or an installed module."""
    module_name, colon, name = reference.partition(":")
    if not (module_name and colon and name):
        raise InputError(f"'{reference}' is not a classifier; name a file (.npz), MODULE:NAME, or train")
    if (folder := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, folder)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise InputError(f"{module_name}: cannot be imported ({reason(error)}); fix or install it") from error
    if not hasattr(module, name):
        near = suggest(name, dir(module)) or "; name what the module defines"
        raise InputError(f"{module_name}: has no '{name}'{near}")
    return getattr(module, name)


def ask(name: str, what: str, how: str, function: Callable, *arguments: Any) -> Any:
    """Call a user's function on an input (`what`); report any exception, and how to call it yourself."""
    try:
        return function(*arguments)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{name} failed on {what} ({reason(error)}); call it yourself with {how}") from error


def reason(error: BaseException) -> str:
    """Return the class of an error and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"


def numbers(answer: Any, name: str) -> np.ndarray:
    """Return an output, which may be a tensor on another device, as float64."""
    detach = getattr(answer, "detach", None)
    try:
        return np.asarray(detach().cpu() if detach else answer, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} returned a {type(answer).__name__}, not an array of numbers; return probabilities"
        ) from error


def check_probabilities(p: np.ndarray, name: str, what: str, start: int = 0) -> None:
    """Raise an error unless `p` has probabilities of all classes, (n, k), or of one class, (n,)."""
    rows = p.reshape(len(p), -1)
    wrongs = [
        (~np.isfinite(rows).all(axis=1), "not finite; correct the function for such input"),
        (((rows < 0) | (rows > 1)).any(axis=1), "not a probability; apply softmax or the logistic function"),
    ]
    if p.ndim == 2:
        with np.errstate(invalid="ignore"):
            apart = abs(rows.sum(axis=1) - 1) > _TOLERANCE
        wrongs.append((apart, "with a sum other than 1; return the probabilities of all classes"))
    for is_wrong, problem in wrongs:
        if is_wrong.any():
            i = int(is_wrong.argmax())
            shown = ", ".join(f"{value:g}" for value in rows[i])
            raise InputError(f"{name} returned {shown} for {what} {start + i + 1}: {problem}")


def classes_of(classifier: object) -> list[str] | None:
    """Return the names of a classifier's outputs, in their order; None if it has no ``classes_``."""
    classes = getattr(getattr(classifier, "__self__", classifier), "classes_", None)
    if classes is None:
        return None
    labels = np.asarray(classes, object)
    names = []
    for label in labels.tolist() if labels.ndim == 1 else ():
        is_whole = isinstance(label, float) and label.is_integer()
        names.append(str(int(label) if is_whole else label).strip())  # as in a table of text
    if not names or len(set(names)) < len(names):
        raise InputError(
            "the classifier's classes_ is not a list of distinct labels; fit it on one label column"
        )
    return names


def positive_column(
    name: str, classes: Sequence[str] | None, positive: str | None, option: str = "--positive"
) -> int:
    """Return the column of the positive class, by default 1 or True, among two columns named by `classes`."""
    if classes is None:
        raise InputError(
            f"{name} returned two columns and has no classes_ that names the columns; return the"
            " probability of the positive class alone, or set classes_, [0, 1] if the second is positive"
        )
    if len(classes) == 2:
        for name_of_class in (positive, "1", "True"):
            if name_of_class in classes:
                return list(classes).index(name_of_class)
    raise InputError(
        f"{name} has the classes {', '.join(classes)}; "
        + (f"none is '{positive}': " if positive is not None else "")
        + f"name the positive one of two with {'--positive' if positive is None else option}"
    )


def column_order(classes: Sequence[str], codes: Mapping[str, int], names: Sequence[str]) -> list[int] | None:
    """Return the output for each class of a table; None if `classes` are neither codes, names nor numbers."""
    named = {name: place for place, name in enumerate(names)}
    numbered = {str(place): place for place in range(len(names))}
    digits = [_FLAGS.get(name, name) for name in classes]
    for places_of, outputs in itertools.product((codes, named, numbered), (classes, digits)):
        places = [places_of.get(output, -1) for output in outputs]
        if sorted(places) == list(range(len(names))):
            return np.argsort(places).tolist()
    return None
