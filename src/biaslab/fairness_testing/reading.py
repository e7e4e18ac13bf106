"""Changes made while reading a table: omitted rows, moved numbers and trimmed blanks, by group."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import MISSING, Data, Rows, describe_trimmed
from biaslab.classifiers.schema import Attribute, Schema

_MAX_GROUPS = 20


def describe_reading(
    table: Data, schema: Schema, groups: Sequence[Sequence[str]], rows: Rows | None = None
) -> list[str]:
    """Return a line for each difference between the rows and the file, with counts by group.

    `rows` are given if variants are rows of the file's own values.
    """
    n, n_all, lines = len(table.X), len(table.X) + len(table.left_out), []
    if len(table.left_out):
        codes = np.concatenate([table.X, table.left_out])
        counts = _count_groups(np.arange(n_all) >= n, codes, schema, groups)
        lines.append(
            f"{len(table.left_out):,} of {n_all:,} rows are left out because a value or the label is missing"
            f"{counts}. All numbers are of the {n:,} complete rows, also where the classifier fills in"
            " missing values."
        )
    if table.outside.any():
        counts = _count_groups(table.outside, table.X, schema, groups)
        lines.append(
            f"{table.outside.sum():,} of {n:,} rows have a value outside the schema's domain, which is"
            f" kept{counts}."
        )
    if table.clipped.any():
        counts = _count_groups(table.clipped, table.X, schema, groups)
        lines.append(
            f"{table.clipped.sum():,} of {n:,} rows have a number beyond low or high, which the schema's clip"
            f" moves there{counts}."
        )
    lines += describe_trimmed(table.n_trimmed)
    return lines + (_describe_usual(schema, groups, rows) if rows else [])


def _count_groups(
    is_counted: np.ndarray, codes: np.ndarray, schema: Schema, groups: Sequence[Sequence[str]]
) -> str:
    """Return the counted and total rows of each group, in brackets."""
    parts = []
    for names in groups:
        places = schema.domain.columns(names)
        words = [_words(codes[:, place], schema.attributes[place]) for place in places]
        values = pd.Series([", ".join(row) for row in zip(*words, strict=True)])
        counts = pd.Series(is_counted).groupby(values).agg(["sum", "size"])
        if len(counts) <= _MAX_GROUPS:
            texts = [f"{value} {row['sum']:,} of {row['size']:,}" for value, row in counts.iterrows()]
            parts.append(f"{','.join(names)}: {', '.join(texts)}")
    return f" ({'; '.join(parts)})" if parts else ""


def _words(codes: np.ndarray, attribute: Attribute) -> list[str]:
    return ["missing" if code == MISSING else attribute.word(code) for code in codes.tolist()]


def _describe_usual(schema: Schema, groups: Sequence[Sequence[str]], rows: Rows) -> list[str]:
    """Describe which number or spelling of the file variants use for a value that has several."""
    lines = []
    for name in dict.fromkeys(name for names in groups for name in names):
        place = schema.domain.names.index(name)
        attribute, codes = schema.attributes[place], rows.X[:, place]
        values = rows.frame[attribute.column].groupby(codes).nunique()
        ambiguous = values.index[values > 1][:_MAX_GROUPS]
        if len(ambiguous):
            texts = [f"{attribute.word(int(code))}: {rows.usual(place, int(code))}" for code in ambiguous]
            lines.append(
                f"A variant in {name} has the most frequent number or spelling of the file for its value"
                f" ({', '.join(texts)})."
            )
    return lines
