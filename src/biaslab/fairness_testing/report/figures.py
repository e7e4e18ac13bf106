"""The figures of fairness testing, of all classifiers together (Zhang et al. 2021)."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.fairness_testing.names import NO_RULE, PAPER, PUBLISHED, SETTING
from biaslab.fairness_testing.report.results import (
    FINDS_NAMES,
    TESTER_NAMES,
    read_all,
    setting_in_words,
    short_count,
)
from biaslab.fairness_testing.report.tables import switch_name, worths
from biaslab.run.reports import Results

_LINES = {
    "n_samples": ("Samples", plot.BLUE),
    "n_discriminatory": ("Discriminatory samples", plot.VERMILLION),
}
_COLOURS = (
    plot.BLUE,
    plot.VERMILLION,
    plot.GREEN,
    plot.ORANGE,
    plot.PURPLE,
    plot.SKY,
    plot.BLACK,
)  # of classifiers
_MARKERS = ("o", "s", "^", "D", "v")  # of protected attributes, and of label rules
_PANEL, _LEGEND = 1.35, 0.45  # heights in inches
_ROW = 0.3  # height of a switch of the ablation


def draw_local(units: Sequence[Results], stem: Path) -> None:
    """Draw the samples against the seeds explored, AEQUITAS beside ADF, from the same seeds (Figure 7)."""
    data = read_all(units, "curves")
    settings = _settings(data)
    with plot.figure(plot.DOUBLE_COLUMN, _PANEL * math.ceil(len(settings) / 2) + _LEGEND) as fig:
        axes = _grid(fig, 2 * len(settings), 4)
        for place, setting in enumerate(settings):
            for ax, tester in zip(axes[2 * place : 2 * place + 2], ("aequitas", "adf"), strict=True):
                part = _of(data, setting, tester=tester).drop_duplicates("n_seeds", keep="last")
                for column, (label, colour) in _LINES.items():
                    ax.plot(part["n_seeds"], part[column], color=colour, label=label)
                ax.set_title(f"{_name(setting)}: {TESTER_NAMES[tester]}")
                ax.set_ylim(bottom=0)
                ax.set_xlim(left=0)
                ax.yaxis.set_major_formatter(short_count)
        _label_outer(axes, 4, "Seeds explored", "Samples")
        plot.legend_below(fig, axes[0], 2)
        plot.save_with_data(fig, stem, data)


def draw_ablation(units: Sequence[Results], stem: Path) -> None:
    """Draw how the discriminatory samples change with each switch, a panel a tester, a mark a setting."""
    data = worths(read_all(units, "ablation"))
    data = data[data["switch"] != PUBLISHED]
    testers = [tester for tester in TESTER_NAMES if (data["tester"] == tester).any()]
    rows = [data.loc[data["tester"] == tester, "switch"].nunique() for tester in testers]
    settings = _settings(data)
    with plot.figure(plot.DOUBLE_COLUMN, _ROW * (sum(rows) + 2 * len(rows)) + 2 * _LEGEND) as fig:
        panels = fig.subplots(len(rows), 1, squeeze=False, height_ratios=rows)[:, 0]
        for ax, tester in zip(panels, testers, strict=True):
            _draw_switches(ax, data[data["tester"] == tester], settings)
            ax.set_title(TESTER_NAMES[tester])
        panels[-1].set_xlabel("Change of the different discriminatory samples (%)")
        plot.legend_below(fig, panels[0], 4)
        plot.save_with_data(fig, stem, data)


def draw_retraining(units: Sequence[Results], stem: Path) -> None:
    """Draw the share of discriminatory samples before and after retraining, a panel a setting (Table XII)."""
    retraining, fairness = read_all(units, "retraining"), read_all(units, "fairness")
    after = retraining.groupby([*SETTING, "tester", "label_rule"], sort=False).agg(
        n_repetitions=("share_after", "size"), mean=("share_after", "mean"), sd=("share_after", "std")
    )
    before = fairness[[*SETTING, "share", "ci_low", "ci_high"]]
    data = before.merge(after.reset_index(), on=SETTING, how="left")
    settings, rules = _settings(data), [rule for rule in data["label_rule"].dropna().unique() if rule]
    testers = [tester for tester in FINDS_NAMES if (data["tester"] == tester).any()]
    n_columns = min(len(settings), 3)
    with plot.figure(
        plot.DOUBLE_COLUMN, 1.2 * _PANEL * math.ceil(len(settings) / n_columns) + _LEGEND
    ) as fig:
        axes = _grid(fig, len(settings), n_columns, sharex=True)
        for ax, setting in zip(axes, settings, strict=True):
            part = _of(data, setting)
            _draw_before(ax, part.iloc[0])
            for place, rule in enumerate(rules):
                shift = 0.5 * ((place + 0.5) / len(rules) - 0.5)
                by_rule, style = part[part["label_rule"] == rule], (_COLOURS[place], _MARKERS[place])
                _draw_after(ax, by_rule, testers, shift, f"After, label: {rule}", style)
            control = part[part["label_rule"] == NO_RULE]
            _draw_after(ax, control, testers, 0, "After, nothing added", (plot.BLACK, "x"))
            ax.set_title(_name(setting))
            ax.set_xticks(range(len(testers)), [FINDS_NAMES[t].replace(" ", "\n") for t in testers])
            ax.set_xlim(-0.6, max(len(testers), 1) - 0.4)
            ax.set_ylim(bottom=0)
        _label_outer(axes, n_columns, "", "Discriminatory (%)")
        plot.legend_below(fig, axes[0], len(rules) + 2)
        plot.save_with_data(fig, stem, data)


def _draw_switches(ax: plot.Axes, data: pd.DataFrame, settings: Sequence[tuple[str, str]]) -> None:
    """Draw the switches of one tester below each other, the settings side by side in each."""
    switches = sorted(data["switch"].unique(), key=lambda s: s == PAPER)  # stable: the paper comes last
    colours = dict(zip(dict.fromkeys(c for c, _ in settings), itertools.cycle(_COLOURS), strict=False))
    markers = dict(zip(dict.fromkeys(p for _, p in settings), itertools.cycle(_MARKERS), strict=False))
    for place, setting in enumerate(settings):
        part = _of(data, setting)
        change = part["n_discriminatory_change"].to_numpy()
        ends = part[["n_discriminatory_change_ci_low", "n_discriminatory_change_ci_high"]].to_numpy().T
        lengths = np.nan_to_num(np.abs(ends - change))
        y = part["switch"].map(switches.index) + 0.75 * ((place + 0.5) / len(settings) - 0.5)
        ax.errorbar(
            change,
            y,
            xerr=lengths,
            linestyle="",
            color=colours[setting[0]],
            marker=markers[setting[1]],
            markersize=2.5,
            elinewidth=0.7,
            label=_name(setting),
        )
    ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
    for edge in np.arange(0.5, len(switches) - 1):
        ax.axhline(edge, color=plot.LIGHT_GREY, linewidth=0.3, zorder=0)
    ax.set_yticks(range(len(switches)), [switch_name(switch) for switch in switches])
    ax.set_ylim(len(switches) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)


def _draw_before(ax: plot.Axes, row: pd.Series) -> None:
    ax.axhline(
        100 * row["share"], color=plot.BLACK, linewidth=0.8, linestyle="--", label="Before (95% interval)"
    )
    ax.axhspan(100 * row["ci_low"], 100 * row["ci_high"], color=plot.LIGHT_GREY, alpha=0.6, linewidth=0)


def _draw_after(
    ax: plot.Axes, data: pd.DataFrame, testers: list[str], shift: float, label: str, style: tuple[str, str]
) -> None:
    """Draw the shares after retraining by one label rule, shifted from the tester, in its colour and mark."""
    colour, marker = style
    ax.errorbar(
        data["tester"].map(testers.index) + shift,
        100 * data["mean"],
        100 * data["sd"].fillna(0),
        linestyle="",
        color=colour,
        marker=marker,
        markersize=3,
        elinewidth=0.8,
        label=label,
    )


def _grid(fig: plot.Figure, n: int, n_columns: int, **shared: bool) -> "np.ndarray":
    """Return n panels in rows; the places left over stay empty."""
    axes = fig.subplots(math.ceil(n / n_columns), n_columns, squeeze=False, **shared).ravel()
    for ax in axes[n:]:
        ax.set_axis_off()
    return axes[:n]


def _label_outer(axes: "np.ndarray", n_columns: int, x: str, y: str) -> None:
    """Name the axes of the lowest panel of each column and of the first one of each row."""
    for ax in axes[-n_columns:]:
        ax.set_xlabel(x)
        ax.tick_params(labelbottom=True)
    for ax in axes[::n_columns]:
        ax.set_ylabel(y)


def _settings(data: pd.DataFrame) -> list[tuple[str, str]]:
    return list(data[SETTING].drop_duplicates().itertuples(index=False, name=None))


def _of(data: pd.DataFrame, setting: tuple[str, str], **more: str) -> pd.DataFrame:
    """Return the rows of a setting."""
    wanted = dict(zip(SETTING, setting, strict=True)) | more
    return data[np.logical_and.reduce([data[column] == value for column, value in wanted.items()])]


def _name(setting: tuple[str, str]) -> str:
    return setting_in_words(setting)
