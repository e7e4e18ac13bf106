"""Draw the figures of classifiers over all corpora (Kennedy et al. 2020)."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.report.results import in_order, read_all, title, without_quirks
from biaslab.hate_speech.report.tables import by_seed
from biaslab.run.area import figure
from biaslab.run.plan.reports import Results

_CORPORA = (plot.VERMILION, plot.BLUE, plot.GREEN, plot.PURPLE, plot.ORANGE, plot.BLACK)
_KINDS = {
    "bow": plot.GREY,
    "vanilla": plot.BLACK,
    "bow-wr": plot.SKY,
    "wr": plot.BLUE,
    "oc": plot.ORANGE,
    "soc": plot.VERMILION,
    "ear": plot.GREEN,
}
_STRENGTHS = ("o", "s", "^", "D", "v")  # marks of the strengths of one method family
_REMOVAL = {"f1": "F1 on the test set (%)", "news_accuracy": "Accuracy on news (%)"}


@figure("figure2_removal", "Figure 2: removal of identifiers", "removal")
def draw_removal(units: Sequence[Results], stem: Path) -> None:
    """Draw F1 and news accuracy of the bag of words against the number of removed identifiers (Figure 2)."""
    data = removal(read_all(units, "removal"))
    colours = dict(zip(data["corpus"].unique(), cycle(_CORPORA), strict=False))
    with plot.figure(plot.DOUBLE_COLUMN, 2.5) as fig:
        panels = fig.subplots(1, 2)
        for ax, (value, label) in zip(panels, _REMOVAL.items(), strict=True):
            for corpus, part in data.groupby("corpus", sort=False):
                x, colour = part["n_removed"], colours[corpus]
                low, high = (100 * part[f"{value}_{end}"] for end in ("low", "high"))
                ax.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
                ax.plot(x, 100 * part[value], marker="o", markersize=2.5, color=colour, label=corpus)
            if data[value].isna().all():
                say_nothing(ax)
            ax.set_xlabel("Identifiers removed")
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.set_ylabel(label)
            ax.grid(visible=True)
        plot.legend_below(fig, panels[0], max(len(colours), 1))
        fig.legends[0].set_title("Mean and range over random subsets of equally many identifiers")
        plot.save_with_data(fig, stem, data)


def removal(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean, minimum and maximum over the subsets of equally many identifiers, by corpus."""
    ends = {"": "mean", "_low": "min", "_high": "max"}
    named = {f"{value}{end}": (value, how) for value in _REMOVAL for end, how in ends.items()}
    groups = rows.groupby(["corpus", "n_removed"], sort=False)
    table = groups.agg(n_subsets=("subset", "nunique"), **named).reset_index()
    order = list(rows["corpus"].unique())
    return pd.concat([table[table["corpus"] == name].sort_values("n_removed") for name in order] or [table])


@figure("performance", "Table 1 as a figure", "metrics", caption="performance_figure")
def draw_performance(units: Sequence[Results], stem: Path) -> None:
    """Draw F1 on the test set against accuracy on news, a panel a corpus, a point a training (Table 1)."""
    data = by_seed(without_quirks(read_all(units, "metrics")))
    corpora, methods = list(data["corpus"].unique()), in_order(data["method"])
    n_columns = max(1, min(len(corpora), 3))
    with plot.panels(len(corpora), n_columns, 2.6, 0.5) as (fig, panels):
        for ax, corpus in zip(panels, corpora, strict=True):
            _draw_methods(ax, data[data["corpus"] == corpus], methods)
            ax.set_title(corpus)
            ax.set_xlabel("Accuracy on news (%)")
            ax.set_ylabel("F1 on the test set (%)")
        plot.legend_below(fig, fig.axes[0], 4)
        fig.legends[0].set_title("Small marks: single seeds; large marks: their means")
        plot.save_with_data(fig, stem, data)


def _draw_methods(ax: plot.Axes, data: pd.DataFrame, methods: Sequence[str]) -> None:
    if not len(data[["news", "f1"]].dropna()):
        say_nothing(ax)
    counts = dict.fromkeys(_KINDS, 0)
    for method in methods:
        family = parse_method(method).kind
        colour, marker = _KINDS[family], _STRENGTHS[counts[family] % len(_STRENGTHS)]
        counts[family] += 1
        part = 100 * data.loc[data["method"] == method, ["news", "f1"]].dropna()
        ax.plot(
            part["news"], part["f1"], linestyle="", marker=marker, color=colour, markersize=2.5, alpha=0.6,
            markeredgewidth=0,
        )  # fmt: skip
        mean = part.mean()
        ax.plot(
            mean["news"], mean["f1"], linestyle="", marker=marker, color=colour, markersize=6.5, zorder=3,
            markeredgecolor="white", markeredgewidth=0.6, label=title(method),
        )  # fmt: skip
    ax.grid(visible=True)


def say_nothing(ax: plot.Axes) -> None:
    """Write into a panel that no data are available."""
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, horizontalalignment="center")
