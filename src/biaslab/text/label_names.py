"""Read the names of a BERT's two labels, and choose the positive label; needs no torch."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from biaslab.core.errors import InputError, one_line

MULTI_LABEL = "multi_label_classification"
"""Name in a configuration of labels that do not exclude each other."""
_NO_NAME = re.compile(r"label[_ ]?\d+|\d+", re.IGNORECASE)


def positive_label(
    folder: str | Path, positive: str | None, option: str = "--positive"
) -> tuple[int, list[str]]:
    """Return the number of a BERT's positive label, and the names of its labels, if it has any.

    The number is 1 if the names are only numbers. The error message names `option` if `positive` is no label.
    """
    try:
        names = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8")).get("id2label") or {}
        numbers = {str(name): int(number) for number, name in names.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{folder}: config.json does not name labels ({one_line(error)}); correct it"
        ) from error
    if numbers and sorted(numbers.values()) != [0, 1]:
        raise InputError(
            f"{folder}: id2label of config.json names {', '.join(numbers)}; a classifier of two labels has"
            " the numbers 0 and 1, each with a name of its own"
        )
    if positive not in numbers and say_more(numbers):
        raise InputError(
            f"{folder}: its labels are {' and '.join(numbers)}; "
            + (f"none is '{positive}': " if positive is not None else "")
            + f"name the positive one with {'--positive' if positive is None else option}"
        )
    return numbers.get(positive, 1), sorted(numbers, key=numbers.get)


def say_more(names: Iterable[str]) -> bool:
    """Return whether names of labels are more than their numbers (LABEL_0 and LABEL_1 are not)."""
    return not all(_NO_NAME.fullmatch(name) for name in names)


def describe_positive(names: Sequence[str], number: int) -> str:
    """Return a phrase on the positive label; `names` has all labels in order, or is empty."""
    if not names:
        return f"positive is label {number}"
    return f"positive is '{names[number]}' of the classes {', '.join(names)}"
