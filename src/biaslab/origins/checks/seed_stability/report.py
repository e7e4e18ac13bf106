"""Table and figure of how far the ranking of documents depends on the seeds of the baselines."""

from pathlib import Path

import pandas as pd

from biaslab.core.plotting import BLACK, DOUBLE_COLUMN, GREY, Axes, figure, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.checks.seed_stability.analysis import COLUMNS
from biaslab.origins.report.panels import EFFECT_COLOURS
from biaslab.origins.report.results import Setup

_NOTE = (
    "The mean influence over some baseline embeddings against that over others, none in both: against all "
    "that are left out, and against as many. Every way to choose them, or 100 random ones where there are "
    "more; mean ± standard deviation over these ways, which share embeddings. Documents without a word of "
    "the test do not count. Raises, lowers N: share of the N documents that raise or lower the bias most, "
    "by one ranking, that do so by the other, too."
)
_MARKERS = {10: "o", 30: "s", 100: "D"}


def stability_table(setup: Setup, weat: str) -> Table:
    """List rank correlation and overlaps by the number of seeds."""
    data = _rows(setup, weat)
    text = text_columns(data, {"cell": "{mean:.3f} ± {sd:.3f}"})["cell"]
    names = {"spearman": "Rank correlation"}
    measure = data["measure"].map(names).fillna(data["tail"] + " " + data["top"].astype(str))
    cells = data.assign(cell=text, column=measure)
    keys = ["n_seeds", "n_reference", "n_draws"]
    shown = cells.pivot(index=keys, columns="column", values="cell")[list(dict.fromkeys(measure))]
    shown = shown.reset_index().rename_axis(columns=None).astype(str)
    shown = shown.rename(columns={"n_seeds": "Seeds", "n_reference": "Against", "n_draws": "Ways"})
    title = f"Agreement between seeds on the influence of documents ({setup.name}, {weat})"
    return Table(data, shown, title, _NOTE)


def draw_stability(setup: Setup, weat: str, stem: Path) -> None:
    """Draw rank correlation and overlaps by the number of seeds."""
    data = _rows(setup, weat)
    with figure(DOUBLE_COLUMN, 2.8) as fig:
        correlation, overlap = fig.subplots(1, 2, sharex=True)
        spearman = data[data["measure"] == "spearman"]
        halves = spearman[spearman["n_seeds"] == spearman["n_reference"]]
        rest = spearman[spearman["n_seeds"] + spearman["n_reference"] == spearman["n_seeds"].max() + 1]
        _draw(correlation, halves, "against as many others", color=BLACK, marker="o")
        _draw(correlation, rest, "against all others", color=GREY, marker="^", linestyle="--")
        equal = data[(data["measure"] == "overlap") & (data["n_seeds"] == data["n_reference"])]
        for (tail, top), part in equal.groupby(["tail", "top"], sort=False):
            _draw(overlap, part, f"{tail} {top}", color=EFFECT_COLOURS[tail], marker=_MARKERS[top])
        correlation.set(xlabel="Baseline embeddings", ylabel="Rank correlation")
        overlap.set(xlabel="Baseline embeddings", ylabel="Overlap, against as many others", ylim=(0, 1.03))
        for ax in (correlation, overlap):
            ax.set_xticks(range(1, int(data["n_seeds"].max()) + 1))
            if ax.get_legend_handles_labels()[0]:
                ax.legend(loc="lower right", fontsize=6)
        fig.suptitle(setup.heading(weat), parse_math=False)
        save_with_data(fig, stem, data)


def _rows(setup: Setup, weat: str) -> pd.DataFrame:
    table = setup.of_weat("seed_stability", weat, *COLUMNS)
    return table.assign(tail=table["tail"].astype(object).fillna("")).sort_values(
        ["n_seeds", "n_reference"], kind="stable", ignore_index=True
    )


def _draw(ax: Axes, data: pd.DataFrame, label: str, **style: str) -> None:
    ax.errorbar(
        data["n_seeds"], data["mean"], yerr=data["sd"], label=label, markersize=3, elinewidth=0.5, **style
    )
