"""The tables of single identifiers and of HateCheck's functionalities, a column for each method."""

from collections.abc import Mapping, Sequence

import pandas as pd

from biaslab.core.stats import share_interval
from biaslab.core.tables import MISSING, Table
from biaslab.hate_speech.report.names import (
    EVERY,
    FUZZED,
    NEWS,
    TEST,
    functionality_title,
    in_order,
    is_plain,
    set_title,
    title,
)
from biaslab.hate_speech.report.results import of_methods, read_all
from biaslab.hate_speech.report.summaries import rates, stacked, together, with_interval
from biaslab.run.reports import Results

RATE = "false_positive_rate"
IDENTITY = {
    RATE: "False positive rate (%)",
    "subgroup_auc": "Subgroup AUC",
    "bpsn_auc": "BPSN AUC",
    "bnsp_auc": "BNSP AUC",
}
"""What is measured for each identifier."""
EVERY_HATEFUL, EVERY_OTHER = "(all hateful)", "(all non-hateful)"
"""In place of a functionality: the cases of all these."""
DETAILED = (NEWS, TEST, FUZZED)
"""Sets of which people see single identifiers; of the others, means over them."""
POOLED = (EVERY, EVERY_HATEFUL, EVERY_OTHER)
_INTERVALS = (
    " Mean over the seeds with Student's 95% interval, cut at the ends of the scale; of a single seed, the"
    " binomial interval over its texts, if any."
)


def identity(units: Sequence[Results]) -> Table:
    """Return false positive rates and AUCs of each identifier, by set and method."""
    data = identity_rates(read_all(units, "identity"))
    percent = data[data["set"].isin(DETAILED) | (data["identifier"] == EVERY)]
    percent = percent.assign(scale=percent["measure"].map(lambda name: 100.0 if name == RATE else 1.0))
    percent["form"] = percent["measure"].map(lambda name: ".1f" if name == RATE else ".3f")
    named = percent.assign(
        Set=percent["set"].map(set_title),
        Measure=percent["measure"].map(IDENTITY),
        Identifier=percent["identifier"].replace(EVERY, "mean over all"),
    )
    shown = _wide(named, {"Corpus": "corpus", "Set": "Set", "Measure": "Measure", "Identifier": "Identifier"})
    note = (
        "Of the sentences that hold an identifier. False positive rate: share of those that are not hate"
        " speech and are called so. AUC within them (subgroup), of their negatives against all other"
        " positives (BPSN), and of their positives against all other negatives (BNSP). A measure that no"
        " identifier has in a set is left out; of sets that are not shown in full, the mean over all."
        + _INTERVALS
    )
    return Table(data, shown, "Single identifiers", note)


def identity_rates(identities: pd.DataFrame) -> pd.DataFrame:
    """Average what is measured for each identifier, and for `EVERY` the means that each seed has over all."""
    plain = of_methods(identities, is_plain)
    keys, parts = ["corpus", "set", "measure", "identifier", "method"], []
    for measure in IDENTITY:
        own = plain[["corpus", "set", "identifier", "method", "seed", "ci_low", "ci_high"]]
        own = own.assign(measure=measure, value=plain[measure]).dropna(subset="value")
        if measure != RATE:
            own = own.assign(ci_low=float("nan"), ci_high=float("nan"))
        means = own.groupby([*keys[:3], "method", "seed"], sort=False)["value"].mean().reset_index()
        means = means.assign(identifier=EVERY, ci_low=float("nan"), ci_high=float("nan"))
        parts += [rates(own, keys, "value"), rates(means, keys, "value")]
    found = stacked(parts)
    return together(found, ["corpus", "set", "measure"])


def hatecheck(units: Sequence[Results]) -> Table:
    """Return the pass rates of HateCheck's functionalities by method."""
    data = pass_rates(read_all(units, "functionalities"))
    gold = data["is_hateful"].map({True: "yes", False: "no"}).where(data["functionality"] != EVERY, MISSING)
    named = data.assign(
        Hateful=gold,
        Cases=data["n"].map("{:,.0f}".format),
        Functionality=data["functionality"].map(functionality_title),
        value=data["rate"],
        scale=100.0,
        form=".1f",
    )
    heads = {name: name for name in ("Functionality", "Hateful", "Cases")}
    shown = _wide(named, {"Corpus": "corpus"} | heads)
    note = "HateCheck's cases (Röttger et al. 2021) that are classified as they should be, in percent."
    return Table(data, shown, "HateCheck by functionality", note + _INTERVALS)


def pass_rates(functionalities: pd.DataFrame) -> pd.DataFrame:
    """Average the pass rates of each functionality, and of all hateful, all other and all cases."""
    plain = of_methods(functionalities, is_plain)
    columns = ["corpus", "functionality", "is_hateful", "n", "method"]
    hateful, other = plain[plain["is_hateful"]], plain[~plain["is_hateful"]]
    pooled = [_pooled(hateful, EVERY_HATEFUL), _pooled(other, EVERY_OTHER), _pooled(plain, EVERY)]
    parts = [rates(part, columns, "rate") for part in (plain, *pooled)]
    found = stacked(parts)
    return together(found, ["corpus"])


def _pooled(cases: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the pass rates of several functionalities together, in each seed."""
    keys = ["corpus", "method", "seed"]
    sums = cases.groupby(keys, sort=False).agg(
        n=("n", "sum"), passed=("passed", "sum"), is_hateful=("is_hateful", "first")
    )
    ends = [share_interval(int(k), int(n)) for k, n in zip(sums["passed"], sums["n"], strict=True)]
    sums[["ci_low", "ci_high"]] = pd.DataFrame(ends, index=sums.index, columns=["ci_low", "ci_high"])
    return sums.assign(rate=sums["passed"] / sums["n"], functionality=name).reset_index()


def _wide(data: pd.DataFrame, heads: Mapping[str, str]) -> pd.DataFrame:
    """Return the text of a table with a column for each method, from a row for each cell.

    A cell has what it is multiplied by (``scale``) and the ``form`` in which it is shown. `heads` are the
    columns of text that tell rows apart, by the headers over them.
    """
    cells: dict[tuple[str, ...], dict[str, str]] = {}
    for row in data.itertuples():
        numbers = [pd.Series([row.scale * x]) for x in (row.value, row.ci_low, row.ci_high)]
        key = tuple(getattr(row, column) for column in heads.values())
        cells.setdefault(key, {})[row.method] = with_interval(*numbers, row.form)[0]
    methods = in_order(data["method"])
    rows = [[*key, *(found.get(method, MISSING) for method in methods)] for key, found in cells.items()]
    return pd.DataFrame(rows, columns=[*heads, *map(title, methods)], dtype=str)
