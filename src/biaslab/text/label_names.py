"""How a BERT calls its two labels, and which of them is the positive one; needs no torch."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from biaslab.core.errors import InputError, one_line

MULTI_LABEL = "multi_label_classification"
"""What a configuration calls labels that do not exclude each other."""
_NO_NAME = re.compile(r"label[_ ]?\d+|\d+", re.IGNORECASE)


def label_names(folder: str | Path) -> dict[str, int]:
    """Return the numbers of a BERT's labels by its configuration's ``id2label``; empty without one."""
    try:
        names = json.loads((Path(folder) / "config.json").read_text(encoding="utf-8")).get("id2label") or {}
        found = {str(name): int(number) for number, name in names.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InputError(f"{folder}: config.json names no labels ({one_line(error)}); fix it") from error
    if found and sorted(found.values()) != [0, 1]:
        raise InputError(
            f"{folder}: id2label of config.json names {', '.join(found)}; a classifier of two labels has the"
            " numbers 0 and 1, each with a name of its own"
        )
    return found


def say_more(names: Iterable[str]) -> bool:
    """Tell whether names of labels say more than their numbers, as LABEL_0 and LABEL_1 do not."""
    return not all(_NO_NAME.fullmatch(name) for name in names)


def describe_positive(names: Sequence[str], number: int) -> str:
    """Say which label is positive, of all in their order; `names` may be missing."""
    if not names:
        return f"positive is label {number}"
    return f"positive is '{names[number]}' of the classes {', '.join(names)}"


def positive_label(folder: str | Path, positive: str | None, option: str = "--positive") -> int:
    """Return which label of a BERT is the positive one: 1 where its names say no more than the numbers.

    `option` is what a message names where `positive` is no label.
    """
    names = label_names(folder)
    if positive in names or not say_more(names):
        return names.get(positive, 1)
    raise InputError(
        f"{folder}: calls its labels {' and '.join(names)}; "
        + (f"none is '{positive}': " if positive is not None else "")
        + f"name the positive one with {'--positive' if positive is None else option}"
    )
