"""The answer of the audit of a table's classifier: lines, page and numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.answers import Answer, Chart, Section, build_section, estimate
from biaslab.core.rates import CLEARLY_BELOW, FOUR_FIFTHS, SMALL_SHARE, verdict
from biaslab.core.stats import SIGNIFICANT, share_interval
from biaslab.fairness_testing.auditing import Audited
from biaslab.fairness_testing.own_tables import N_UNIFORM, OwnTable
from biaslab.fairness_testing.settings import TRAIN

N_VALUES = 20  # the number of values and pairs on the page; the JSON file contains all
N_FEW = 6  # the number of small groups that a line names
LIMITS = [
    "A change of one attribute alone can produce combinations that no real person has. Consequences of the"
    " attribute in the world stay as they are.",
    "Equal treatment here does not prove fairness. A classifier that never reads the attribute passes, and"
    " can still distinguish the groups by correlated attributes. The group measures show such differences,"
    " but not their cause.",
    "A classifier is most accurate on its training rows. Use other rows to judge its errors.",
    "Intervals assume that rows are independent. Intervals of groups are simultaneous for one protected"
    " attribute. With several attributes, some differences are due to chance.",
    "Labels are assumed to be correct. If labels are unfair, agreement with them is no merit.",
    f"From the domain, {N_UNIFORM:,} uniform samples are classified. Some of their combinations rarely or"
    " never occur.",
]
"""Limits of the answer."""


def answer(
    found: Sequence[Audited], own: OwnTable, model: str, good: str, reading: Sequence[str] = ()
) -> Answer:
    """Return the answer of the audits; `reading` are lines on changes made while reading the table."""
    data, table, schema, encoded = own.path, own.table, own.schema, own.encoded_attributes
    label = f"{schema.label.name} = {good}"
    named = "the trained network" if model == TRAIN else Path(model).name
    agreement = float((own.labels == table.y).mean())
    counts = np.bincount(table.y)
    lines = [
        f"The favourable answer is {label}. The classifier agrees with the table in {agreement:.1%} of"
        f" {len(table.X):,} rows. The constant answer {schema.classes[counts.argmax()]} agrees in"
        f" {counts.max() / len(table.y):.1%}.",
        *reading,
    ]
    if encoded:
        lines.append(
            f"The classifier receives encoded numbers: {', '.join(encoded)} rounded as in the schema. If it"
            " was fitted on the file's own numbers, fit it on named columns (a pandas table). All numbers"
            " below are for encoded rows."
        )
    for item in found:
        lines += _lines(item, good)
    return Answer(
        command="biaslab fairness-testing audit",
        question=f"Which groups does {named} treat differently in {data.name}?",
        data={
            "Table": data.name,
            "Rows": f"{len(table.X):,} of {len(schema.attributes)} attributes",
            "Omitted": f"{table.n_missing:,} rows without a value or label",
            "Outside": f"{table.n_outside:,} rows with a value outside the schema's domain",
            "Schema": schema.name,
            "Classifier": named,
            "Favourable": label,
            "Agreement": f"{agreement:.1%} of the rows",
            "Protected": "; ".join(item.protected for item in found),
        },
        files=[data, model],
        lines=lines,
        sections=[
            section(item, label) for item in found for section in (_individual, _severity, _groups, _examples)
        ],
        limits=LIMITS,
        numbers={item.protected: item.numbers for item in found} | {"agreement": agreement},
    )


def _lines(item: Audited, good: str) -> list[str]:
    name, n = item.protected, item.n_discriminatory
    low, high = share_interval(n, item.n_rows)
    share, least, most = item.uniform
    lines = [
        f"A change of {name} alone changes the answer for {n:,} of {item.n_rows:,} rows"
        f" ({n / item.n_rows:.1%}, 95% interval {low:.1%} to {high:.1%}), and for {share:.1%} of the entire"
        f" domain ({least:.1%} to {most:.1%})."
    ]
    lines.append(_favoured(item, good))
    lines.append(
        f"Size: a change of {name} changes the probability of {good} by {item.gap['mean']:.3f} on average"
        f" ({item.gap['low']:.3f} to {item.gap['high']:.3f}), by at least {item.gap['upper_decile']:.3f} in a"
        f" tenth of the rows, and by {item.gap['maximum']:.3f} at most."
    )
    return lines + _group_lines(item, good)


def _favoured(item: Audited, good: str) -> str:
    pair = item.pairs.loc[item.pairs["difference"].idxmax()]
    if not item.pairs["n_favoured"].any():
        return (
            f"No value of {item.protected} is favoured in any row: none of {item.n_rows:,} rows gets {good}"
            " with one value and not with another. Rows outside the table may differ."
        )
    reverse = item.pairs[
        (item.pairs["value"] == pair["other"]) & (item.pairs["other"] == pair["value"])
    ].iloc[0]
    if pair["difference_low"] > 0:
        conclusion = f"{pair['value']} is favoured over {pair['other']}"
    else:
        conclusion = (
            "No value is significantly favoured. The largest difference is"
            f" {pair['value']} over {pair['other']}"
        )
    return (
        f"{conclusion}: {pair['favoured']:.1%} of the rows get {good} only with {pair['value']}, and"
        f" {reverse['favoured']:.1%} only with {pair['other']} (difference {pair['difference']:.1%},"
        f" {pair['difference_low']:.1%} to {pair['difference_high']:.1%})."
    )


def _group_lines(item: Audited, good: str) -> list[str]:
    groups = item.groups
    if len(groups) < 2:
        return [f"Groups of {item.protected} cannot be compared: all rows have the same value."]
    best = groups[groups["is_reference"]].iloc[0]
    others = groups[~groups["is_reference"]]
    large = others[~_is_too_few(others)]
    worst = others.loc[(large if len(large) else others)["rate"].idxmin()]
    conclusion = verdict(worst["ratio"], worst["ratio_low"], worst["ratio_high"])
    if conclusion == CLEARLY_BELOW and not item.p_value <= SIGNIFICANT:
        conclusion += ", but the test of all groups finds no difference"
    ratio = f"ratio {worst['ratio']:.2f}, {worst['ratio_low']:.2f} to {worst['ratio_high']:.2f}"
    lines = [
        f"Group rates: {good} for {worst['rate']:.1%} of {worst['n']:,} {worst['value']} and"
        f" {best['rate']:.1%} of {best['n']:,} {best['value']} rows (SPD {worst['spd']:.3f},"
        f" {worst['spd_low']:.3f} to {worst['spd_high']:.3f}; {ratio}): {conclusion}. {_difference(item)}"
    ]
    return lines + _few_lines(groups, good) + _error_lines(item, worst, best["value"])


def _difference(item: Audited) -> str:
    """Describe whether any rate differs, and the least detectable difference."""
    if np.isnan(item.p_value):
        return "All rows get the same answer, so no rate can differ."
    test = f"p = {item.p_value:.2g}, all groups"
    if item.p_value <= SIGNIFICANT:
        return f"The rates of the groups differ ({test})."
    tested = item.groups[item.groups["seen_rate"].notna()]
    if tested.empty:
        return f"The test finds no difference ({test}). The rows are too few to detect one."
    row = tested.loc[(tested["seen_other_rate"] - tested["seen_rate"]).idxmax()]
    points = 100 * (row["seen_other_rate"] - row["seen_rate"])
    return (
        f"The test finds no difference ({test}). Least detectable difference (power .80): a rate of"
        f" {row['seen_rate']:.1%} for {row['value']}, {points:.1f} points below all others."
    )


def _error_lines(item: Audited, worst: pd.Series, reference: str) -> list[str]:
    value, low, high = item.odds
    if not np.isfinite(value):
        return []
    line = (
        f"Errors: the equalized odds difference is {value:.3f} ({low:.3f} to {high:.3f}). It is the largest"
        " difference of true or false positive rates between two groups."
    )
    if np.isfinite(worst["average_odds"]):
        eod, fpd = (
            f"{worst[name]:.3f} ({worst[f'{name}_low']:.3f} to {worst[f'{name}_high']:.3f})"
            for name in ("eod", "fpd")
        )
        line += (
            f" {worst['value']} minus {reference}: true positive rate {eod} (EOD), false positive rate {fpd}"
            f" (FPD). The average odds difference, {worst['average_odds']:.3f}, is their mean. Opposite"
            " errors cancel in this mean."
        )
    return [line]


def _is_too_few(groups: pd.DataFrame) -> pd.Series:
    return groups["seen_rate"].isna() & ~(groups["p_value"] <= SIGNIFICANT)


def _few_lines(groups: pd.DataFrame, good: str) -> list[str]:
    """Name the groups that are too small to judge, with their counts."""
    few = groups[_is_too_few(groups)] if groups["p_value"].notna().any() else groups[:0]
    if few.empty:
        return []
    rows = few.head(N_FEW).to_dict("records")
    names = [f"{row['value']} ({good} for {row['n_predicted']:,} of {row['n']:,})" for row in rows]
    more = f" and {len(few) - N_FEW:,} more (see the JSON file)" if len(few) > N_FEW else ""
    return [f"Too few rows for a test: {', '.join(names)}{more}."]


def _individual(item: Audited, label: str) -> Section:
    order = item.values.sort_values("rate", ascending=False, kind="stable").head(N_VALUES)
    cells = {
        "Value": "{value}",
        "If all rows had it": "{rate:.1%}",
        "95% interval": "{rate_low:.1%} to {rate_high:.1%}",
        "Favoured in": "{favoured:.1%}",
        "Disfavoured in": "{disfavoured:.1%}",
    }
    return build_section(
        f"{item.protected}: favoured values",
        f"Each row is classified once with each value of {item.protected}; all other values stay. The figure"
        f" shows the share of rows that would get {label} if all rows had the value.",
        order,
        cells,
        "Favoured: the row gets the favourable answer with this value, but not with some other value."
        " Disfavoured: the reverse. Bars: exact 95% intervals, over rows.",
        Chart("value", {"rows": "rate"}, f"Share of rows with {label}", "{value} {rate:.1%}"),
    )


def _severity(item: Audited, label: str) -> Section:
    pairs = item.pairs.sort_values("difference", ascending=False, kind="stable").head(N_VALUES)
    pairs = pairs.assign(pair=pairs["value"] + " over " + pairs["other"])
    cells = {
        "Favoured": "{value}",
        "Over": "{other}",
        "Rows": "{n_favoured:,}",
        "Share": "{favoured:.1%}",
        "Minus the reverse": estimate("difference", ".1%"),
        "Probability gap": estimate("gap", ".3f"),
    }
    return build_section(
        f"{item.protected}: size of the differences",
        f"The probability gap is the probability of {label} with the one value minus that with the other, all"
        " other values equal, averaged over all rows. It also counts rows whose answer stays the same.",
        pairs,
        cells,
        "Bars: 95% intervals of means by Student's t, over rows, simultaneous over all pairs (Bonferroni).",
        Chart(
            "pair",
            {"gap": "gap"},
            f"Mean difference of the probability of {label}",
            "{pair} {gap:.3f}",
            line=0.0,
        ),
    )


def _groups(item: Audited, label: str) -> Section:
    groups = item.groups.sort_values("rate", ascending=False, kind="stable").head(N_VALUES)
    cells = {
        "Value": "{value}",
        "Rows": "{n:,}",
        "Rate": "{rate:.1%}",
        "SPD": estimate("spd", ".3f"),
        "Ratio": estimate("ratio", ".2f"),
        "EOD": estimate("eod", ".3f"),
        "FPD": estimate("fpd", ".3f"),
        "AOD": "{average_odds:.3f}",
        "Agreement": "{agreement:.1%}",
    }
    best = item.groups.loc[item.groups["is_reference"], "value"].item()
    choice = f"the value with the highest rate among values with at least {SMALL_SHARE:.0%} of the rows"
    return build_section(
        f"{item.protected}: group rates",
        "Answers for the groups in the table. Groups may also differ in other attributes, so a difference is"
        f" not always due to {item.protected}. Conversely, a classifier that never reads {item.protected} can"
        " treat the groups differently by correlated attributes.",
        groups,
        cells,
        f"Reference: {best}{'' if item.is_named else f', {choice}'}. 95% intervals, simultaneous over all"
        " comparisons by one measure. SPD: difference of rates. EOD: difference of rates among the rows with"
        " the favourable label. FPD: the same among the other rows. AOD (average odds difference): mean of"
        " EOD and FPD. Opposite errors cancel in it.",
        Chart(
            "value",
            {"rows": "ratio"},
            f"Rate of {label} relative to {best}",
            "{value} {ratio:.2f}",
            line=FOUR_FIFTHS,
            line_label="four fifths",
        ),
    )


def _examples(item: Audited, label: str) -> Section:
    if item.examples.empty:
        return Section(f"{item.protected}: examples", ["No row of the table changes its answer."])
    rows = item.examples.rename(columns={"least": "Least with", "most": "most with"})
    rows["p_least"] = rows["p_least"].map("{:.3f}".format)
    rows["p_most"] = rows["p_most"].map("{:.3f}".format)
    rows = rows.rename(columns={"p_least": f"p({label})", "p_most": f"p({label}) "})
    return Section(
        f"{item.protected}: rows with the largest differences",
        table=rows.astype(str),
        note=(
            "Rows whose answer changes with the value, by decreasing difference of the probabilities. Numbers"
            " are ranges if the schema has ranges."
        ),
    )
