"""The answer to whether ranked lists show each group as they should: lines, page and numbers."""

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.core.answers import Answer, Section, dots, listed, with_ends
from biaslab.core.rates import FOUR_FIFTHS, SMALL_SHARE, verdict
from biaslab.core.tables import NO_INTERVAL, four_digits, text_columns
from biaslab.ranking import registry
from biaslab.ranking.auditing import Audit
from biaslab.ranking.lists import ListFile
from biaslab.ranking.reranking import RANKINGS

SIGNIFICANT = 0.05
N_VALUES = 20
"""Values that the answer tells of; the JSON file has them all."""

_BEFORE, _AFTER = RANKINGS
_SHOWN = ("ndkl", "min_skew", "max_skew", "exposure_ratio", "infeasible_index", "ndcg")


def answer(found: Audit, source: ListFile, desired: str, k: int, algorithm: str) -> Answer:
    """Say what an audit found."""
    before = _rows(found, _BEFORE)
    is_reranked = _AFTER in set(found.values["ranking"])
    lines = [_value_line(row, found) for row in before.head(N_VALUES).to_dict("records")]
    lines += [*_test_lines(found), *_unknown_lines(found, before)]
    if is_reranked:
        lines.append(_after_line(found, algorithm))
    return Answer(
        command="biaslab ranking audit",
        question=(
            f"Is each {' x '.join(source.columns.attributes)} shown as it should be in {source.path.name}?"
        ),
        data=_data(found, source, desired, k, algorithm if is_reranked else None),
        files=[source.path],
        lines=lines,
        sections=[
            _shares(found, before),
            _selection(found, before),
            _exposure(found, before),
            _tests(found, before),
            _measures(found),
        ],
        limits=_limits(found),
        numbers={
            "values": found.values,
            "selection": found.selection,
            "tests": found.tests,
            "measures": found.measures,
            "n_unknown_in_top": found.n_unknown[0],
            "n_unknown_below": found.n_unknown[1],
        },
    )


def _rows(found: Audit, ranking: str) -> pd.DataFrame:
    """Return what is known of each value in one ranking, the most wanted values first."""
    values = found.values[found.values["ranking"] == ranking].drop(columns="ranking")
    selection = found.selection[found.selection["ranking"] == ranking].drop(columns="ranking")
    table = values.merge(selection, on="value", how="left")
    return table.sort_values(["desired", "value"], ascending=[False, True], ignore_index=True)


def _value_line(row: dict, found: Audit) -> str:
    places = found.n_places / found.n_lists
    gap = (row["share"] - row["desired"]) * places
    gap_text = f"{abs(gap):.1f} places of {four_digits(places)} too {'few' if gap < 0 else 'many'}"
    shown = f"{row['value']} has {row['share']:.1%} of the top, {row['desired']:.1%} desired"
    shown += " (as desired)" if abs(gap) < 0.05 else f" ({gap_text}{' a list' if found.n_lists > 1 else ''})"
    if not row["n_candidates"] > 0:
        return f"{shown}; no candidate has this value."
    shown += (
        f"; {row['n_selected']:.0f} of {row['n_candidates']:,.0f} candidates selected ({row['rate']:.1%})"
    )
    if row["is_reference"]:
        return f"{shown}, the highest rate, which the others are compared with."
    interval = f" (95% interval {row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
    interval = interval if np.isfinite(row["ratio_low"]) else ""
    judged = verdict(row["ratio"], row["ratio_low"], row["ratio_high"])
    return f"{shown}, {row['ratio']:.2f} times the rate of {found.reference}{interval}: {judged}."


def _test_lines(found: Audit) -> list[str]:
    tests = found.tests.dropna(subset="p_value")
    lines = []
    for value, rows in tests.groupby("value"):
        n, few = len(rows), int((rows["p_value"] <= SIGNIFICANT).sum())
        p = rows["p_value_corrected"].min()
        if n > 1 and few:
            chance = scipy.stats.binomtest(few, n, SIGNIFICANT, "greater").pvalue
            lines.append(
                f"By FA*IR's test at {SIGNIFICANT:.0%} {value} has too few places in {few:,} of {n:,}"
                f" lists, where chance gives at most {SIGNIFICANT * n:,.0f} (p = {chance:.2g}); corrected"
                f" for all {len(tests):,} tests the least p is {p:.2g}."
            )
        elif n == 1 and p <= SIGNIFICANT:
            lines.append(
                f"By FA*IR's test {value} has too few places for chance: p = {rows['p_value'].min():.2g},"
                f" {p:.2g} corrected for {len(tests)} values."
            )
    if not lines:
        least = tests.loc[tests["p_value"].idxmin()]
        lines.append(
            f"By FA*IR's test no value has too few places for chance (least p {least['p_value']:.2g}, for"
            f" {least['value']}, {least['p_value_corrected']:.2g} corrected for {len(tests):,} tests); that"
            " is no proof that it has enough."
        )
    return lines


def _unknown_lines(found: Audit, before: pd.DataFrame) -> list[str]:
    in_top, below = found.n_unknown
    if not in_top + below:
        return []
    parts = []
    for row in before[before["n_candidates"] > 0].head(N_VALUES).to_dict("records"):
        part = f"{row['value']} {row['share_least']:.1%} to {row['share_most']:.1%} of the top"
        if not row["is_reference"]:
            part += f", ratio {row['ratio_least']:.2f} to {row['ratio_most']:.2f}"
        parts.append(part)
    return [
        f"{in_top + below:,} candidates have no known value ({in_top:,} in the top). Whatever they are:"
        f" {'; '.join(parts)}."
    ]


def _after_line(found: Audit, algorithm: str) -> str:
    after = _rows(found, _AFTER)
    shares = ", ".join(
        f"{row['value']} {row['share']:.1%}" for row in after.head(N_VALUES).to_dict("records")
    )
    means = found.measures.set_index(["measure", "ranking"])["mean"]
    change = "; ".join(
        f"{registry.MEASURES[name].title} {four_digits(means[name, _BEFORE])} ->"
        f" {four_digits(means[name, _AFTER])}"
        for name in ("ndkl", "exposure_ratio", "ndcg")
    )
    return f"Re-ranked by {registry.algorithm(algorithm).title} the top has {shares}; {change}."


def _data(found: Audit, source: ListFile, desired: str, k: int, algorithm: str | None) -> dict[str, str]:
    columns = source.columns
    order = (
        f"{columns.rank}, lowest first"
        if columns.rank
        else f"{columns.score}, highest first"
        if columns.score
        else "that of the file"
    )
    data = {
        "File": source.path.name,
        "Lists": f"{found.n_lists:,}" + (f", by {columns.query}" if columns.query else ""),
        "Candidates": f"{found.n_candidates:,}, of them {sum(found.n_unknown):,} without a known value",
        "Top": f"the first {k:,} places of each list ({found.n_places:,} places)",
        "Order": order,
        "Desired": desired,
    }
    if found.n_unsorted:
        data["Order"] += f"; not that of {columns.score} in {found.n_unsorted:,} lists"
    return data | ({"Re-ranked by": registry.algorithm(algorithm).title} if algorithm else {})


def _series(found: Audit, name: str) -> dict[str, np.ndarray]:
    return {
        ranking: with_ends(_rows(found, ranking).head(N_VALUES), name)
        for ranking in RANKINGS
        if ranking in set(found.values["ranking"])
    }


def _shares(found: Audit, before: pd.DataFrame) -> Section:
    shown = before.head(N_VALUES)
    names = {ranking: f"share of the top, {ranking}" for ranking in RANKINGS}
    series = {names[ranking]: of for ranking, of in _series(found, "share").items()}
    series["desired share"] = np.stack([shown["desired"], *[np.full(len(shown), np.nan)] * 2], axis=1)
    table = text_columns(
        shown,
        {
            "Value": "{value}",
            "Desired": "{desired:.1%}",
            "Of the top": "{share:.1%}",
            "Skew": "{skew:.3f}",
            "Lists": "{n_lists}",
        },
    )
    if found.n_lists > 1:
        table.insert(
            3, "95% interval", text_columns(shown, {"i": "{share_low:.1%} to {share_high:.1%}"})["i"]
        )
    over = (
        "Bars: 95% intervals of the mean over lists."
        if found.n_lists > 1
        else "One list: shares are counted, not estimated."
    )
    return Section(
        "Places",
        ["How much of the top each value has, beside how much it should have."],
        dots(shown["value"], series, "Share of the places in the top"),
        "Shares of the top by value: " + listed(shown, "{value} {share:.1%}, desired {desired:.1%}"),
        table,
        f"{over} Skew is the natural logarithm of share over desired share: 0 as desired, below it fewer,"
        " −0.69 half as many.",
    )


def _selection(found: Audit, before: pd.DataFrame) -> Section:
    shown = before[before["n_candidates"] > 0].head(N_VALUES)
    series = {
        f"{r}": with_ends(_rows(found, r).query("n_candidates > 0").head(N_VALUES), "ratio")
        for r in _series(found, "share")
    }
    templates = {
        "Value": "{value}",
        "Candidates": "{n_candidates:,.0f}",
        "Selected": "{n_selected:,.0f}",
        "Rate": "{rate:.1%} ({rate_low:.1%} to {rate_high:.1%})",
        "Ratio to the highest": "{ratio:.2f} ({ratio_low:.2f} to {ratio_high:.2f})",
    }
    if sum(found.n_unknown):
        templates["Ratio, whatever the unknown are"] = "{ratio_least:.2f} to {ratio_most:.2f}"
    return Section(
        "Selection rates and the four-fifths rule",
        [
            "Who is in the top counts as selected. A rate below four fifths of the highest is, by the"
            " guidelines of US agencies on employee selection, generally regarded as evidence of adverse"
            " impact; it is a rule of thumb, no law of nature: the interval tells whether chance alone could"
            " do it."
        ],
        dots(
            shown["value"],
            series,
            f"Selection rate relative to the highest ({found.reference} before)",
            FOUR_FIFTHS,
            "four fifths",
        ),
        "Ratios by value: " + listed(shown, "{value} {ratio:.2f}"),
        text_columns(shown, templates).replace(NO_INTERVAL, "", regex=True),
        f"In brackets: 95% intervals. Values with less than {SMALL_SHARE:.0%} of the candidates are not taken"
        " for the highest rate.",
    )


def _exposure(found: Audit, before: pd.DataFrame) -> Section:
    shown = before[before["n_candidates"] > 0].head(N_VALUES)
    series = {
        r: with_ends(_rows(found, r).query("n_candidates > 0").head(N_VALUES), "exposure")
        for r in _series(found, "share")
    }
    templates = {
        "Value": "{value}",
        "Exposure of a candidate": "{exposure:.3f}",
        "Share of the attention": "{attention:.1%}",
    }
    if before["relevance"].notna().any():
        templates["Share of the scores"] = "{relevance:.1%}"
    return Section(
        "Exposure",
        [
            "Higher places are seen more: place j gets an attention of 1 / log2(j + 1). Exposure is the mean"
            " attention that a candidate of a value gets, 0 below the top."
        ],
        dots(shown["value"], series, "Mean attention of a candidate"),
        "Exposure by value: " + listed(shown, "{value} {exposure:.3f}"),
        text_columns(shown, templates),
        "Bars: 95% intervals of the mean over lists." if found.n_lists > 1 else "",
    )


def _tests(found: Audit, before: pd.DataFrame) -> Section:
    rows = []
    for value, tests in found.tests.groupby("value"):
        p = tests["p_value"].dropna()
        rows.append(
            {
                "value": value,
                "n": len(p),
                "raw": (p <= SIGNIFICANT).sum(),
                "corrected": (tests["p_value_corrected"] <= SIGNIFICANT).sum(),
                "least": tests["p_value_corrected"].min(),
                "pool": tests["p_value_pool_corrected"].min(),
            }
        )
    templates = {
        "Value": "{value}",
        "Lists tested": "{n:,}",
        "p ≤ .05": "{raw:,}",
        "corrected p ≤ .05": "{corrected:,}",
        "Least corrected p": "{least:.3g}",
        "the same, drawn from the list": "{pool:.3g}",
    }
    return Section(
        "Too few places for chance?",
        [
            "FA*IR's test (Zehlike et al. 2017) looks at all prefixes of a top: had each place been drawn"
            " with the desired share, how often would some prefix have as few of the value? With many tests"
            " some are small by chance, 5 in 100 below .05; corrected (Holm) there is at most a chance of 5%"
            " that any is."
        ],
        table=text_columns(pd.DataFrame(rows).head(N_VALUES), templates),
        note=(
            "Drawn from the list: without replacement from its candidates, instead of with the desired share."
        ),
    )


def _measures(found: Audit) -> Section:
    means = found.measures[found.measures["measure"].isin(_SHOWN)]
    wide = means.pivot(index="measure", columns="ranking", values="mean").reindex(
        [m for m in _SHOWN if m in set(means["measure"])]
    )
    shown = wide.reset_index().assign(
        title=lambda t: [registry.MEASURES[m].title for m in t["measure"]],
        fair=lambda t: [registry.MEASURES[m].fair for m in t["measure"]],
    )
    templates = {"Measure": "{title}", "Nothing unfair, or lost": "{fair:g}", "Before": "{before:.4f}"}
    if _AFTER in wide:
        templates["After"] = "{after:.4f}"
    return Section(
        "The lists as a whole",
        [
            "NDKL: how far the shares of all prefixes are from the desired ones. MinSkew, MaxSkew: of the"
            " worst- and best-placed value. Exposure ratio: the least exposure over the greatest."
            " InfeasibleIndex: prefixes in which a value has fewer places than its desired share, rounded"
            " down. NDCG: what of the scores' order is kept."
        ],
        table=text_columns(shown, templates),
        note="Means over lists; lists in which a measure is infinite or undefined are left out."
        if found.n_lists > 1
        else "",
    )


def _limits(found: Audit) -> list[str]:
    limits = [
        "The scores are taken as they are: where they are biased themselves, a ranking that follows them is"
        " not fair for that.",
        "What is desired is your choice; another choice gives another answer.",
        "Selection is being in the top. Who applies, and what happens after the top is seen, is not in the"
        " file.",
        "An interval that includes four fifths, or a test that is not significant, is no proof that all is"
        " well: few candidates show little.",
    ]
    if found.n_lists == 1:
        limits.append(
            "Intervals of one list take its candidates for draws of independent people; their places are"
            " not: someone's place is another's loss."
        )
    else:
        limits.append("Intervals take the lists for independent draws of like lists.")
    if sum(found.n_unknown):
        limits.append(
            "Shares, rates and tests are of candidates whose value is known; the bounds say what the unknown"
            " could change."
        )
    return limits
