"""Read the result files of one corpus or several; define the titles and the order of methods in tables."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.core.tables import MISSING
from biaslab.hate_speech.methods import BOW, REGULARIZED, VANILLA, parse_method
from biaslab.hate_speech.metrics import COLUMNS
from biaslab.run.reports import Results

ENCODERS = "encoders"
"""Marks a corpus on which encoders are trained."""
TEST, NEWS, HATECHECK = "test", "news", "hatecheck"
"""Sets of texts: the corpus's own test sentences, news sentences without hate speech, HateCheck's cases."""
SETS = {
    TEST: "test",
    NEWS: "news",
    HATECHECK: "HateCheck",
    "fuzzed": "comments, terms swapped",
    "nonfuzzed": "comments, as written",
}
"""Titles of the sets other than test sets of corpora; only archived runs have the last two."""
MEASURES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "macro_accuracy": "Accuracy, mean over the identifiers",
}
KINDS = {
    BOW: "BoW",
    VANILLA: "Encoder",
    "bow-wr": "BoW + WR",
    "wr": "Encoder + WR",
    "oc": "Encoder + OC",
    "soc": "Encoder + SOC",
    "ear": "Encoder + EAR",
}
"""Titles of method families in the order of Table 1; the last is not in the paper."""
QUIRKS = {
    "dropout": "fresh dropout in each pass",
    "independent": "sides sampled independently",
    "pad": "sampled specials become [PAD]",
    "sum": "regularizer summed over the batch",
    "published": "all as published",
}
"""Titles of the quirks of the published code; a method's name joins several quirks by ``+``."""

_BASELINES = {BOW: "", VANILLA: "", "bow-wr": BOW}


def split_name(method: str) -> tuple[str, tuple[str, ...]]:
    """Return the method without its quirks, and the quirks."""
    plain, _, quirks = method.partition("@")
    return plain, tuple(quirks.split("+")) if quirks else ()


def is_plain(method: str) -> bool:
    """Return whether a method has no quirk, as the paper describes it."""
    return not split_name(method)[1]


def title(method: str) -> str:
    """Return the title of a method in a table, without its quirks."""
    parsed = parse_method(split_name(method)[0])
    return KINDS[parsed.kind] + (f" (α = {parsed.alpha:g})" if parsed.kind in REGULARIZED else "")


def quirk_title(method: str) -> str:
    """Return the titles of a method's quirks, or "none"."""
    return ", ".join(QUIRKS[quirk] for quirk in split_name(method)[1]) or "none"


def baseline(method: str) -> str:
    """Return the baseline of a method: the same classifier without its change; "" if there is none."""
    return _BASELINES.get(split_name(method)[0], VANILLA)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return the distinct methods in the order of Table 1: by family, strength and quirks."""
    return sorted(set(methods), key=_place)


def _place(method: str) -> tuple[int, float, tuple[int, ...], str]:
    plain, quirks = split_name(method)
    parsed = parse_method(plain)
    places = tuple(map(list(QUIRKS).index, quirks))
    return list(KINDS).index(parsed.kind), parsed.alpha, places, method


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
