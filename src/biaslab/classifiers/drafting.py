"""Draft the schema of a table from its content, for the user to check: types, bounds and values."""

import itertools
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from biaslab.classifiers.encoding import count_by_group, describe_trimmed, read_rows, read_table
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError, suggest
from biaslab.core.files import separator_hint, write_text
from biaslab.core.values import EXACT_OPTION, find_doubtful

__all__ = ["Draft", "draft"]

SEPARATORS = {",": ",", ";": ";", "\t": "tab", "|": "|"}
MAX_VALUES = 50  # maximum number of values of a category, and of classes of the label
MAX_MISSING = 0.2  # maximum share of missing values of a column; rows with a missing value are left out
N_BINS = 10

_PROTECTED = re.compile(
    r"(?i)(?<![a-z])(sex|gender|race|ethnic\w*|age|religion|nationality|disab\w*|marital\w*)(?![a-z])"
)
_INT32 = np.iinfo(np.int32)
_UNUSABLE = re.compile(r"[\t\n\r,]+")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+")


@dataclass(frozen=True)
class Draft:
    """A schema as text, and notes for the user."""

    text: str
    attributes: list[str]
    protected: list[str]
    classes: list[str]
    left_out: dict[str, str]  # columns, and the reasons
    notes: list[str]  # sentences on rows that are left out, and questions on values


def draft(path: Path, label: str, protected: Sequence[str] = ()) -> Draft:
    """Describe a table with a header; a classifier predicts the column `label`.

    Without `protected`, columns with the name of a protected attribute are protected.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            separator = max(SEPARATORS, key=file.readline(1 << 16).count)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; name an existing table") from error
    trimmed: list[int] = []
    numbered = list(read_rows(path, separator, trimmed=trimmed))
    rows = [fields for _, fields in numbered]
    if len(rows) < 2:
        raise InputError(f"{path}: the file has no rows; write a header and one sample per line")
    header, columns = rows[0], _names(rows[0])
    bad = next((i for i, row in enumerate(rows) if len(row) != len(columns)), None)
    if bad is not None:
        raise InputError(
            f"{path}, row {bad}: has {len(rows[bad])} fields, but the header has {len(columns)}; check the"
            f" separator and the quotes{separator_hint(rows[0], separator)}"
        )
    for name in (label, *protected):
        if name not in columns:
            raise InputError(
                f"{path}: there is no column '{name}' (it has {', '.join(columns)}){suggest(name, columns)}"
            )
    texts = {name: [row[i].strip() for row in rows[1:]] for i, name in enumerate(columns)}
    missing = list(find_doubtful(itertools.chain.from_iterable(texts.values())).missing)
    classes = sorted(set(texts[label]) - set(missing), key=_by_number)
    if not 2 <= len(classes) <= MAX_VALUES:
        raise InputError(
            f"{path}: the label '{label}' has {len(classes)} values; choose a column of 2 to {MAX_VALUES}"
        )
    attributes, left_out = [], {}
    for name in columns:
        if name != label:
            entry = _attribute(name, texts[name], missing)
            if isinstance(entry, str):
                left_out[name] = entry
            else:
                attributes.append(entry)
    kept = [entry["name"] for entry in attributes]
    chosen = list(protected) or [name for name in kept if _PROTECTED.search(name)]
    if not chosen:
        raise InputError(
            f"{path}: no column has the name of a protected attribute ({', '.join(kept)}); name it with"
            " --protected"
        )
    if unusable := next((name for name in chosen if name not in kept), None):
        why = left_out.get(unusable, "it is the label")
        raise InputError(f"{path}: '{unusable}' cannot be protected: {why}; prepare the column first")
    lines = [
        f"# A draft from {len(rows) - 1:,} rows. Check it: bounds are the observed extremes, and values may"
        " have an order.",
        *([f"separator: {_flow(SEPARATORS[separator])}"] if separator != "," else []),
        *([f"columns: {_flow(columns)}  # in place of the header's"] if columns != header else []),
        *([f"missing: {_flow(missing)}  # rows with one are left out"] if missing else []),
        f"protected: {_flow(chosen)}",
        "attributes:  # in the order of the classifier's inputs",
        *(f"  - {_flow(entry)}" for entry in attributes),
        *(f"  # {name} is left out: {why}" for name, why in left_out.items()),
        f"label: {_flow({'column': label, 'classes': classes})}  # in the order of its outputs; the"
        " favourable one last",
    ]
    text = "\n".join(lines) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        schema = os.path.join(folder, "draft.yaml")
        write_text(schema, text)
        try:
            read_table(path, load_schema(schema))
        except InputError as error:
            raise InputError(str(error).replace(schema, f"the draft for {path}")) from error
    notes = _left_out_rows(texts, label, kept, chosen, missing)
    notes += describe_trimmed(len({*trimmed} - {numbered[0][0]}))
    if renamed := [f"'{a}' is '{b}'" for a, b in zip(header, columns, strict=True) if a != b]:
        notes.append(f"Columns renamed in the draft: {', '.join(renamed)}.")
    for entry in [*attributes, {"name": label, "values": classes}]:
        for values in find_doubtful(entry.get("values", ())).similar:  # by case, blanks or a final stop
            shown = ", ".join(f"'{value}'" for value in values)
            notes.append(
                f"{entry['name']}: do {shown} mean the same? If so, replace them by"
                f" {_flow({values[0]: list(values)})}. Until then, an audit stops here unless you pass"
                f" {EXACT_OPTION}."
            )
    return Draft(text, kept, chosen, classes, left_out, notes)


def _left_out_rows(
    texts: dict[str, list[str]], label: str, kept: list[str], protected: list[str], missing: list[str]
) -> list[str]:
    table = pd.DataFrame({name: texts[name] for name in [*kept, label]})
    is_missing = table.isin(missing)
    lacks = is_missing.any(axis=1)
    if not lacks.any():
        return []
    n, of_label = int(lacks.sum()), int(is_missing[label].sum())
    shown = ", ".join(f"'{text}'" for text in sorted(set(table.to_numpy()[is_missing.to_numpy()])))
    notes = [
        f"{n:,} of {len(table):,} rows are skipped: {of_label:,} without a label, {n - of_label:,} in which"
        f" another value is missing (written {shown}; to keep one as a value, move it from"
        " 'missing' to the values)."
    ]
    for name in protected:
        is_known = ~is_missing[name].to_numpy()
        if counts := count_by_group(lacks.to_numpy()[is_known], table[name].to_numpy()[is_known]):
            notes.append(f"Skipped rows by {name}: {counts}.")
    return notes


def _names(header: Sequence[str]) -> list[str]:
    """Return distinct names of the columns without commas, tabs and line breaks."""
    names: list[str] = []
    for number, cell in enumerate(header, 1):
        name = _UNUSABLE.sub(" ", cell).strip() or f"column {number}"
        candidates = itertools.chain([name], (f"{name} {count}" for count in itertools.count(2)))
        names.append(next(candidate for candidate in candidates if candidate not in names))
    return names


def _attribute(name: str, texts: Sequence[str], missing: Sequence[str]) -> dict | str:
    """Return the entry of a column, or the reason why it is left out."""
    present = [text for text in texts if text not in missing]
    n_missing, values = len(texts) - len(present), sorted(set(present), key=_by_number)
    if n_missing > MAX_MISSING * len(texts):
        return f"missing in {n_missing / len(texts):.0%} of the rows"
    if len(values) < 2:
        return "it has a single value"
    numbers = [_number(text) for text in values]
    if None not in numbers:
        if all(number.is_integer() and abs(number) <= _INT32.max for number in numbers):
            low, high = int(numbers[0]), int(numbers[-1])
            if len(values) == len(texts) == high - low + 1 and len(values) > N_BINS:
                return "it counts the rows"
            return {"name": name, "kind": "integer", "low": low, "high": high}
        column = np.array([_number(text) for text in present])
        cuts = np.quantile(column, np.arange(1, N_BINS) / N_BINS)
        edges = sorted({float(f"{cut:.4g}") for cut in cuts})
        return {"name": name, "kind": "bins", "edges": edges}
    if all(
        number is not None or _DECIMAL_COMMA.fullmatch(text)
        for text, number in zip(values, numbers, strict=True)
    ):
        return (
            f"its numbers have decimal commas ({next(t for t in values if ',' in t)}); write decimal points"
        )
    if len(values) > MAX_VALUES:
        return f"it has {len(values):,} distinct texts"
    return {"name": name, "kind": "category", "values": sorted(set(present))}


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _by_number(text: str) -> tuple[bool, float, str]:
    number = _number(text)
    return number is None, 0.0 if number is None else number, text


def _flow(value: object) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9)
    return text.removesuffix("...\n").strip()
