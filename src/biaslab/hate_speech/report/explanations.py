"""The tables of explanations: what regularization and quirks do to those of identifiers."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.tables import MISSING, Table, text_columns
from biaslab.hate_speech.report.names import (
    baseline,
    is_plain,
    quirk_title,
    split_name,
    title,
)
from biaslab.hate_speech.report.results import of_methods, read_all
from biaslab.hate_speech.report.summaries import over_seeds, paired, stacked, together, with_interval, with_sd
from biaslab.hate_speech.report.tables import by_seed
from biaslab.run.reports import Results

_EXPLANATIONS = {"oc": "OC", "soc": "SOC"}
_PHI = "mean_abs_phi"
_MEASURES = {
    "f1": ("F1", " (%)"),
    "news": ("News accuracy", " (%)"),
    "news_macro": ("News, mean over identifiers", " (%)"),
    "phi_oc": ("|φ| of OC", ""),
    "phi_soc": ("|φ| of SOC", ""),
}


def attributions(units: Sequence[Results]) -> Table:
    """Return the mean importance of identifiers by method, paired with the encoder without regularization."""
    phi = phi_by_seed(read_all(units, "attributions"))
    phi = of_methods(phi, is_plain)
    keys = ["corpus", "explanation", "method"]
    data = over_seeds(phi, [*keys, "n"], ["mean_phi", _PHI])
    against = phi.assign(baseline=phi["method"].map(baseline))
    data = together(data.merge(paired(against, phi, keys, _PHI), on=keys, how="left"), keys[:2])
    ends = (data[f"{_PHI}_{end}"] for end in ("difference", "ci_low", "ci_high"))
    named = data.assign(
        title=data["method"].map(title),
        explanation=data["explanation"].replace(_EXPLANATIONS),
        absolute=with_sd(data[f"{_PHI}_mean"], data[f"{_PHI}_sd"], ".3f"),
        signed=with_sd(data["mean_phi_mean"], data["mean_phi_sd"], "+.3f"),
        change=with_interval(*ends, "+.3f"),
        lower=_counts(data["n_lower"], data["n_pairs"]),
    )
    shown = {
        "Corpus": "{corpus}",
        "Explanation": "{explanation}",
        "Method": "{title}",
        "Occurrences": "{n:,.0f}",
        "Seeds": "{n_seeds}",
        "Mean |φ|": "{absolute}",
        "Mean φ": "{signed}",
        "Change of |φ|": "{change}",
        "Lower in (seeds)": "{lower}",
    }
    note = (
        "Importance φ of group identifiers (Equation 1: the difference of the logits of hate speech and not,"
        " with and without the word), over all occurrences in test sentences. Mean ± standard deviation over"
        " the seeds; change against the encoder without regularization with the same seed, with Student's 95%"
        " interval."
    )
    return Table(data, text_columns(named, shown), "Importance of identifiers", note)


def phi_by_seed(data: pd.DataFrame) -> pd.DataFrame:
    """Average the importance of identifiers over their occurrences, in each training."""
    keys, values = ["corpus", "explanation", "method", "seed"], ["mean_phi", _PHI]
    known = data[data["n"] > 0]
    sums = known.assign(**{value: known["n"] * known[value] for value in values})
    found = sums.groupby(keys, sort=False)[["n", *values]].sum().reset_index()
    return found.assign(**{value: found[value] / found["n"] for value in values})


def ablation(units: Sequence[Results]) -> Table:
    """Return what each quirk of the published code is worth."""
    data = quirks(read_all(units, "metrics"), read_all(units, "attributions"))
    named = data.assign(title=data["method"].map(title), quirk=data["method"].map(quirk_title))
    shown = {"Corpus": "{corpus}", "Method": "{title}", "Quirk": "{quirk}", "Pairs": "{n_pairs:.0f}"}
    for value, (head, percent) in _MEASURES.items():
        scale, form = (100, ".1f") if percent else (1, ".3f")
        ends = (scale * data[f"{value}_{end}"] for end in ("difference", "ci_low", "ci_high"))
        named[f"{value}_mean"] = scale * data[value]
        named[f"{value}_change"] = with_interval(*ends, f"+{form}")
        shown |= {head + percent: f"{{{value}_mean:{form}}}", f"Change, {head}": f"{{{value}_change}}"}
    note = (
        "Each row switches on what the published code does and is repaired here by default. Mean over the"
        " seeds; change against the classifier without quirk and with the same seed, with Student's 95%"
        " interval where there are two seeds or more. |φ|: importance of identifiers in test sentences."
    )
    return Table(data, text_columns(named, shown), "What each quirk of the published code is worth", note)


def quirks(metrics: pd.DataFrame, attributions: pd.DataFrame) -> pd.DataFrame:
    """Compare methods with quirks of the published code with the same without, seed by seed.

    Columns corpus, method (those with quirks, and before them those without), n_pairs (seeds that both have)
    and, for each VALUE of `_MEASURES`, its mean over the seeds ``VALUE`` and the mean change
    ``VALUE_difference`` with ``VALUE_ci_low``, ``VALUE_ci_high``.
    """
    keys, values = ["corpus", "method", "seed"], list(_MEASURES)
    phi = phi_by_seed(attributions).pivot(index=keys, columns="explanation", values=_PHI)
    phi = phi.reindex(columns=["oc", "soc"]).rename(columns="phi_{}".format).reset_index()
    table = by_seed(metrics, with_quirks=True).merge(phi, on=keys, how="left")
    table["baseline"] = table["method"].map(lambda method: split_name(method)[0])
    has_quirk = table["method"] != table["baseline"]
    ablated = table.loc[has_quirk, ["corpus", "baseline"]].drop_duplicates()
    found = table.merge(ablated).groupby(keys[:2], sort=False)[values].mean().reset_index()
    pairs = []
    for value in values:
        change = paired(table[has_quirk], table, keys[:2], value)
        pairs.append(change[[*keys[:2], "n_pairs"]])
        found = found.merge(change.drop(columns=["n_pairs", "n_lower"]), on=keys[:2], how="left")
    most = stacked(pairs).groupby(keys[:2], sort=False)["n_pairs"].max().reset_index()
    found = found.merge(most, on=keys[:2], how="left")
    ends = ("", "_difference", "_ci_low", "_ci_high")
    return found[[*keys[:2], "n_pairs", *(f"{value}{end}" for value in values for end in ends)]]


def _counts(k: pd.Series, n: pd.Series) -> list[str]:
    return [MISSING if pd.isna(b) else f"{a:.0f} of {b:.0f}" for a, b in zip(k, n, strict=True)]
