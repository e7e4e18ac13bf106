"""Read the result files of one corpus or several, in the order of the tables."""

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.core.tables import MISSING
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.report.names import in_order
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
    if table.empty:  # without rows, pandas cannot infer numeric columns
        table = table.astype({column: float for column in table if column not in (*_TEXT, *flags)})
    if "method" in table:
        methods = in_order(table["method"])
        table = table.sort_values("method", key=lambda x: x.map(methods.index), kind="stable")
    return table.reset_index(drop=True)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several corpora; the first column, ``corpus``, has their names."""
    parts = [read(unit, name).assign(corpus=unit.name) for unit in units]
    table = stacked(parts)
    return table[["corpus", *table.columns.drop("corpus")]]


def of_methods(table: pd.DataFrame, is_wanted: Callable[[str], bool]) -> pd.DataFrame:
    """Return the rows of the methods for which `is_wanted` is true."""
    return table[np.array([is_wanted(method) for method in table["method"]], dtype=bool)]


def printed_numbers(units: Sequence[Results], ids: pd.Series) -> pd.Series:
    """Return the paper's numbers by claim, "mean ± sd" if it prints both (``ID-sd``)."""
    # Parentheses contain the reference value of the claim.
    printed = {name: text.partition(" (")[0] for name, text in units[0].printed().items()}
    ids = ids.astype(object).str.replace(".", "-")
    return ids.map(printed) + (" " + ids.map(lambda name: printed.get(f"{name}-sd"))).fillna("")


def over_seeds(data: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Return ``n_seeds``, ``VALUE_mean`` and ``VALUE_sd`` (ddof 1) of the values that are not missing."""
    columns = [*keys, "n_seeds", *(f"{value}_{end}" for value in values for end in ("mean", "sd"))]
    rows = []
    for key, part in data.groupby(list(keys), sort=False):
        numbers = [number for value in values for number in (part[value].mean(), part[value].std())]
        rows.append([*key, part["seed"].nunique(), *numbers])
    return pd.DataFrame(rows, columns=columns)


def paired(values: pd.DataFrame, baselines: pd.DataFrame, keys: Sequence[str], value: str) -> pd.DataFrame:
    """Return the mean difference of a value from its baseline, seed by seed, with Student's 95% interval.

    Column ``baseline`` of `values` names the method in `baselines` to compare with. The key ``method`` refers
    to `values` only. The interval is missing for fewer than two pairs. ``n_lower`` counts the seeds with a
    value below the baseline's.
    """
    shared = [key for key in keys if key != "method"]
    reference = baselines[[*shared, "method", "seed", value]].rename(columns={"method": "baseline"})
    both = values.merge(reference, on=[*shared, "baseline", "seed"], suffixes=("", "_baseline"))
    both["difference"] = both[value] - both[f"{value}_baseline"]
    rows = []
    for key, part in both.dropna(subset="difference").groupby(list(keys), sort=False):
        x = part["difference"]
        rows.append([*key, len(x), x.mean(), *mean_interval(x), int((x < 0).sum())])
    ends = [f"{value}_{end}" for end in ("difference", "ci_low", "ci_high")]
    return pd.DataFrame(rows, columns=[*keys, "n_pairs", *ends, "n_lower"])


def together(data: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the rows grouped by keys, in the order of the keys' first appearance."""
    order = data.groupby(list(keys), sort=False).ngroup()
    return data.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables; skip tables without rows, because their columns have no type."""
    return pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)


def with_sd(mean: pd.Series, sd: pd.Series, form: str) -> list[str]:
    """Return cells "mean ± sd"; a dash for missing values."""
    plain = form.removeprefix("+")
    return [
        MISSING if pd.isna(m) else f"{m:{form}} ± {MISSING if pd.isna(s) else f'{s:{plain}}'}"
        for m, s in zip(mean, sd, strict=True)
    ]


def with_interval(mean: pd.Series, low: pd.Series, high: pd.Series, form: str) -> list[str]:
    """Return cells "mean (low to high)": the mean alone without bounds, a dash for missing values."""
    return [
        MISSING if pd.isna(m) else f"{m:{form}}" + ("" if pd.isna(a) else f" ({a:{form}} to {b:{form}})")
        for m, a, b in zip(mean, low, high, strict=True)
    ]
