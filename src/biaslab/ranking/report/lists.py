"""What re-ranking did to the lists of a file: a table, a line of warning, a figure."""

import os

import numpy as np
import pandas as pd

from biaslab.core.plotting import BLUE, DOUBLE_COLUMN, GREY, VERMILLION, Axes, figure, save_with_data
from biaslab.core.tables import four_digits
from biaslab.ranking.reranking import FEASIBLE, RANKINGS, Reranked

N_STEPS = 200
"""Steps of the cumulative distribution of a measure over lists."""

N_VALUES = 20
"""Values of an attribute that the figure of one list shows, those with the largest desired shares."""

_COLOURS = {"desired": GREY, "before": VERMILLION, "after": BLUE}
_MARKERS = {"desired": "D", "before": "o", "after": "s"}
_TITLES = {"ndkl": "NDKL", "ndcg": "NDCG"}
_ROW = 0.3  # inches, height of a value
_OFFSETS = {"desired": -0.2, "before": 0.0, "after": 0.2}  # rows, so that equal dots can be seen


def measure_table(part: Reranked) -> pd.DataFrame:
    """Return the measures of every list before and after, below their means over all lists.

    Columns query ("" for the means), ranking (before, after), n_candidates, n_places, n_exhausted, feasible
    (1 without any infeasible prefix, else 0; of ties the share of their orders), and the measures.
    """
    n_lists = len(part.queries)
    after = np.array([0, 1])
    columns = {
        "query": np.repeat(np.array(part.queries, dtype=object), 2),
        "ranking": np.tile(RANKINGS, n_lists),
        "n_candidates": np.repeat(part.n_candidates, 2),
        "n_places": np.repeat(part.n_places, 2),
        "n_exhausted": np.outer(part.n_exhausted, after).ravel(),
        FEASIBLE: part.feasible.ravel(),
    }
    columns |= {name: values.ravel() for name, values in part.measures.items()}
    table = pd.DataFrame(columns)
    means = table.drop(columns="query").groupby("ranking", sort=False).mean().reset_index()
    means.insert(0, "query", "")
    return pd.concat([means, table[table["query"] != ""]], ignore_index=True)


def summary(part: Reranked) -> str:
    """Return the means over all lists before and after as text, a measure a line; then shares by value."""
    means = measure_table(part).head(len(RANKINGS)).drop(columns="query").set_index("ranking")
    measures = means.T.round(9).rename_axis(columns=None).to_string(float_format=four_digits)
    return f"{measures}\n\n{_shares_by_value(part)}"


def _shares_by_value(part: Reranked) -> str:
    """Return the shares in the top, means over lists, by value; of one list its Skew, too."""
    n_lists = len(part.queries)
    table = value_table(part)
    shares = ["desired", *RANKINGS]
    table[shares] /= max(part.n_shared, 1)
    if n_lists > 1:  # the mean of a Skew is none of mean shares
        table = table[["value", *shares]]
    shown = table.head(N_VALUES).round(9).set_index("value").rename_axis(index="share of the top")
    lines = shown.reset_index().to_string(index=False, float_format=four_digits)
    more = len(table) - len(shown)
    return lines + (f"\n... and {more} more values" if more else "")


def absent_lines(part: Reranked) -> list[str]:
    """Return, a value a line, which are desired and yet have no place in the top of the one list."""
    if len(part.queries) > 1:
        return []
    table = value_table(part)
    lines = []
    for row in table[(table["desired"] > 0) & (table["after"] == 0)].to_dict("records"):
        places = row["desired"] * part.n_places[0]
        why = f"its desired share of {row['desired']:.3g} is {places:.2g} of {part.n_places[0]} places"
        if places < 1:
            why += ", less than one, so that a ranking without it is feasible"
        lines.append(
            f"'{row['value']}' has no place in the top: min_skew is -inf and the exposure ratio 0; {why}"
        )
    return lines[:N_VALUES]


def tied_line(part: Reranked) -> str:
    """Return what ties of scores leave open as one line, or "" where they change nothing."""
    n_lists, n_mixed = len(part.queries), int(part.is_mixed.sum())
    if not n_mixed:
        return ""
    text = "candidates of several values have equal scores"
    if n_lists > 1:
        text += f" in {n_mixed} of {n_lists} lists"
    if part.n_tied.any():
        text += f", and {part.n_tied.sum()} candidates tie for the last {part.n_tied_places.sum()} places"
    return (
        f"{text}: measures and shares are means over orders of ties; the written lists keep the file's order"
    )


def exhausted_line(part: Reranked) -> str:
    """Return what was done for want of candidates as one line, or "" when there were enough."""
    lists = np.flatnonzero(part.n_exhausted)
    if not len(lists):
        return ""
    first = part.queries[lists[0]]
    where = f"{len(lists)} of {len(part.queries)} lists (first: '{first}')" if first else "the list"
    return (
        f"in {where} a value ran out of candidates: {part.n_exhausted.sum()} places went to the best"
        " remaining candidates of other values (n_exhausted in the measures)"
    )


def write_figure(part: Reranked, stem: str | os.PathLike) -> None:
    """Draw one list by value, or several by the distribution of NDKL and NDCG over them."""
    if len(part.queries) == 1:
        _draw_values(value_table(part), stem)
    else:
        _draw_distributions(distribution_table(part), stem)


def value_table(part: Reranked) -> pd.DataFrame:
    """Return value, desired, before, after (shares in the top), skew_before, skew_after of one list."""
    table = pd.DataFrame.from_dict(part.shares, orient="index", columns=["desired", *RANKINGS])
    table = table.rename_axis("value").reset_index()
    with np.errstate(divide="ignore", invalid="ignore"):
        for ranking in RANKINGS:
            skew = np.log(table[ranking] / table["desired"])
            table[f"skew_{ranking}"] = skew.where((table["desired"] > 0) | (table[ranking] > 0), 0.0)
    return table.sort_values(["desired", "value"], ascending=[False, True], ignore_index=True)


def distribution_table(part: Reranked) -> pd.DataFrame:
    """Return the share of lists whose NDKL and NDCG is at most a value: measure, ranking, value, share.

    The values of a measure are the same before and after; lists without a finite measure are never reached.
    A first row with share 0 lets the curve begin at the bottom.
    """
    rows = []
    for measure in _TITLES:
        values = part.measures[measure]
        steps = np.histogram_bin_edges(values[np.isfinite(values)], N_STEPS)
        steps = np.append(steps[0], steps)
        for i, ranking in enumerate(RANKINGS):
            shares = np.searchsorted(np.sort(values[:, i]), steps, side="right") / len(values)
            shares[0] = 0
            rows.append(
                pd.DataFrame({"measure": measure, "ranking": ranking, "value": steps, "share": shares})
            )
    return pd.concat(rows, ignore_index=True)


def _draw_values(table: pd.DataFrame, stem: str | os.PathLike) -> None:
    shown = table.head(N_VALUES)
    with figure(DOUBLE_COLUMN, 1.1 + _ROW * len(shown)) as page:
        shares, skews = page.subplots(1, 2, sharey=True)
        for name in _COLOURS:
            _draw_dots(shares, shown[name], name)
        for ranking in RANKINGS:
            _draw_dots(skews, shown[f"skew_{ranking}"], ranking)
        shares.axvline(0, color=GREY, zorder=0)
        shares.set(xlabel="Share of the top places", yticks=range(len(shown)))
        shares.set_yticklabels(shown["value"])
        shares.invert_yaxis()
        skews.axvline(0, color=GREY, zorder=0)
        skews.set(xlabel="Skew (0: as desired)", xmargin=0.15)
        page.legend(*shares.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save_with_data(page, stem, table)


def _draw_dots(axes: Axes, values: pd.Series, name: str) -> None:
    """Draw a dot a row; an infinite value becomes an arrow at the edge."""
    rows = np.arange(len(values)) + _OFFSETS[name]
    style = {"color": _COLOURS[name], "linestyle": "none"}
    finite = np.isfinite(values)
    axes.plot(values[finite], rows[finite], _MARKERS[name], label=name, **style)
    edge = axes.get_yaxis_transform()
    for infinity, marker, at, text in ((-np.inf, "<", 0.015, "−∞"), (np.inf, ">", 0.985, "∞")):
        for row in rows[(values == infinity).to_numpy()]:
            axes.plot(at, row, marker, transform=edge, **style)
            inside = 0.5 + (at - 0.5) * 0.92
            axes.text(inside, row, text, transform=edge, ha="center", va="center", color=_COLOURS[name])


def _draw_distributions(table: pd.DataFrame, stem: str | os.PathLike) -> None:
    with figure(DOUBLE_COLUMN, 2.4) as page:
        panels = page.subplots(1, len(_TITLES), sharey=True)
        for axes, (measure, title) in zip(panels, _TITLES.items(), strict=True):
            for ranking in RANKINGS:
                part = table[(table["measure"] == measure) & (table["ranking"] == ranking)]
                axes.step(part["value"], part["share"], where="post", color=_COLOURS[ranking], label=ranking)
            axes.set(xlabel=f"{title} of a list", ylim=(-0.02, 1.02))
        panels[0].set_ylabel("Share of lists at or below")
        panels[0].legend()
        save_with_data(page, stem, table)
