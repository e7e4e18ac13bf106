"""The answer of the ranking audit: lines, page and numbers."""

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.answers import Answer, Chart, Section, build_section, estimate, join_names, with_interval
from biaslab.core.rates import CLEARLY_BELOW, FOUR_FIFTHS, SMALL_SHARE, UNTOLD, verdict
from biaslab.core.stats import SIGNIFICANT
from biaslab.core.tables import four_digits
from biaslab.ranking import registry
from biaslab.ranking.auditing import Audit
from biaslab.ranking.lists import ListFile
from biaslab.ranking.reranking import RANKINGS

N_VALUES = 20  # the number of values in the answer; the JSON file contains all values
N_LEAST = 5  # the number of least detectable differences in a line

_BEFORE, _AFTER = RANKINGS
_SHOWN = ("ndkl", "min_skew", "max_skew", "exposure_ratio", "infeasible_index", "ndcg")


def answer(audit: Audit, source: ListFile, desired: str, k: int, algorithm: str) -> Answer:
    """Return the answer of an audit."""
    tables = {ranking: _rows(audit, ranking) for ranking in audit.values["ranking"].unique()}
    present = {name: table[table["n_candidates"] > 0].head(N_VALUES) for name, table in tables.items()}
    before, is_reranked = tables[_BEFORE], _AFTER in tables
    lines = [_value_line(row, audit) for row in before.head(N_VALUES).to_dict("records")]
    lines += [*_difference_lines(audit, before), *_tie_lines(audit)]
    test_lines, tests = _tests(audit)
    lines += [*test_lines, *_unknown_lines(audit, present[_BEFORE])]
    if is_reranked:
        lines.append(_after_line(audit, tables[_AFTER].head(N_VALUES), algorithm))
    attribute = " x ".join(source.columns.attributes)
    (n_tied, n_tied_places, n_lists_tied), (n_in_top, n_below) = audit.n_tied, audit.n_unknown
    return Answer(
        command="biaslab ranking audit",
        question=f"Does each {attribute} have its desired places in {source.path.name}?",
        data=_data(audit, source, desired, k, algorithm if is_reranked else None),
        files=[source.path],
        lines=lines,
        sections=[
            _shares(audit, {name: table.head(N_VALUES) for name, table in tables.items()}),
            _selection(audit, present),
            _exposure(audit, present),
            tests,
            _measures(audit),
        ],
        limits=_limits(audit),
        numbers={
            "values": audit.values,
            "selection": audit.selection,
            "tests": audit.tests,
            "measures": audit.measures,
            "p_value_of_no_difference": audit.p_value,
            "reference_named": audit.is_named,
            "n_tied": n_tied,
            "n_tied_places": n_tied_places,
            "n_lists_tied": n_lists_tied,
            "n_unknown_in_top": n_in_top,
            "n_unknown_below": n_below,
        },
    )


def _rows(audit: Audit, ranking: str) -> pd.DataFrame:
    """Return the results of each value in one ranking, the largest desired share first."""
    values, selection = (
        table[table["ranking"] == ranking].drop(columns="ranking")
        for table in (audit.values, audit.selection)
    )
    table = values.merge(selection, on="value", how="left")
    return table.sort_values(["desired", "value"], ascending=[False, True], ignore_index=True)


def _value_line(row: dict, audit: Audit) -> str:
    places = audit.n_places / audit.n_lists
    gap = (row["share"] - row["desired"]) * places
    gap_text = f"{abs(gap):.1f} places of {four_digits(places)} too {'few' if gap < 0 else 'many'}"
    text = f"{row['value']} has {row['share']:.1%} of the top, {row['desired']:.1%} desired"
    text += " (as desired)" if abs(gap) < 0.05 else f" ({gap_text}{' a list' if audit.n_lists > 1 else ''})"
    if not row["n_candidates"] > 0:
        return f"{text}; no candidate has this value."
    least, most = row["n_selected_least"], row["n_selected_most"]
    count = f"{row['n_selected']:,.0f}"
    if least != most:  # scores tie
        count = f"{row['n_selected']:,.1f} ({least:,.0f} to {most:,.0f} possible)"
    text += f"; {count} of {row['n_candidates']:,.0f} candidates selected ({row['rate']:.1%})"
    too_few = " (too few candidates)" if row["is_too_few"] and not row["p_value"] <= SIGNIFICANT else ""
    if row["is_reference"]:
        return f"{text}, {'' if audit.is_named else 'the highest rate and so '}the reference{too_few}."
    has_several = (audit.selection["ranking"] == _BEFORE).sum() > 2  # values besides the reference
    name = "simultaneous 95%" if has_several else "95%"
    interval = f" ({name} interval {row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
    interval = interval if np.isfinite(row["ratio_low"]) else ""
    conclusion = verdict(row["ratio"], row["ratio_low"], row["ratio_high"])
    if conclusion == CLEARLY_BELOW and not audit.p_value <= SIGNIFICANT:
        conclusion += ", but the test of all values finds no difference"
    if conclusion == UNTOLD:
        return f"{text}: {'too few candidates' if row['is_too_few'] else UNTOLD}."
    ratio = f"{row['ratio']:.2f} times the rate of {audit.reference}"
    return f"{text}, {ratio}{interval}: {conclusion}{too_few if conclusion != CLEARLY_BELOW else ''}."


def _difference_lines(audit: Audit, before: pd.DataFrame) -> list[str]:
    rows = before[before["p_value"].notna()]
    if not len(rows):
        return ["The candidates are too few to test a difference of selection rates."]
    test = f"p = {audit.p_value:.2g} for all values together"
    differs, is_few = rows["p_value"] <= SIGNIFICANT, rows["is_too_few"].astype(bool)
    rest, few = rows[~differs & ~is_few], rows[~differs & is_few]
    least = _least_differences(rest)
    lines = []
    if differs.any():
        parts = []
        hits, n = rows["n_selected"], rows["n_candidates"]
        excess = rows["rate"] - (hits.sum() - hits) / (n.sum() - n)  # over the rate of all other values
        for word, sign in (("less", -1), ("more", 1)):
            names = rows["value"][differs & (np.sign(excess) == sign)].tolist()
            if names:
                verb = "are" if len(names) > 1 else "is"
                parts.append(f"{join_names(names)} {verb} selected {word} often")
        lines.append(f"The selection rates differ ({test}): {' and '.join(parts)} than all others.")
        if len(rest):
            names = join_names(rest["value"])
            lines.append(f"The test finds no difference from all others for {names}. {least}")
    else:
        lines.append(f"The test finds no difference between the selection rates ({test}). {least}".rstrip())
    if len(few):
        names = [f"{row['value']} ({row['n_candidates']:,.0f})" for row in few.to_dict("records")]
        lines.append(
            f"Too few candidates for a test: {join_names(names)}."
            " Even if none of these candidates were selected, the power of the test would be below .80."
        )
    return lines


def _least_differences(rows: pd.DataFrame) -> str:
    values: dict[str, list[str]] = {}
    for value, rate, others in rows[["value", "seen_rate", "seen_other_rate"]].itertuples(index=False):
        text = f"{100 * (others - rate):.1f} points (rate {rate:.1%}, all others {others:.1%})"
        values.setdefault(text, []).append(value)
    if not values:
        return ""
    parts = [f"{join_names(names)} {text}" for text, names in list(values.items())[:N_LEAST]]
    more = f"; and {len(values) - N_LEAST} more" if len(values) > N_LEAST else ""
    return f"Least detectable difference (power .80): {'; '.join(parts)}{more}."


def _tie_lines(audit: Audit) -> list[str]:
    n, places, n_lists = audit.n_tied
    if not n:
        return []
    where = f" in {n_lists:,} of {audit.n_lists:,} lists" if audit.n_lists > 1 else ""
    return [
        f"{n:,} candidates tie for the last {places:,} places{where}; the scores do not determine their"
        " order. Shares, selected candidates and exposure are exact means over all orders of ties. Other"
        " measures, p-values and re-ranked numbers are means over random orders."
    ]


def _unknown_lines(audit: Audit, values: pd.DataFrame) -> list[str]:
    in_top, below = audit.n_unknown
    if not in_top + below:
        return []
    parts = []
    for row in values.to_dict("records"):
        part = f"{row['value']} {row['share_least']:.1%} to {row['share_most']:.1%} of the top"
        if not row["is_reference"]:
            part += f", ratio {row['ratio_least']:.2f} to {row['ratio_most']:.2f}"
        parts.append(part)
    return [
        f"{in_top + below:,.0f} candidates have no known value ({four_digits(in_top)} in the top)."
        f" Bounds for all possible values: {'; '.join(parts)}."
    ]


def _after_line(audit: Audit, after: pd.DataFrame, algorithm: str) -> str:
    shares = ", ".join(
        f"{value} {share:.1%}" for value, share in zip(after["value"], after["share"], strict=True)
    )
    means = audit.measures.set_index(["measure", "ranking"])["mean"].map(four_digits)
    change = "; ".join(
        f"{registry.MEASURES[name].title} {means[name, _BEFORE]} -> {means[name, _AFTER]}"
        for name in ("ndkl", "exposure_ratio", "ndcg")
    )
    return f"Re-ranked by {registry.algorithm(algorithm).title}, the top has {shares}; {change}."


def _data(audit: Audit, source: ListFile, desired: str, k: int, algorithm: str | None) -> dict[str, str]:
    columns, order = source.columns, "as in the file"
    if columns.rank:
        order = f"{columns.rank}, lowest first"
    elif columns.score:
        order = f"{columns.score}, highest first"
    if audit.n_unsorted:
        order += f"; differs from the order by {columns.score} in {audit.n_unsorted:,} lists"
    data = {
        "File": source.path.name,
        "Lists": f"{audit.n_lists:,}" + (f", by {columns.query}" if columns.query else ""),
        "Candidates": f"{audit.n_candidates:,}, {sum(audit.n_unknown):,.0f} without a known value",
        "Top": f"the first {k:,} places of each list ({audit.n_places:,} places)",
        "Order": order,
        "Desired": desired,
    }
    if audit.n_tied[0]:
        data["Ties"] = f"{audit.n_tied[0]:,} candidates for the last {audit.n_tied[1]:,} places"
    return data | ({"Re-ranked by": registry.algorithm(algorithm).title} if algorithm else {})


def _shares(audit: Audit, tables: dict[str, pd.DataFrame]) -> Section:
    series = {f"share of the top, {name}": with_interval(table, "share") for name, table in tables.items()}
    series["desired share"] = with_interval(tables[_BEFORE][["desired"]], "desired")
    interval, bars = {}, "One list: shares are counted, not estimated."
    if audit.n_lists > 1:
        interval = {"95% interval": "{share_low:.1%} to {share_high:.1%}"}
        bars = "Bars: 95% intervals of the mean over lists."
    cells = {"Value": "{value}", "Desired": "{desired:.1%}", "Of the top": "{share:.1%}"}
    return build_section(
        "Places",
        "The section compares each value's share of the top with its desired share.",
        tables[_BEFORE],
        cells | interval | {"Skew": "{skew:.3f}", "Lists": "{n_lists}"},
        f"{bars} Skew is the natural logarithm of share over desired share: 0 is as desired, less than 0 is"
        " fewer, and −0.69 is half as many.",
        Chart(
            "value",
            series,
            "Share of the places in the top",
            "{value} {share:.1%}, desired {desired:.1%}",
            "Shares of the top by value: ",
        ),
    )


def _selection(audit: Audit, tables: dict[str, pd.DataFrame]) -> Section:
    before = tables[_BEFORE]
    cells = {
        "Value": "{value}",
        "Candidates": "{n_candidates:,.0f}",
        "Selected": "{n_selected:,.0f}",
        "Rate": estimate("rate", ".1%"),
        f"Ratio to {audit.reference}": estimate("ratio", ".2f"),
        "p": "{p_value:.2g}",
        "Least detectable difference": "{least}",
    }
    least = [
        "too few candidates" if is_few else f"{rate:.1%} compared with {others:.1%}"
        for is_few, rate, others in before[["is_too_few", "seen_rate", "seen_other_rate"]].values
    ]
    if audit.n_tied[0]:
        cells["Selected"] = "{n_selected:,.1f} ({n_selected_least:,.0f} to {n_selected_most:,.0f})"
    if sum(audit.n_unknown):
        cells["Ratio, bounds for unknown values"] = "{ratio_least:.2f} to {ratio_most:.2f}"
    choice = f". The highest rate excludes values with less than {SMALL_SHARE:.0%} of the candidates."
    return build_section(
        "Selection rates and the four-fifths rule",
        "Candidates in the top count as selected. A rate below four fifths of the highest is, by the"
        " guidelines of US agencies on employee selection, generally regarded as evidence of adverse"
        " impact. It is a rule of thumb. The interval shows whether chance alone could explain the"
        " ratio.\n\n"
        f"The test of all rates together has p = {audit.p_value:.2g}. The p-value of a value compares it"
        " with all others and is corrected for all tested values. The least detectable difference is the"
        " smallest difference from the rate of all others that the test finds in these lists with power"
        " .80.",
        before.assign(least=least),
        cells,
        "In brackets: 95% intervals; intervals of ratios are simultaneous"
        + ("." if audit.is_named else choice),
        Chart(
            "value",
            {name: with_interval(table, "ratio") for name, table in tables.items()},
            f"Selection rate relative to {audit.reference} (before)",
            "{value} {ratio:.2f}",
            "Ratios by value: ",
            FOUR_FIFTHS,
            "four fifths",
        ),
    )


def _exposure(audit: Audit, tables: dict[str, pd.DataFrame]) -> Section:
    cells = {
        "Value": "{value}",
        "Exposure of a candidate": "{exposure:.3f}",
        "Share of the attention": "{attention:.1%}",
    }
    if tables[_BEFORE]["relevance"].notna().any():
        cells["Share of the scores"] = "{relevance:.1%}"
    return build_section(
        "Exposure",
        "Users look at higher places more: place j has an attention of 1 / log2(j + 1). Exposure is the"
        " mean attention of the candidates of a value, and 0 below the top.",
        tables[_BEFORE],
        cells,
        "Bars: 95% intervals of the mean over lists." if audit.n_lists > 1 else "",
        Chart(
            "value",
            {name: with_interval(table, "exposure") for name, table in tables.items()},
            "Mean attention of a candidate",
            "{value} {exposure:.3f}",
            "Exposure by value: ",
        ),
    )


def _tests(audit: Audit) -> tuple[list[str], Section]:
    is_significant = {
        name: audit.tests[column] <= SIGNIFICANT
        for name, column in (("raw", "p_value"), ("corrected", "p_value_corrected"))
    }
    rows = (
        audit.tests.assign(**is_significant)
        .groupby("value", as_index=False)
        .agg(
            n=("p_value", "count"),
            raw=("raw", "sum"),
            corrected=("corrected", "sum"),
            least_raw=("p_value", "min"),
            least=("p_value_corrected", "min"),
        )
    )
    lines, n_tests = [], rows["n"].sum()
    for row in rows.itertuples():
        if row.n > 1 and row.raw:
            chance = scipy.stats.binomtest(row.raw, row.n, SIGNIFICANT, "greater").pvalue
            lines.append(
                f"In FA*IR's test at {SIGNIFICANT:.0%}, {row.value} has too few places in {row.raw:,} of"
                f" {row.n:,} lists, compared with at most {SIGNIFICANT * row.n:,.0f} by chance (p ="
                f" {chance:.2g}). Corrected for all {n_tests:,} tests, the least p is {row.least:.2g}."
            )
        elif row.n == 1 and row.least <= SIGNIFICANT:
            lines.append(
                f"In FA*IR's test, {row.value} has fewer places than by chance: p = {row.least_raw:.2g},"
                f" {row.least:.2g} corrected for {n_tests} values."
            )
    if not lines:
        least = audit.tests.loc[audit.tests["p_value"].idxmin()]
        lines.append(
            f"In FA*IR's test, no value has fewer places than by chance (least p {least['p_value']:.2g}, for"
            f" {least['value']}, {least['p_value_corrected']:.2g} corrected for {n_tests:,} tests). This"
            " result does not prove that every value has enough places."
        )
    return lines, build_section(
        "FA*IR's test for too few places",
        "FA*IR's test (Zehlike et al. 2017) covers all prefixes of a top. The p-value is the probability"
        " that a prefix has as few places of the value if each place is drawn with the desired share."
        " By chance, 5 in 100 tests are below .05. After correction (Holm), the probability that any test"
        " is below .05 by chance is at most 5%.",
        rows.head(N_VALUES),
        {
            "Value": "{value}",
            "Lists tested": "{n:,}",
            "p ≤ .05": "{raw:,}",
            "corrected p ≤ .05": "{corrected:,}",
            "Least corrected p": "{least:.3g}",
        },
    )


def _measures(audit: Audit) -> Section:
    means = audit.measures.pivot(index="measure", columns="ranking", values="mean")
    means = means.loc[[name for name in _SHOWN if name in means.index]].reset_index()
    cells = {"Measure": "{title}", "Best": "{fair:g}", "Before": "{before:.4f}"}
    if _AFTER in means:
        cells["After"] = "{after:.4f}"
    measures = [registry.MEASURES[name] for name in means["measure"]]
    return build_section(
        "Entire lists",
        "NDKL: distance of the shares of all prefixes from the desired shares. MinSkew, MaxSkew: skew of"
        " the worst- and best-placed values. Exposure ratio: the least exposure over the greatest."
        " InfeasibleIndex: prefixes in which a value has fewer places than its desired share, rounded"
        " down. NDCG: agreement with the order by score.",
        means.assign(title=[m.title for m in measures], fair=[m.fair for m in measures]),
        cells,
        "Means over lists, without lists in which a measure is infinite or undefined."
        if audit.n_lists > 1
        else "",
    )


def _limits(audit: Audit) -> list[str]:
    limits = [
        "The audit does not test the scores. If the scores are biased, a ranking that follows them is"
        " not fair for that reason.",
        "You choose the desired distribution; another choice gives another answer.",
        "Selection means a place in the top. The file does not show who applies or what happens after the"
        " ranking.",
        "An interval that includes four fifths, or a test that is not significant, does not prove that the"
        " ranking is fair: few candidates give little evidence.",
        "Intervals assume that the lists are independent draws of similar lists.",
    ]
    if audit.n_lists == 1:
        limits[-1] = (
            "Intervals of one list assume that its candidates are independent draws. Their places are"
            " not independent: each place goes to one candidate only."
        )
    if sum(audit.n_unknown):
        limits.append(
            "Shares, rates and tests cover candidates with a known value; the bounds show how far unknown"
            " values could change them."
        )
    return limits
