"""The figures that set every method beside the same classifier without it: a row for each thing measured."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.hate_speech.report.names import (
    EVERY,
    NEWS,
    VANILLA,
    baseline,
    functionality_title,
    in_order,
    title,
)
from biaslab.hate_speech.report.panels import say_nothing
from biaslab.hate_speech.report.probes import POOLED, RATE, identity_rates, pass_rates
from biaslab.hate_speech.report.results import read_all
from biaslab.hate_speech.report.summaries import OVER_TEXTS
from biaslab.run.reports import Results

_N_COLUMNS = 3
_ROW, _PANEL = 0.12, 0.35  # heights in inches: of a row, and of what a panel has besides
_LEGEND = 0.75


def draw_false_positives(unit: Results, stem: Path) -> None:
    """Draw the false positive rate of each identifier on news, a panel a method, beside its baseline."""
    rates = identity_rates(read_all([unit], "identity"))
    is_news = (rates["set"] == NEWS) & (rates["measure"] == RATE) & (rates["identifier"] != EVERY)
    data = rates[is_news].drop(columns=["corpus", "set", "measure"])
    names = {name: name for name in _by_rate(data)}
    _draw(data, "identifier", names, "False positives on news (%)", stem)


def draw_hatecheck(unit: Results, stem: Path) -> None:
    """Draw the pass rate of each functionality of HateCheck, a panel a method, beside its baseline."""
    rates = pass_rates(read_all([unit], "functionalities"))
    single = rates[~rates["functionality"].isin(POOLED)]
    data = single.drop(columns="corpus").rename(columns={"rate": "value"})
    data = data.sort_values("is_hateful", ascending=False, kind="stable").reset_index(drop=True)
    names = {name: functionality_title(name) for name in data["functionality"].unique()}
    hateful = data.loc[data["is_hateful"].eq(True), "functionality"].nunique()
    _draw(data, "functionality", names, "Cases classified right (%)", stem, hateful)


def _by_rate(data: pd.DataFrame) -> list[str]:
    """Return the identifiers, the one with the highest rate under the encoder (or the first method) first."""
    methods = in_order(data["method"])
    first = data[data["method"] == (VANILLA if VANILLA in methods else next(iter(methods), ""))]
    order = first.sort_values("value", ascending=False, kind="stable")["identifier"]
    return list(dict.fromkeys([*order, *data["identifier"]]))


def _draw(
    data: pd.DataFrame, column: str, names: dict[str, str], label: str, stem: Path, divide: int = 0
) -> None:
    """Draw a panel for each method that changes another, a row for each of `names`, `divide` apart."""
    methods = in_order(data["method"])
    changed = {baseline(method) for method in methods}
    shown = [method for method in methods if baseline(method) or method not in changed]
    n_columns = max(1, min(len(shown), _N_COLUMNS))
    n_rows = max(1, math.ceil(len(shown) / n_columns))
    with plot.figure(plot.DOUBLE_COLUMN, (_ROW * max(len(names), 6) + _PANEL) * n_rows + _LEGEND) as fig:
        axes = fig.subplots(n_rows, n_columns, squeeze=False, sharex=True, sharey=True).ravel()
        for place, (ax, method) in enumerate(zip(axes, shown, strict=False)):
            for one in filter(None, (baseline(method), method)):
                _draw_rows(ax, data[data["method"] == one], column, list(names))
            ax.set_title(title(method))
            if divide:
                is_last = place % n_columns == n_columns - 1 or method == shown[-1]
                _set_off(ax, divide, len(names), is_last)
            ax.tick_params(labelbottom=True)
            if place + n_columns >= len(shown):
                ax.set_xlabel(label)
        for ax in axes[len(shown) :]:
            ax.set_axis_off()
        axes[0].set_yticks(range(len(names)), list(names.values()))
        axes[0].set_ylim(max(len(names), 1) - 0.4, -0.6)
        _explain(fig, axes[: len(shown)], data)
        if not shown:
            say_nothing(axes[0])
        plot.save_with_data(fig, stem, data)


def _draw_rows(ax: plot.Axes, data: pd.DataFrame, column: str, rows: Sequence[str]) -> None:
    """Draw the marks of one method, those of a baseline a little above the middle of the row."""
    if data.empty:
        return
    is_changed = bool(baseline(data["method"].iloc[0]))
    y = data[column].map(rows.index) + (0.17 if is_changed else -0.17)
    x = 100 * data["value"].to_numpy(float)
    ends = 100 * data[["ci_low", "ci_high"]].to_numpy(float).T
    ax.errorbar(
        x,
        y,
        xerr=np.nan_to_num(np.abs(ends - x)),
        linestyle="",
        marker="o",
        markersize=2.8,
        color=plot.VERMILLION if is_changed else plot.GREY,
        markerfacecolor=plot.VERMILLION if is_changed else "white",
        markeredgewidth=0.7,
        elinewidth=0.6,
        label="With (WR, OC, SOC or EAR)" if is_changed else "Without (the encoder or BoW alone)",
    )
    ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    ax.grid(visible=True, axis="x")
    edges = np.arange(0.5, len(rows) - 1)
    ax.hlines(edges, 0, 1, plot.LIGHT_GREY, linewidth=0.25, zorder=0, transform=ax.get_yaxis_transform())
    ax.tick_params(axis="y", length=0)


def _set_off(ax: plot.Axes, n_hateful: int, n_rows: int, is_named: bool) -> None:
    """Divide the rows of hateful texts from the others; name both on the right."""
    ax.axhline(n_hateful - 0.5, color=plot.GREY, linewidth=0.6)
    ax.set_xlim(-3, 103)
    for first, last, name in ((0, n_hateful, "hateful"), (n_hateful, n_rows, "not hateful")):
        if is_named and last > first:
            ax.text(
                1.01, (first + last - 1) / 2, name, transform=ax.get_yaxis_transform(), rotation=270,
                horizontalalignment="left", verticalalignment="center",
            )  # fmt: skip


def _explain(fig: plot.Figure, axes: Sequence[plot.Axes], data: pd.DataFrame) -> None:
    """Explain the marks below the panels; one may lack a baseline that others have."""
    if len(axes):
        plot.legend_below(fig, max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[1])), 2)
        fig.legends[0].set_title(_uncertainty(data))


def _uncertainty(data: pd.DataFrame) -> str:
    """Say what the error bars are."""
    n, kinds = data["n_seeds"].max(), set(data["interval"])
    if kinds == {OVER_TEXTS}:
        return "One seed, 95% interval over the texts"
    single = "; of a single seed, 95% interval over the texts" if OVER_TEXTS in kinds else ""
    return f"Mean and 95% interval over {n} seeds{single}"
