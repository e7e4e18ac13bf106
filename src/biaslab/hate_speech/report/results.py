"""The result files of the area: reading those of one corpus or several, in the order of the tables."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.report.names import in_order
from biaslab.hate_speech.report.summaries import stacked
from biaslab.run.reports import Results

_TEXT = (
    "word",
    "term",
    "identifier",
    "method",
    "baseline",
    "set",
    "functionality",
    "explanation",
    "model",
    "features",
    "label_rule",
    "split_kind",
)
_YES = {"true", "yes", "1"}


def read(unit: Results, name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of a corpus: methods in the order of the tables, ``is_…`` as bool."""
    table = unit.table(name, *COLUMNS[name], text=_TEXT)
    flags = [column for column in table if column.startswith("is_")]
    for flag in flags:
        table[flag] = np.array([str(value).lower() in _YES for value in table[flag]], dtype=bool)
    if table.empty:  # then nothing tells numbers from text
        table = table.astype({column: float for column in table if column not in (*_TEXT, *flags)})
    if "method" in table:
        methods = in_order(table["method"])
        table = table.sort_values("method", key=lambda x: x.map(methods.index), kind="stable")
    return table.reset_index(drop=True)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several corpora, whose names become the first column, ``corpus``."""
    parts = [read(unit, name).assign(corpus=unit.name) for unit in units]
    table = stacked(parts)
    return table[["corpus", *table.columns.drop("corpus")]]


def of_methods(table: pd.DataFrame, is_wanted: Callable[[str], bool]) -> pd.DataFrame:
    """Return the rows of some methods."""
    return table[np.array([is_wanted(method) for method in table["method"]], dtype=bool)]


def printed_numbers(units: Sequence[Results], ids: pd.Series) -> pd.Series:
    """Return what the paper prints by claims, "mean ± sd" where it has both (``ID-sd``)."""
    # What stands in parentheses is what a claim compares its number with.
    printed = {name: text.partition(" (")[0] for name, text in units[0].printed().items()}
    ids = ids.astype(object).str.replace(".", "-")
    return ids.map(printed) + (" " + ids.map(lambda name: printed.get(f"{name}-sd"))).fillna("")
