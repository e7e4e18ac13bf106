"""What was measured of ranked lists as they are: text, and a figure by value."""

import os
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from biaslab.core.plotting import BLUE, DOUBLE_COLUMN, GREEN, GREY, VERMILLION, Axes, figure, save_with_data
from biaslab.core.stats import share_interval
from biaslab.core.tables import four_digits

if TYPE_CHECKING:
    from biaslab.ranking.lists import Columns
    from biaslab.ranking.measuring import Measured

LEVELS = 0.05, 0.01
"""Significances at which tests are counted."""

N_VALUES = 20
"""Values of an attribute that the figure shows, those with the largest desired shares."""

_NOTHING = 1e-12  # what is smaller is the rounding error of a logarithm

_ROW = 0.3  # inches, height of a value
_SHARES = {
    "desired": ("desired", "D", GREY, -0.2),
    "share": ("share of the top places", "o", VERMILLION, 0.0),
    "attention": ("share of their attention", "s", BLUE, 0.2),
}


def summary(means: pd.DataFrame) -> str:
    """Return the means of the measures, from ``measuring.summarize``, as text, a measure a line."""
    shown = means.assign(measure=means["title"]).drop(columns="title").set_index("measure")
    counts = ["n_lists", "n_left_out"]
    shown[counts] = shown[counts].astype(str)
    return shown.rename_axis(index=None).to_string(float_format=_shown, na_rep="")


def _shown(value: float) -> str:
    return four_digits(0.0 if abs(value) < _NOTHING else value)


def order_lines(measured: "Measured", columns: "Columns") -> list[str]:
    """Return what is to be known of the order in which lists were measured; none for that of their scores."""
    n, lines = len(measured.lists), []
    if measured.n_unsorted:
        by, remedy = f"'{columns.rank}'", ""
        if columns.rank is None:
            by, remedy = "the file", "; name the column of the place with --rank, or sort the file"
        rising = f"; in {measured.n_rising} of them the worst come first" if measured.n_rising else ""
        lines.append(
            f"measured in the order of {by}, which is not that of '{columns.score}' in {measured.n_unsorted}"
            f" of {n} lists{rising}{remedy}"
        )
    if measured.n_gaps:
        lines.append(
            f"the '{columns.rank}' of {measured.n_gaps} of {n} lists does not count up from 1; the lowest is"
            " taken for the best"
        )
    return lines


def test_lines(tests: pd.DataFrame) -> list[str]:
    """Return, a value a line, in how many lists FA*IR's test finds too few places; of one list, p-values."""
    lines = []
    for value, rows in tests.groupby("value", sort=True):
        found = rows["p_value"].dropna()
        if len(rows) == 1:
            p_values = rows[["p_value", "p_value_pool"]].iloc[0]
            lines.append(
                f"too few places for '{value}': p = {p_values.iloc[0]:.4g}, or {p_values.iloc[1]:.4g} drawn"
                " from the candidates of the list"
            )
            continue
        parts = []
        for level in LEVELS:
            hits = int((found <= level).sum())
            low, high = share_interval(hits, len(found))
            parts.append(f"{hits} at p <= {level:g} ({100 * low:.1f} to {100 * high:.1f}%)")
        lines.append(f"too few places for '{value}' in {len(found)} lists: {', '.join(parts)}")
    return lines


def write_figure(values: pd.DataFrame, stem: str | os.PathLike) -> None:
    """Draw shares and exposure by value, with their intervals over lists."""
    shown = values.sort_values(["desired", "value"], ascending=[False, True], ignore_index=True).head(
        N_VALUES
    )
    with figure(DOUBLE_COLUMN, 1.2 + _ROW * len(shown)) as page:
        shares, exposures = page.subplots(1, 2, sharey=True)
        for name, (label, marker, colour, offset) in _SHARES.items():
            _draw(shares, shown, name, marker, colour, offset, label)
        _draw(exposures, shown, "exposure", "^", GREEN, 0.0, "exposure")
        shares.set(xlabel="Share", yticks=range(len(shown)))
        shares.set_yticklabels(shown["value"])
        shares.set_ylim(len(shown) - 0.5, -0.5)
        exposures.set_xlabel("Mean attention of a candidate")
        for axes in (shares, exposures):
            axes.set_xlim(left=0)
        page.legend(*shares.get_legend_handles_labels(), loc="outside upper center", ncols=3)
        save_with_data(page, stem, values)


def _draw(
    axes: Axes, table: pd.DataFrame, name: str, marker: str, colour: str, offset: float, label: str
) -> None:
    """Draw a dot a value, with its interval where there is one."""
    mean = table[name].to_numpy()
    lengths = np.maximum([mean - table[f"{name}_low"], table[f"{name}_high"] - mean], 0)
    axes.errorbar(
        mean,
        np.arange(len(table)) + offset,
        xerr=np.nan_to_num(lengths),
        color=colour,
        marker=marker,
        linestyle="none",
        elinewidth=0.8,
        label=label,
    )
