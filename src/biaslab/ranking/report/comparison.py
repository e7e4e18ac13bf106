"""Table and figure of all algorithms by all measures: beyond Geyik et al. 2019."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.ranking.registry import ALGORITHMS, MEASURES
from biaslab.ranking.report.results import read
from biaslab.run.reports import Results

SHOWN = (
    "ndkl",
    "awrf",
    "exposure_ratio",
    "disparate_treatment",
    "disparate_impact",
    "attention_inequity",
    "fa_ir_pass",
    "ndcg",
)
"""Measures that table and figure show; the .tsv of the table has all."""

_COLOURS = (*plot.SERIES, plot.GREY)
_MARKERS = "xosD^vPX*"
_SHARE_CELL = "{mean:.3f} [{ci_low:.3f}, {ci_high:.3f}]"
_APART = 0.08  # between the marks of two algorithms, so that equal ones can be seen


def comparison(units: Sequence[Results]) -> Table:
    """Return the mean of every measure by number of values and algorithm."""
    data = read(units, "comparison")
    halved = data.assign(half=(data["ci_high"] - data["ci_low"]) / 2)
    rows = []
    for (m, algorithm), group in halved.groupby(["n_values", "algorithm"], sort=False):
        row = {"|A|": str(m), "Algorithm": ALGORITHMS[algorithm].title}
        for name in SHOWN:
            is_share = MEASURES[name].is_share  # its interval lies askew
            cell = {MEASURES[name].title: _SHARE_CELL if is_share else "{mean:.3f} ± {half:.2g}"}
            row |= text_columns(group[group["measure"] == name], cell).iloc[0].to_dict()
        rows.append(row)
    note = (
        f"|A|: values of the attribute; {data['n_lists'].iloc[0]:,} lists each, drawn as in the simulation,"
        " with the same number of candidates of each value and scores that do not depend on it. FA*IR"
        " protects one value, whose test is the last but one column: the share of lists in which it has no"
        " significantly few places, with Clopper and Pearson's 95% interval. All else: mean ± half the width"
        " of its 95% interval (Student's t over lists). Best is 0 for NDKL and the inequity of attention, 1"
        " for all else."
    )
    return Table(
        data, pd.DataFrame(rows), "All re-ranking algorithms by measures of exposure and FA*IR", note
    )


def draw_comparison(units: Sequence[Results], stem: Path) -> None:
    """Draw the means against the number of values, a panel for each measure."""
    data = read(units, "comparison")
    data = data[data["measure"].isin(SHOWN)]
    with plot.figure(plot.DOUBLE_COLUMN, 4.4) as page:
        panels = page.subplots(2, 4, sharex=True)
        for axes, name in zip(panels.ravel(), SHOWN, strict=True):
            for place, algorithm in enumerate(data["algorithm"].unique()):
                part = data[(data["algorithm"] == algorithm) & (data["measure"] == name)]
                _draw(axes, part.sort_values("n_values"), place, ALGORITHMS[algorithm].title)
            axes.set_title(MEASURES[name].title)
        for axes in panels[1]:
            axes.set_xlabel("|A|")
            axes.set_xticks(sorted(data["n_values"].unique()))
        plot.legend_below(page, panels[0, 0], 4)
        plot.save_with_data(page, stem, data)


def _draw(axes, part: pd.DataFrame, place: int, label: str) -> None:
    """Draw one algorithm in one panel, with the intervals of its means."""
    mean = part["mean"].to_numpy()
    lengths = np.nan_to_num([mean - part["ci_low"], part["ci_high"] - mean])
    axes.errorbar(
        part["n_values"] + (place - 3) * _APART, mean, np.maximum(lengths, 0), label=label,
        color=_COLOURS[place % len(_COLOURS)], marker=_MARKERS[place % len(_MARKERS)], markersize=3,
        linewidth=0.8, elinewidth=0.8, capsize=1.5,
    )  # fmt: skip
