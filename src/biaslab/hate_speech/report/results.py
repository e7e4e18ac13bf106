"""Read the result files of one corpus or several; define the titles and the order of methods in tables."""

from collections.abc import Iterable, Sequence

import pandas as pd

from biaslab.core.stats import mean_interval
from biaslab.core.tables import MISSING
from biaslab.hate_speech.methods import BOW, REGULARIZED, VANILLA, parse_method
from biaslab.hate_speech.metrics import COLUMNS
from biaslab.run.plan.reports import Results

ENCODERS = "encoders"  # marks a corpus on which encoders are trained
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


def quirks_of(method: str) -> list[str]:
    """Return the quirks in the name of a method."""
    return method.split("@")[1].split("+") if "@" in method else []


def title(method: str) -> str:
    """Return the title of a method in a table, without its quirks."""
    parsed = parse_method(method)
    return KINDS[parsed.kind] + (f" (α = {parsed.alpha:g})" if parsed.kind in REGULARIZED else "")


def baseline(method: str) -> str:
    """Return the baseline of a method: the same classifier without its change; "" if there is none."""
    return _BASELINES.get(parse_method(method).kind, VANILLA)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return the distinct methods in the order of Table 1: by family, strength and quirks."""

    def place(method: str) -> tuple[int, float, list[int]]:
        parsed, quirks = parse_method(method), map(list(QUIRKS).index, quirks_of(method))
        return list(KINDS).index(parsed.kind), parsed.alpha, list(quirks)

    return sorted(set(methods), key=place)


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


def read(unit: Results, name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of a corpus: methods in the order of the tables, ``is_…`` as bool."""
    table = unit.table(name, *COLUMNS[name], text=_TEXT)
    if table.empty:  # without rows, pandas cannot infer types
        types = {column: bool if column.startswith("is_") else float for column in table}
        table = table.astype({column: cls for column, cls in types.items() if column not in _TEXT})
    if "method" in table:
        methods = in_order(table["method"])
        table = table.sort_values("method", key=lambda x: x.map(methods.index), kind="stable")
    return table.reset_index(drop=True)


def read_all(units: Sequence[Results], name: str) -> pd.DataFrame:
    """Read one of the files `COLUMNS` of several corpora; the first column, ``corpus``, has their names."""
    parts = [read(unit, name).assign(corpus=unit.name) for unit in units]
    table = stacked(parts)
    return table[["corpus", *table.columns.drop("corpus")]]


def without_quirks(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of methods as the paper describes them, without quirks."""
    return table[~table["method"].map(quirks_of).astype(bool)]


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
    for key, part in data.groupby(list(keys), sort=False):  # a grouped mean may differ in the last digit
        numbers = [number for value in values for number in (part[value].mean(), part[value].std())]
        rows.append([*key, part["seed"].nunique(), *numbers])
    return pd.DataFrame(rows, columns=columns)


def paired(values: pd.DataFrame, baselines: pd.DataFrame, keys: Sequence[str], value: str) -> pd.DataFrame:
    """Return the mean difference of a value from its baseline, seed by seed, with Student's 95% interval.

    Column ``baseline`` of `values` names the method in `baselines` to compare with. ``n_lower`` counts the
    seeds with a value below the baseline's.
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
