"""The figures of fairness-aware ranking: measures against the number of values of the attribute.

The figure of all algorithms goes beyond Geyik et al. 2019.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.ranking import registry
from biaslab.ranking.report.tables import SHOWN, read
from biaslab.run.area import figure
from biaslab.run.plan.reports import Results

_STYLES = {
    "score_only": (plot.BLACK, "x"),
    "det_greedy": (plot.VERMILION, "o"),
    "det_cons": (plot.BLUE, "s"),
    "det_relaxed": (plot.ORANGE, "D"),
    "det_const_sort": (plot.GREEN, "^"),
}
_PANELS = {
    "infeasible_index": "InfeasibleIndex",
    "infeasible": "Share of infeasible lists",
    "min_skew": "MinSkew",
    "max_skew": "MaxSkew",
    "ndkl": "NDKL",
    "ndcg": "NDCG",
}
_COLOURS = (*plot.SERIES, plot.GREY)
_MARKERS = "xosD^vPX*"
_APART = 0.08  # horizontal distance between algorithms, so that equal marks stay visible


@figure("comparison", "All algorithms by measures of exposure and FA*IR", "comparison")
def draw_comparison(units: Sequence[Results], stem: Path) -> None:
    """Draw the means against the number of values, one panel per measure."""
    data = read(units, "comparison")
    data = data[data["measure"].isin(SHOWN)]
    styles = dict(zip(data["algorithm"].unique(), zip(cycle(_COLOURS), cycle(_MARKERS)), strict=False))
    with plot.figure(plot.DOUBLE_COLUMN, 4.4) as fig:
        panels = fig.subplots(2, 4, sharex=True)
        for ax, name in zip(panels.ravel(), SHOWN, strict=True):
            _draw_means(ax, data[data["measure"] == name], styles)
            ax.set_title(registry.MEASURES[name].title)
        for ax in panels[1]:
            ax.set_xlabel("|A|")
        plot.legend_below(fig, panels[0, 0], 4)
        plot.save_with_data(fig, stem, data)


@figure("simulation", "Measures against the number of values", "simulation", "feasibility")
def draw_simulation(units: Sequence[Results], stem: Path) -> None:
    """Draw the means of all measures against the number of values, one panel per measure."""
    columns = ["n_values", "algorithm", "measure", "mean", "ci_low", "ci_high"]
    shares = read(units, "feasibility").rename(columns={"share": "mean"}).assign(measure="infeasible")
    data = pd.concat([read(units, "simulation")[columns], shares[columns]], ignore_index=True)
    data = data[data["measure"].isin(_PANELS)]
    with plot.figure(plot.DOUBLE_COLUMN, 4.4) as fig:
        panels = fig.subplots(2, 3, sharex=True)
        for ax, (measure, name) in zip(panels.ravel(), _PANELS.items(), strict=True):
            _draw_means(ax, data[data["measure"] == measure], _STYLES)
            ax.set_ylabel(name)
        for ax in panels[1]:
            ax.set_xlabel("Values of the attribute, |A|")
        plot.legend_below(fig, panels[0, 0], len(_STYLES))
        plot.save_with_data(fig, stem, data)


def _draw_means(ax: plot.Axes, data: pd.DataFrame, styles: Mapping[str, tuple[str, str]]) -> None:
    for place, (algorithm, (colour, marker)) in enumerate(styles.items()):
        part = data[data["algorithm"] == algorithm].sort_values("n_values")
        mean = part["mean"].to_numpy()
        # Clopper and Pearson's interval contains the share, up to rounding of its bounds.
        lengths = np.maximum(np.nan_to_num([mean - part["ci_low"], part["ci_high"] - mean]), 0)
        ax.errorbar(
            part["n_values"] + (place - len(styles) // 2) * _APART, mean, lengths, color=colour,
            marker=marker, markersize=3, linewidth=0.8, elinewidth=0.8, capsize=1.5,
            label=registry.ALGORITHMS[algorithm].title,
        )  # fmt: skip
    ax.set_xticks(sorted(data["n_values"].unique()))
