"""The answer of the ranking audit: lines, page and numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.core.answers import Answer, Section, dots, listed, with_ends
from biaslab.core.comparisons import SIGNIFICANT
from biaslab.core.rates import CLEARLY_BELOW, FOUR_FIFTHS, SMALL_SHARE, UNTOLD, verdict
from biaslab.core.tables import NO_INTERVAL, four_digits, text_columns
from biaslab.ranking import registry
from biaslab.ranking.auditing import Audit
from biaslab.ranking.lists import ListFile
from biaslab.ranking.reranking import RANKINGS

N_VALUES = 20
"""The number of values in the answer; the JSON file contains all values."""
N_LEAST = 5
"""The number of least differences in a line."""

_BEFORE, _AFTER = RANKINGS
_SHOWN = ("ndkl", "min_skew", "max_skew", "exposure_ratio", "infeasible_index", "ndcg")


def answer(found: Audit, source: ListFile, desired: str, k: int, algorithm: str) -> Answer:
    """Return the answer of an audit."""
    before = _rows(found, _BEFORE)
    is_reranked = _AFTER in set(found.values["ranking"])
    lines = [_value_line(row, found) for row in before.head(N_VALUES).to_dict("records")]
    lines += [*_difference_lines(found, before), *_tie_lines(found)]
    lines += [*_test_lines(found), *_unknown_lines(found, before)]
    if is_reranked:
        lines.append(_after_line(found, algorithm))
    return Answer(
        command="biaslab ranking audit",
        question=(
            f"Does each {' x '.join(source.columns.attributes)} have its desired places in"
            f" {source.path.name}?"
        ),
        data=_data(found, source, desired, k, algorithm if is_reranked else None),
        files=[source.path],
        lines=lines,
        sections=[
            _shares(found, before),
            _selection(found, before),
            _exposure(found, before),
            _tests(found),
            _measures(found),
        ],
        limits=_limits(found),
        numbers={
            "values": found.values,
            "selection": found.selection,
            "tests": found.tests,
            "measures": found.measures,
            "p_value_of_no_difference": found.p_value,
            "reference_named": found.is_named,
            "n_tied": found.n_tied[0],
            "n_tied_places": found.n_tied[1],
            "n_lists_tied": found.n_tied[2],
            "n_unknown_in_top": found.n_unknown[0],
            "n_unknown_below": found.n_unknown[1],
        },
    )


def _rows(found: Audit, ranking: str) -> pd.DataFrame:
    """Return the results of each value in one ranking, the largest desired share first."""
    values = found.values[found.values["ranking"] == ranking].drop(columns="ranking")
    selection = found.selection[found.selection["ranking"] == ranking].drop(columns="ranking")
    table = values.merge(selection, on="value", how="left")
    return table.sort_values(["desired", "value"], ascending=[False, True], ignore_index=True)


def _value_line(row: dict, found: Audit) -> str:
    places = found.n_places / found.n_lists
    gap = (row["share"] - row["desired"]) * places
    gap_text = f"{abs(gap):.1f} places of {four_digits(places)} too {'few' if gap < 0 else 'many'}"
    text = f"{row['value']} has {row['share']:.1%} of the top, {row['desired']:.1%} desired"
    text += " (as desired)" if abs(gap) < 0.05 else f" ({gap_text}{' a list' if found.n_lists > 1 else ''})"
    if not row["n_candidates"] > 0:
        return f"{text}; no candidate has this value."
    text += f"; {_count(row)} of {row['n_candidates']:,.0f} candidates selected ({row['rate']:.1%})"
    too_few = " (too few candidates)" if row["is_too_few"] and not row["p_value"] <= SIGNIFICANT else ""
    if row["is_reference"] and found.is_named:
        return f"{text}, the reference{too_few}."
    if row["is_reference"]:
        return f"{text}, the highest rate and so the reference{too_few}."
    name = "simultaneous 95%" if found.n_compared > 1 else "95%"
    interval = f" ({name} interval {row['ratio_low']:.2f} to {row['ratio_high']:.2f})"
    interval = interval if np.isfinite(row["ratio_low"]) else ""
    conclusion = verdict(row["ratio"], row["ratio_low"], row["ratio_high"])
    if conclusion == CLEARLY_BELOW and not found.p_value <= SIGNIFICANT:
        conclusion += ", but the test of all values finds no difference"
    if conclusion == UNTOLD:
        return f"{text}: {'too few candidates' if row['is_too_few'] else UNTOLD}."
    ratio = f"{row['ratio']:.2f} times the rate of {found.reference}"
    return f"{text}, {ratio}{interval}: {conclusion}{too_few if conclusion != CLEARLY_BELOW else ''}."


def _count(row: dict) -> str:
    """Return the number of selected candidates; if scores tie, the expectation and the possible range."""
    least, most = row["n_selected_least"], row["n_selected_most"]
    if least == most:
        return f"{row['n_selected']:,.0f}"
    return f"{row['n_selected']:,.1f} ({least:,.0f} to {most:,.0f} possible)"


def _difference_lines(found: Audit, before: pd.DataFrame) -> list[str]:
    """Describe whether selection rates differ, and the least detectable difference."""
    rows = before[before["p_value"].notna()]
    if not len(rows):
        return ["The candidates are too few to test a difference of selection rates."]
    test = f"p = {found.p_value:.2g} for all values together"
    is_seen, is_few = rows["p_value"] <= SIGNIFICANT, rows["is_too_few"].astype(bool)
    rest, few = rows[~is_seen & ~is_few], rows[~is_seen & is_few]
    lines = []
    if is_seen.any():
        parts = []
        hits, n = rows["n_selected"], rows["n_candidates"]
        excess = rows["rate"] - (hits.sum() - hits) / (n.sum() - n)  # over the rate of all other values
        for word, sign in (("less", -1), ("more", 1)):
            names = rows["value"][is_seen & (np.sign(excess) == sign)].tolist()
            if names:
                parts.append(
                    f"{_listed_names(names)} {'are' if len(names) > 1 else 'is'} selected {word} often"
                )
        lines.append(f"The selection rates differ ({test}): {' and '.join(parts)} than all others.")
        if len(rest):
            lines.append(
                f"The test finds no difference from all others for {_listed_names(rest['value'])}."
                f" {_seen(rest)}"
            )
    else:
        lines.append(
            f"The test finds no difference between the selection rates ({test}). {_seen(rest)}".rstrip()
        )
    if len(few):
        names = [f"{row['value']} ({row['n_candidates']:,.0f})" for row in few.to_dict("records")]
        lines.append(
            f"Too few candidates for a test: {_listed_names(names)}."
            " Even if none of these candidates were selected, the power of the test would be below .80."
        )
    return lines


def _seen(rows: pd.DataFrame) -> str:
    """Describe the least differences with power .80, grouped by equal differences."""
    texts: dict[str, list[str]] = {}
    for row in rows.to_dict("records"):
        rate, others = row["seen_rate"], row["seen_other_rate"]
        text = f"{100 * (others - rate):.1f} points (rate {rate:.1%}, all others {others:.1%})"
        texts.setdefault(text, []).append(row["value"])
    if not texts:
        return ""
    parts = [f"{_listed_names(names)} {text}" for text, names in list(texts.items())[:N_LEAST]]
    more = f"; the page has {len(texts) - N_LEAST} more" if len(texts) > N_LEAST else ""
    return f"Least detectable difference (power .80): {'; '.join(parts)}{more}."


def _listed_names(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _tie_lines(found: Audit) -> list[str]:
    n, places, n_lists = found.n_tied
    if not n:
        return []
    where = f" in {n_lists:,} of {found.n_lists:,} lists" if found.n_lists > 1 else ""
    return [
        f"{n:,} candidates tie for the last {places:,} places{where}; the scores do not determine their"
        " order."
        " Shares, selected candidates and exposure are exact means over all orders of ties. Other measures,"
        " p-values and re-ranked numbers are means over random orders."
    ]


def _test_lines(found: Audit) -> list[str]:
    tests = found.tests.dropna(subset="p_value")
    lines = []
    for value, rows in tests.groupby("value"):
        n, few = len(rows), int((rows["p_value"] <= SIGNIFICANT).sum())
        p = rows["p_value_corrected"].min()
        if n > 1 and few:
            chance = scipy.stats.binomtest(few, n, SIGNIFICANT, "greater").pvalue
            lines.append(
                f"In FA*IR's test at {SIGNIFICANT:.0%}, {value} has too few places in {few:,} of {n:,}"
                f" lists, compared with at most {SIGNIFICANT * n:,.0f} by chance (p = {chance:.2g})."
                " Corrected"
                f" for all {len(tests):,} tests, the least p is {p:.2g}."
            )
        elif n == 1 and p <= SIGNIFICANT:
            lines.append(
                f"In FA*IR's test, {value} has fewer places than by chance: p = {rows['p_value'].min():.2g},"
                f" {p:.2g} corrected for {len(tests)} values."
            )
    if not lines:
        least = tests.loc[tests["p_value"].idxmin()]
        lines.append(
            f"In FA*IR's test, no value has fewer places than by chance (least p {least['p_value']:.2g}, for"
            f" {least['value']}, {least['p_value_corrected']:.2g} corrected for {len(tests):,} tests). This"
            " result does not prove that every value has enough places."
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
        f"{in_top + below:,.0f} candidates have no known value ({four_digits(in_top)} in the top)."
        f" Bounds for all possible values: {'; '.join(parts)}."
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
    return f"Re-ranked by {registry.algorithm(algorithm).title}, the top has {shares}; {change}."


def _data(found: Audit, source: ListFile, desired: str, k: int, algorithm: str | None) -> dict[str, str]:
    columns = source.columns
    order = (
        f"{columns.rank}, lowest first"
        if columns.rank
        else f"{columns.score}, highest first"
        if columns.score
        else "as in the file"
    )
    data = {
        "File": source.path.name,
        "Lists": f"{found.n_lists:,}" + (f", by {columns.query}" if columns.query else ""),
        "Candidates": f"{found.n_candidates:,}, {sum(found.n_unknown):,.0f} without a known value",
        "Top": f"the first {k:,} places of each list ({found.n_places:,} places)",
        "Order": order,
        "Desired": desired,
    }
    if found.n_tied[0]:
        data["Ties"] = f"{found.n_tied[0]:,} candidates for the last {found.n_tied[1]:,} places"
    if found.n_unsorted:
        data["Order"] += f"; differs from the order by {columns.score} in {found.n_unsorted:,} lists"
    return data | ({"Re-ranked by": registry.algorithm(algorithm).title} if algorithm else {})


def _series(found: Audit, name: str, has_candidates: bool = False) -> dict[str, np.ndarray]:
    """Return a quantity of the values with its interval by ranking; optionally only of non-empty values."""
    series = {}
    for ranking in found.values["ranking"].unique():
        rows = _rows(found, ranking)
        rows = rows[rows["n_candidates"] > 0] if has_candidates else rows
        series[ranking] = with_ends(rows.head(N_VALUES), name)
    return series


def _shares(found: Audit, before: pd.DataFrame) -> Section:
    shown = before.head(N_VALUES)
    series = {f"share of the top, {ranking}": rows for ranking, rows in _series(found, "share").items()}
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
        ["The section compares each value's share of the top with its desired share."],
        dots(shown["value"], series, "Share of the places in the top"),
        "Shares of the top by value: " + listed(shown, "{value} {share:.1%}, desired {desired:.1%}"),
        table,
        f"{over} Skew is the natural logarithm of share over desired share: 0 is as desired, less"
        " than 0 is fewer,"
        " and −0.69 is half as many.",
    )


def _selection(found: Audit, before: pd.DataFrame) -> Section:
    shown = before[before["n_candidates"] > 0].head(N_VALUES)
    templates = {
        "Value": "{value}",
        "Candidates": "{n_candidates:,.0f}",
        "Selected": "{n_selected:,.0f}",
        "Rate": "{rate:.1%} ({rate_low:.1%} to {rate_high:.1%})",
        f"Ratio to {found.reference}": "{ratio:.2f} ({ratio_low:.2f} to {ratio_high:.2f})",
        "p": "{p_value:.2g}",
        "Least detectable difference": "{least}",
    }
    shown = shown.assign(
        least=[
            "too few candidates" if is_few else f"{rate:.1%} compared with {others:.1%}"
            for is_few, rate, others in shown[["is_too_few", "seen_rate", "seen_other_rate"]].values
        ]
    )
    if found.n_tied[0]:
        templates["Selected"] = "{n_selected:,.1f} ({n_selected_least:,.0f} to {n_selected_most:,.0f})"
    if sum(found.n_unknown):
        templates["Ratio, bounds for unknown values"] = "{ratio_least:.2f} to {ratio_most:.2f}"
    return Section(
        "Selection rates and the four-fifths rule",
        [
            "Candidates in the top count as selected. A rate below four fifths of the highest is, by the"
            " guidelines of US agencies on employee selection, generally regarded as evidence of adverse"
            " impact. It is a rule of thumb. The interval shows whether chance alone could"
            " explain the ratio.",
            f"The test of all rates together has p = {found.p_value:.2g}. The p-value of a value compares it"
            " with all others and is corrected for all tested values. The least detectable difference is the"
            " smallest difference from the rate of all others that the test finds in these lists with power"
            " .80.",
        ],
        dots(
            shown["value"],
            _series(found, "ratio", has_candidates=True),
            f"Selection rate relative to {found.reference} (before)",
            FOUR_FIFTHS,
            "four fifths",
        ),
        "Ratios by value: " + listed(shown, "{value} {ratio:.2f}"),
        text_columns(shown, templates).replace(NO_INTERVAL, "", regex=True),
        "In brackets: 95% intervals; intervals of ratios are simultaneous"
        + (
            "."
            if found.is_named
            else f". The highest rate excludes values with less than {SMALL_SHARE:.0%} of the candidates."
        ),
    )


def _exposure(found: Audit, before: pd.DataFrame) -> Section:
    shown = before[before["n_candidates"] > 0].head(N_VALUES)
    series = _series(found, "exposure", has_candidates=True)
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
            "Users look at higher places more: place j has an attention of 1 / log2(j + 1). Exposure"
            " is the mean"
            " attention of the candidates of a value, and 0 below the top."
        ],
        dots(shown["value"], series, "Mean attention of a candidate"),
        "Exposure by value: " + listed(shown, "{value} {exposure:.3f}"),
        text_columns(shown, templates),
        "Bars: 95% intervals of the mean over lists." if found.n_lists > 1 else "",
    )


def _tests(found: Audit) -> Section:
    tests = found.tests.assign(
        raw=found.tests["p_value"] <= SIGNIFICANT,
        corrected=found.tests["p_value_corrected"] <= SIGNIFICANT,
    )
    rows = tests.groupby("value", as_index=False).agg(
        n=("p_value", "count"),
        raw=("raw", "sum"),
        corrected=("corrected", "sum"),
        least=("p_value_corrected", "min"),
    )
    templates = {
        "Value": "{value}",
        "Lists tested": "{n:,}",
        "p ≤ .05": "{raw:,}",
        "corrected p ≤ .05": "{corrected:,}",
        "Least corrected p": "{least:.3g}",
    }
    return Section(
        "FA*IR's test for too few places",
        [
            "FA*IR's test (Zehlike et al. 2017) covers all prefixes of a top. The p-value is the probability"
            " that a prefix has as few places of the value if each place is drawn with the desired share."
            " By chance, 5 in 100 tests are below .05. After correction (Holm), the probability that any test"
            " is below .05 by chance is at most 5%."
        ],
        table=text_columns(rows.head(N_VALUES), templates),
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
    templates = {"Measure": "{title}", "Best": "{fair:g}", "Before": "{before:.4f}"}
    if _AFTER in wide:
        templates["After"] = "{after:.4f}"
    return Section(
        "Entire lists",
        [
            "NDKL: distance of the shares of all prefixes from the desired shares. MinSkew, MaxSkew:"
            " skew of the"
            " worst- and best-placed values. Exposure ratio: the least exposure over the greatest."
            " InfeasibleIndex: prefixes in which a value has fewer places than its desired share, rounded"
            " down. NDCG: agreement with the order by score."
        ],
        table=text_columns(shown, templates),
        note="Means over lists, without lists in which a measure is infinite or undefined."
        if found.n_lists > 1
        else "",
    )


def _limits(found: Audit) -> list[str]:
    limits = [
        "The audit does not test the scores. If the scores are biased, a ranking that follows them is"
        " not fair for that reason.",
        "You choose the desired distribution; another choice gives another answer.",
        "Selection means a place in the top. The file does not show who applies or what happens after the"
        " ranking.",
        "An interval that includes four fifths, or a test that is not significant, does not prove that the"
        " ranking is fair: few candidates give little evidence.",
    ]
    if found.n_lists == 1:
        limits.append(
            "Intervals of one list assume that its candidates are independent draws. Their places are"
            " not independent: each place goes to one candidate only."
        )
    else:
        limits.append("Intervals assume that the lists are independent draws of similar lists.")
    if sum(found.n_unknown):
        limits.append(
            "Shares, rates and tests cover candidates with a known value; the bounds show how far unknown"
            " values could change them."
        )
    return limits
