"""The answer of the audit of a table's classifier: lines, page and numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.answers import Answer, Section, dots, listed, with_ends
from biaslab.classifiers.encoding import Data
from biaslab.classifiers.schema import Schema
from biaslab.core.comparisons import SIGNIFICANT
from biaslab.core.rates import CLEARLY_BELOW, FOUR_FIFTHS, SMALL_SHARE, verdict
from biaslab.core.stats import share_interval
from biaslab.core.tables import NO_INTERVAL, text_columns
from biaslab.fairness_testing.auditing import N_UNIFORM, Audited
from biaslab.fairness_testing.names import TRAIN

N_VALUES = 20
"""The number of values and pairs on the page; the JSON file contains all."""
N_FEW = 6
"""The number of small groups that a line names."""
LIMITS = [
    "Changing one attribute and nothing else may make people that do not exist; what follows from the"
    " attribute in the world stays as it was.",
    "Equal treatment here is no proof of fairness: a classifier that never sees the attribute passes,"
    " and can still tell groups apart by what goes along with it. The group measures show that, but not"
    " why.",
    "Rows that the classifier was trained on show it at its best; bring others to judge its errors.",
    "Intervals take the rows for independent draws. Those of groups hold together for one protected"
    " attribute; with several attributes, some gaps are chance.",
    "The label of the table is taken for true. Where it was given unfairly, agreeing with it is no merit.",
    f"Of the domain {N_UNIFORM:,} uniform samples are asked about: combinations that rarely or never"
    " occur among them.",
]
"""Limits of the answer."""


def answer(
    found: Sequence[Audited],
    data: Path,
    table: Data,
    schema: Schema,
    model: str,
    good: str,
    agreement: float,
    encoded: Sequence[str] = (),
    reading: Sequence[str] = (),
) -> Answer:
    """Return the answer of the audits of protected attributes.

    `encoded` are attributes that the classifier receives rounded. `reading` are lines on changes made while
    reading the table.
    """
    label, named = (
        f"{schema.label.name} = {good}",
        "the trained network" if model == TRAIN else Path(model).name,
    )
    counts = np.bincount(table.y)
    lines = [
        f"The favourable answer is {label}. The classifier agrees with the table in {agreement:.1%} of"
        f" {len(table.X):,} rows; always {schema.classes[counts.argmax()]} would in"
        f" {counts.max() / len(table.y):.1%}.",
        *reading,
    ]
    if encoded:
        lines.append(
            f"The classifier gets encoded numbers: {', '.join(encoded)} rounded as the schema says. If it"
            " was fitted on the file's own numbers, fit it on named columns (a pandas table): all numbers"
            " below are of encoded rows and no all-clear."
        )
    for item in found:
        lines += _lines(item, good)
    return Answer(
        command="biaslab fairness-testing audit",
        question=f"Whom does {named} treat differently in {data.name}?",
        data={
            "Table": data.name,
            "Rows": f"{len(table.X):,} of {len(schema.attributes)} attributes",
            "Left out": f"{table.n_missing:,} rows in which a value or the label is missing",
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
        f"Changing {name} alone gives {n:,} of {item.n_rows:,} rows another answer ({n / item.n_rows:.1%},"
        f" 95% interval {low:.1%} to {high:.1%}), and {share:.1%} of the whole domain ({least:.1%} to"
        f" {most:.1%})."
    ]
    lines.append(_favoured(item, good))
    lines.append(
        f"How badly: changing {name} moves the probability of {good} by {item.gap['mean']:.3f} in the mean"
        f" ({item.gap['low']:.3f} to {item.gap['high']:.3f}), by {item.gap['upper_decile']:.3f} or more"
        f" in a tenth of the rows, at most by {item.gap['maximum']:.3f}."
    )
    return lines + _group_lines(item, good)


def _favoured(item: Audited, good: str) -> str:
    pair = item.pairs.loc[item.pairs["difference"].idxmax()]
    if not item.pairs["n_favoured"].any():
        return (
            f"No value of {item.protected} is favoured in any row: of {item.n_rows:,} rows none gets"
            f" {good} with one value and not with another. Rows that are not in the table may."
        )
    reverse = item.pairs[
        (item.pairs["value"] == pair["other"]) & (item.pairs["other"] == pair["value"])
    ].iloc[0]
    is_clear = pair["difference_low"] > 0
    return (
        f"{'Favoured is' if is_clear else 'No value is clearly favoured, most'} {pair['value']} over"
        f" {pair['other']}: {pair['favoured']:.1%} of the rows get {good}"
        f" with {pair['value']} and not with {pair['other']}, {reverse['favoured']:.1%} the other way round"
        f" (difference {pair['difference']:.1%}, {pair['difference_low']:.1%} to"
        f" {pair['difference_high']:.1%})."
    )


def _group_lines(item: Audited, good: str) -> list[str]:
    groups = item.groups
    if len(groups) < 2:
        return [f"Groups of {item.protected} cannot be compared: all rows have one value."]
    best = groups[groups["is_reference"]].iloc[0]
    others = groups[~groups["is_reference"]]
    large = others[~_is_too_few(others)]
    worst = others.loc[(large if len(large) else others)["rate"].idxmin()]
    conclusion = verdict(worst["ratio"], worst["ratio_low"], worst["ratio_high"])
    if conclusion == CLEARLY_BELOW and not item.p_value <= SIGNIFICANT:
        conclusion += ", but the test of all groups sees no difference"
    ratio = f"ratio {worst['ratio']:.2f}, {worst['ratio_low']:.2f} to {worst['ratio_high']:.2f}"
    lines = [
        f"Groups as they are: {good} for {worst['rate']:.1%} of {worst['n']:,} {worst['value']} and"
        f" {best['rate']:.1%} of {best['n']:,} {best['value']} rows (SPD {worst['spd']:.3f},"
        f" {worst['spd_low']:.3f} to {worst['spd_high']:.3f}; {ratio}): {conclusion}. {_difference(item)}"
    ]
    return lines + _few_lines(groups, good) + _error_lines(item, worst, best["value"])


def _difference(item: Audited) -> str:
    """Describe whether any rate differs, and the least detectable difference."""
    if np.isnan(item.p_value):
        return "All rows get one answer, so that no rate can differ."
    test = f"p = {item.p_value:.2g}, all groups counted"
    if item.p_value <= SIGNIFICANT:
        return f"The rates of the groups differ ({test})."
    tested = item.groups[item.groups["seen_rate"].notna()]
    if tested.empty:
        return f"No difference is seen ({test}), and these rows are too few to show one."
    row = tested.loc[(tested["seen_other_rate"] - tested["seen_rate"]).idxmax()]
    points = 100 * (row["seen_other_rate"] - row["seen_rate"])
    return (
        f"No difference is seen ({test}). Seen four times in five (power .80) would be a rate of"
        f" {row['value']} of {row['seen_rate']:.1%} or less, {points:.1f} points below all others."
    )


def _error_lines(item: Audited, worst: pd.Series, reference: str) -> list[str]:
    value, low, high = item.odds
    if not np.isfinite(value):
        return []
    line = (
        f"Errors: the true or the false positive rates of two groups differ by up to {value:.3f}"
        f" ({low:.3f} to {high:.3f}; equalized odds difference)."
    )
    if np.isfinite(worst["average_odds"]):
        eod, fpd = (
            f"{worst[name]:.3f} ({worst[f'{name}_low']:.3f} to {worst[f'{name}_high']:.3f})"
            for name in ("eod", "fpd")
        )
        line += (
            f" {worst['value']} less {reference}: true positive rate {eod} (EOD), false positive rate {fpd}"
            f" (FPD). The average odds difference, {worst['average_odds']:.3f}, is their mean, in which"
            " opposite errors cancel."
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
    more = f" and {len(few) - N_FEW:,} more, which the JSON file has" if len(few) > N_FEW else ""
    return [f"Too few rows to tell: {', '.join(names)}{more}."]


def _individual(item: Audited, label: str) -> Section:
    order = item.values.sort_values("rate", ascending=False, kind="stable").head(N_VALUES)
    templates = {
        "Value": "{value}",
        "If all rows had it": "{rate:.1%}",
        "95% interval": "{rate_low:.1%} to {rate_high:.1%}",
        "Favoured in": "{favoured:.1%}",
        "Disfavoured in": "{disfavoured:.1%}",
    }
    return Section(
        f"{item.protected}: who is favoured",
        [
            f"Every row is asked about once with each value of {item.protected}, all else equal. The"
            f" figure shows how many rows would get {label} if all had the value."
        ],
        dots(order["value"], {"rows": with_ends(order, "rate")}, f"Share of rows with {label}"),
        listed(order, "{value} {rate:.1%}"),
        text_columns(order, templates),
        "Favoured: it gets the favourable answer where some other value does not; disfavoured the other way"
        " round. Bars: exact 95% intervals, over rows.",
    )


def _severity(item: Audited, label: str) -> Section:
    pairs = item.pairs.sort_values("difference", ascending=False, kind="stable").head(N_VALUES)
    rows = pairs.assign(pair=pairs["value"] + " over " + pairs["other"]).head(N_VALUES // 2)
    templates = {
        "Favoured": "{value}",
        "Over": "{other}",
        "Rows": "{n_favoured:,}",
        "Share": "{favoured:.1%}",
        "Less the other way round": "{difference:.1%} ({difference_low:.1%} to {difference_high:.1%})",
        "Probability gap": "{gap:.3f} ({gap_low:.3f} to {gap_high:.3f})",
    }
    return Section(
        f"{item.protected}: how often, and how badly",
        [
            f"The probability gap is how much more probable {label} is with the one value than with the"
            " other, all else equal, in the mean of all rows: it also counts where the answer stays the"
            " same."
        ],
        dots(
            rows["pair"],
            {"gap": with_ends(rows, "gap")},
            f"Mean difference of the probability of {label}",
            0.0,
        ),
        listed(rows, "{pair} {gap:.3f}"),
        text_columns(pairs, templates),
        "Bars: 95% intervals of means by Student's t, over rows; those of all pairs hold together"
        " (Bonferroni).",
    )


def _groups(item: Audited, label: str) -> Section:
    groups = item.groups.sort_values("rate", ascending=False, kind="stable").head(N_VALUES)
    templates = {
        "Value": "{value}",
        "Rows": "{n:,}",
        "Rate": "{rate:.1%}",
        "SPD": "{spd:.3f} ({spd_low:.3f} to {spd_high:.3f})",
        "Ratio": "{ratio:.2f} ({ratio_low:.2f} to {ratio_high:.2f})",
        "EOD": "{eod:.3f} ({eod_low:.3f} to {eod_high:.3f})",
        "FPD": "{fpd:.3f} ({fpd_low:.3f} to {fpd_high:.3f})",
        "AOD": "{average_odds:.3f}",
        "Agreement": "{agreement:.1%}",
    }
    best = item.groups.loc[item.groups["is_reference"], "value"].item()
    return Section(
        f"{item.protected}: the groups as they are",
        [
            "What the groups of the table get. They may differ in other attributes, too, so that a gap here"
            f" is not always the classifier's treatment of {item.protected}; the other way round, a"
            " classifier that never looks at it can still treat groups differently by what goes along with"
            " it."
        ],
        dots(
            groups["value"],
            {"rows": with_ends(groups, "ratio")},
            f"Rate of {label} relative to {best}",
            FOUR_FIFTHS,
            "four fifths",
        ),
        listed(groups, "{value} {ratio:.2f}"),
        text_columns(groups, templates).replace(NO_INTERVAL, "", regex=True),
        f"Compared with {best}, "
        + (
            "which was named. "
            if item.is_named
            else f"the value with the highest rate (of those with {SMALL_SHARE:.0%} of the rows or more). "
        )
        + "95% intervals, simultaneous over all comparisons by one measure. SPD: difference of rates. EOD:"
        " difference of rates among the rows that are favourable in the table; FPD: the same among the rest."
        " AOD (average odds difference): their mean, in which opposite errors cancel.",
    )


def _examples(item: Audited, label: str) -> Section:
    if item.examples.empty:
        return Section(f"{item.protected}: examples", ["No row of the table gets several answers."])
    rows = item.examples.rename(columns={"least": "Least with", "most": "most with"})
    rows["p_least"] = rows["p_least"].map("{:.3f}".format)
    rows["p_most"] = rows["p_most"].map("{:.3f}".format)
    rows = rows.rename(columns={"p_least": f"p({label})", "p_most": f"p({label}) "})
    return Section(
        f"{item.protected}: rows that are treated most differently",
        table=rows.astype(str),
        note=(
            "Rows that get several answers, by the gap of the probabilities; numbers as ranges where the"
            " schema has them so."
        ),
    )
