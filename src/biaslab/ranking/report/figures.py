"""The figure of fairness-aware ranking: every measure against the number of values (Geyik et al. 2019)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.ranking.report.results import ALGORITHM_NAMES, read
from biaslab.run.reports import Results

_STYLES = {
    "score_only": (plot.BLACK, "x"),
    "det_greedy": (plot.VERMILLION, "o"),
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
_APART = 0.08  # between the marks of two algorithms, so that equal ones can be seen


def draw_simulation(units: Sequence[Results], stem: Path) -> None:
    """Draw the means of all measures against the number of values, a panel each."""
    columns = ["n_values", "algorithm", "measure", "mean", "ci_low", "ci_high"]
    shares = read(units, "feasibility").rename(columns={"share": "mean"}).assign(measure="infeasible")
    data = pd.concat([read(units, "simulation")[columns], shares[columns]], ignore_index=True)
    data = data[data["measure"].isin(_PANELS)]
    with plot.figure(plot.DOUBLE_COLUMN, 4.4) as fig:
        axes = fig.subplots(2, 3, sharex=True).ravel()
        for ax, (measure, name) in zip(axes, _PANELS.items(), strict=True):
            _draw_panel(ax, data[data["measure"] == measure])
            ax.set_ylabel(name)
        for ax in axes[3:]:
            ax.set_xlabel("Values of the attribute, |A|")
            ax.set_xticks(sorted(data["n_values"].unique()))
        plot.legend_below(fig, axes[0], len(_STYLES))
        plot.save_with_data(fig, stem, data)


def _draw_panel(ax: plot.Axes, data: pd.DataFrame) -> None:
    """Draw one measure of all algorithms, with the intervals of the means."""
    for place, (algorithm, (colour, marker)) in enumerate(_STYLES.items()):
        part = data[data["algorithm"] == algorithm].sort_values("n_values")
        mean = part["mean"].to_numpy()
        # Clopper and Pearson's interval contains the share; rounding may put a bound beyond it by a hair.
        lengths = np.maximum([mean - part["ci_low"], part["ci_high"] - mean], 0)
        ax.errorbar(
            part["n_values"] + (place - 2) * _APART, mean, lengths, color=colour, marker=marker, markersize=3,
            linewidth=0.8, elinewidth=0.8, capsize=1.5, label=ALGORITHM_NAMES[algorithm],
        )  # fmt: skip
