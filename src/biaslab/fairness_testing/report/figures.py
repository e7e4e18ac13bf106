"""The figures of fairness testing over all classifiers, and over all corpora (Zhang et al. 2021)."""

import contextlib
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.fairness_testing.report import results as texts
from biaslab.fairness_testing.report.results import (
    finds_names,
    read_all,
    setting_in_words,
    short_count,
    summarize,
    tester_names,
)
from biaslab.fairness_testing.report.tables import BASE, relative, switch_name, worths
from biaslab.fairness_testing.settings import CONTROL, NO_RULE, PAPER, PUBLISHED, SETTING, TABULAR, TEXT
from biaslab.run.area import figure
from biaslab.run.plan.reports import Results

_LINES = {"n_samples": ("Samples", plot.BLUE), "n_discriminatory": ("Discriminatory samples", plot.VERMILION)}
_COLOURS = (
    plot.BLUE,
    plot.VERMILION,
    plot.GREEN,
    plot.ORANGE,
    plot.PURPLE,
    plot.SKY,
    plot.BLACK,
)  # of classifiers
_MARKERS = ("o", "s", "^", "D", "v")  # of protected attributes, and of label rules
_PANEL, _LEGEND = 1.35, 0.45  # heights in inches
_ROW = 0.3  # height of a switch of the ablation
_BUDGET_ROW = 0.24
_BUDGET_TITLES = {PUBLISHED: "Published code", PAPER: "As described in the paper"}
_BUDGET_COLOURS, _BUDGET_MARKERS = (plot.GREEN, plot.PURPLE, plot.BLUE, plot.GREY), ("o", "s", "^", "D")
_TESTER_COLOURS = {"rp": plot.GREY, "adf": plot.VERMILION}
# Heights in inches for texts: of a row, of the rest of a panel, of a legend.
_TEXT_ROW, _TEXT_PANEL, _TEXT_LEGEND = 0.15, 0.6, 0.4


@figure("figure7_local", "Figure 7: growth with the seeds", "curves", caption="figure7", of=TABULAR)
def draw_local(units: Sequence[Results], stem: Path) -> None:
    """Draw the samples against the explored seeds, for AEQUITAS and ADF from the same seeds (Figure 7)."""
    data = read_all(units, "curves")
    by_setting = data.groupby(SETTING, sort=False)
    with plot.panels(2 * by_setting.ngroups, 4, _PANEL, _LEGEND) as (fig, axes):
        for place, (setting, own) in enumerate(by_setting):
            for ax, tester in zip(axes[2 * place : 2 * place + 2], ("aequitas", "adf"), strict=True):
                part = own[own["tester"] == tester].drop_duplicates("n_seeds", keep="last")
                for column, (label, colour) in _LINES.items():
                    ax.plot(part["n_seeds"], part[column], color=colour, label=label)
                ax.set_title(f"{setting_in_words(setting)}: {tester_names()[tester]}")
                ax.set_ylim(bottom=0)
                ax.set_xlim(left=0)
                ax.yaxis.set_major_formatter(short_count)
        _label_outer(axes, 4, "Seeds explored", "Samples")
        plot.legend_below(fig, axes[0], 2)
        plot.save_with_data(fig, stem, data)


@figure("ablation", "What each published quirk is worth", "ablation", of=TABULAR)
def draw_ablation(units: Sequence[Results], stem: Path) -> None:
    """Draw the change of discriminatory samples by each switch; a panel per tester, a mark per setting."""
    data = worths(read_all(units, "ablation"))
    data = data[data["switch"] != PUBLISHED]
    testers = [tester for tester in tester_names() if (data["tester"] == tester).any()]
    rows = [data.loc[data["tester"] == tester, "switch"].nunique() for tester in testers]
    settings = settings_of(data, SETTING)
    colours = dict(zip(dict.fromkeys(c for c, _ in settings), itertools.cycle(_COLOURS), strict=False))
    markers = dict(zip(dict.fromkeys(p for _, p in settings), itertools.cycle(_MARKERS), strict=False))
    with plot.figure(plot.DOUBLE_COLUMN, _ROW * (sum(rows) + 2 * len(rows)) + 2 * _LEGEND) as fig:
        panels = fig.subplots(len(rows), 1, squeeze=False, height_ratios=rows)[:, 0]
        for ax, tester in zip(panels, testers, strict=True):
            own = data[data["tester"] == tester]
            switches = sorted(own["switch"].unique(), key=lambda s: s == PAPER)  # stable: the paper is last
            for setting, part in own.groupby(SETTING, sort=False):
                place = (settings.index(setting) + 0.5) / len(settings) - 0.5
                y = part["switch"].map(switches.index) + 0.75 * place
                style = (colours[setting[0]], markers[setting[1]])
                draw_means(ax, part, "n_discriminatory_change", y, setting_in_words(setting), *style)
            ax.axvline(0, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
            for edge in np.arange(0.5, len(switches) - 1):
                ax.axhline(edge, color=plot.LIGHT_GREY, linewidth=0.3, zorder=0)
            ax.set_yticks(range(len(switches)), [switch_name(switch) for switch in switches])
            ax.set_ylim(len(switches) - 0.5, -0.5)
            ax.tick_params(axis="y", length=0)
            ax.set_title(tester_names()[tester])
        panels[-1].set_xlabel("Change of the different discriminatory samples (%)")
        plot.legend_below(fig, panels[0], 4)
        plot.save_with_data(fig, stem, data)


@figure("retraining", "Discrimination before and after retraining", "retraining", "fairness", of=TABULAR)
def draw_retraining(units: Sequence[Results], stem: Path) -> None:
    """Draw the discriminatory share before and after retraining, one panel per setting (Table XII)."""
    retraining, fairness = read_all(units, "retraining"), read_all(units, "fairness")
    after = retraining.groupby([*SETTING, "tester", "label_rule"], sort=False).agg(
        n_repetitions=("share_after", "size"), mean=("share_after", "mean"), sd=("share_after", "std")
    )
    fair = fairness[[*SETTING, "share", "ci_low", "ci_high"]]
    data = fair.merge(after.reset_index(), on=SETTING, how="left")
    by_setting = data.groupby(SETTING, sort=False)
    rules = [rule for rule in data["label_rule"].dropna().unique() if rule]
    testers = [tester for tester in finds_names() if (data["tester"] == tester).any()]
    n_columns = min(by_setting.ngroups, 3)
    with plot.panels(by_setting.ngroups, n_columns, 1.2 * _PANEL, _LEGEND, sharex=True) as (fig, axes):
        for ax, (setting, part) in zip(axes, by_setting, strict=True):
            before = 100 * part.iloc[0][["share", "ci_low", "ci_high"]]
            label = "Before (95% interval)"
            ax.axhline(before["share"], color=plot.BLACK, linewidth=0.8, linestyle="--", label=label)
            ax.axhspan(before["ci_low"], before["ci_high"], color=plot.LIGHT_GREY, alpha=0.6, linewidth=0)
            for place, rule in enumerate(rules):
                shift = 0.5 * ((place + 0.5) / len(rules) - 0.5)
                by_rule, style = part[part["label_rule"] == rule], (_COLOURS[place], _MARKERS[place])
                _draw_after(ax, by_rule, testers, shift, f"After, label: {rule}", style)
            control = part[part["label_rule"] == NO_RULE]
            _draw_after(ax, control, testers, 0, "After, nothing added", (plot.BLACK, "x"))
            ax.set_title(setting_in_words(setting))
            ax.set_xticks(range(len(testers)), [finds_names()[t].replace(" ", "\n") for t in testers])
            ax.set_xlim(-0.6, max(len(testers), 1) - 0.4)
            ax.set_ylim(bottom=0)
        _label_outer(axes, n_columns, "", "Discriminatory (%)")
        plot.legend_below(fig, axes[0], len(rules) + 2)
        plot.save_with_data(fig, stem, data)


@figure("budgets", "Testers at equal numbers of queries", "budgets", of=TABULAR)
def draw_budgets(units: Sequence[Results], stem: Path) -> None:
    """Draw the testers' finds in percent of ADF's at the largest budget, one panel per mode."""
    data = relative(read_all(units, "budgets"))
    data = data[(data["budget"] == data["budget"].max()) & (data["tester"] != BASE)]
    settings = settings_of(data, SETTING)
    testers = [tester for tester in tester_names() if (data["tester"] == tester).any()]
    with plot.figure(plot.DOUBLE_COLUMN, _BUDGET_ROW * len(settings) + 2 * _LEGEND) as fig:
        axes = fig.subplots(1, 2, sharey=True)
        for ax, mode in zip(axes, (PUBLISHED, PAPER), strict=True):
            part = data[data["mode"] == mode]
            for number, tester in enumerate(testers):
                own = part[part["tester"] == tester]
                places = np.array([settings.index(key) for key in own.set_index(SETTING).index], float)
                style = (_BUDGET_COLOURS[number % 4], _BUDGET_MARKERS[number % 4])
                shift = 0.6 * ((number + 0.5) / len(testers) - 0.5)
                draw_means(ax, own, "of_adf", places + shift, tester_names()[tester], *style)
            ax.axvline(100, color=plot.LIGHT_GREY, linewidth=0.6, zorder=0)
            ax.tick_params(axis="y", length=0)
            absent = [tester_names()[name] for name in testers if not (part["tester"] == name).any()]
            suffix = f"; {', '.join(absent)} is identical in both" if absent else ""
            ax.set_title(f"{_BUDGET_TITLES[mode]}{suffix}")
            ax.set_xlabel("Discriminatory samples (% of ADF's)")
        axes[0].set_yticks(range(len(settings)), [setting_in_words(name, ": ") for name in settings])
        axes[0].set_ylim(len(settings) - 0.5, -0.5)
        plot.legend_below(fig, axes[0], len(testers))
        plot.save_with_data(fig, stem, data)


@figure("text_figure8", "Figure 8: how near the texts are", "validity", of=TEXT)
def draw_nearness(units: Sequence[Results], stem: Path) -> None:
    """Draw the nearness of the local phases' texts to their seeds, one panel per metric (Figure 8)."""
    validity = texts.read_texts(units, "validity")
    chosen = validity[(validity["phase"] == "local") & (validity["n_pairs"] > 0)]
    data = summarize(chosen, [*texts.BENCHMARK, "tester", "metric"], ["mean"])
    metrics = [metric for metric in texts.METRIC_NAMES if (data["metric"] == metric).any()]
    metrics = [metric for metric in metrics if metric != "seed_perplexity"]
    settings = settings_of(data, texts.BENCHMARK)
    with _text_panels(len(metrics), len(settings)) as (fig, axes):
        for ax, metric in zip(axes, metrics, strict=False):
            own = data[data["metric"] == metric]
            for place, (tester, title) in enumerate(texts.TEXT_TESTER_NAMES.items()):
                part = own[own["tester"] == tester]
                y = [settings.index(s) + 0.24 * place - 0.12 for s in part.set_index(texts.BENCHMARK).index]
                if len(part):
                    draw_means(ax, part, "mean", y, title, _TESTER_COLOURS[tester], size=2.8)
            _name_rows(ax, [_name_texts(setting) for setting in settings])
            if metric == "perplexity":
                # The perplexity of the seeds is the same for all changes: a line in the row of each
                # benchmark.
                own = data[data["metric"] == "seed_perplexity"]
                means = own.groupby(texts.BENCHMARK, sort=False)["mean"].mean()
                for number, (setting, mean) in enumerate(means.items()):
                    y = settings.index(setting)
                    line = {"color": plot.BLACK, "linewidth": 0.8, "label": None if number else "Seeds"}
                    ax.plot([mean, mean], [y - 0.35, y + 0.35], **line)
            ax.set_title(texts.METRIC_NAMES[metric])
        _explain(fig, axes)
        plot.save_with_data(fig, stem, data)


@figure("text_retraining", "Discrimination that training again removes", "retraining", of=TEXT)
def draw_text_retraining(units: Sequence[Results], stem: Path) -> None:
    """Draw the discriminatory share that each training removes, one panel per benchmark (Table XIII)."""
    retraining = texts.in_order(texts.read_texts(units, "retraining"), "tester", list(texts.TRAINING_NAMES))
    data = summarize(retraining, [*texts.BENCHMARK, "tester", "label_rule"], ["improvement"])
    trainings = list(data[["tester", "label_rule"]].drop_duplicates().itertuples(index=False, name=None))
    by_setting = data.groupby(texts.BENCHMARK, sort=False)
    with _text_panels(by_setting.ngroups, len(trainings)) as (fig, axes):
        for ax, (setting, part) in zip(axes, by_setting, strict=True):
            is_control = part["tester"] == CONTROL
            for own, colour, label in (
                (part[~is_control], plot.VERMILION, "Trained again"),
                (part[is_control], plot.GREY, "Trained again with nothing added"),
            ):
                keys = zip(own["tester"], own["label_rule"], strict=True)
                y = [trainings.index(key) for key in keys]
                if len(own):
                    draw_means(ax, own, "improvement", y, label, colour, size=2.8)
            for control in part.loc[is_control, "improvement"]:
                ax.axvline(control, color=plot.LIGHT_GREY, linewidth=0.6, linestyle="--", zorder=0)
            _name_rows(ax, [texts.training_name(*training) for training in trainings])
            ax.set_title(_name_texts(setting))
            ax.set_xlabel("Removed (%)")
            ax.set_xlim(-2, 102)  # an interval of two repetitions may be wider than a share can be
        _explain(fig, axes)
        plot.save_with_data(fig, stem, data)


def _draw_after(
    ax: plot.Axes, data: pd.DataFrame, testers: list[str], shift: float, label: str, style: tuple[str, str]
) -> None:
    """Draw the shares after retraining by one label rule, shifted and styled."""
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


def _label_outer(axes: "np.ndarray", n_columns: int, x: str, y: str) -> None:
    """Label the x axis of the lowest panel of each column and the y axis of the first panel of each row."""
    for ax in axes[-n_columns:]:
        ax.set_xlabel(x)
        ax.tick_params(labelbottom=True)
    for ax in axes[::n_columns]:
        ax.set_ylabel(y)


def _text_panels(n: int, n_rows: int) -> contextlib.AbstractContextManager:
    # Three panels per row, or two if these fill the rows better.
    n_columns = max(1, min(n, 2 if n in (2, 4) else 3))
    return plot.panels(n, n_columns, _TEXT_ROW * max(n_rows, 3) + _TEXT_PANEL, _TEXT_LEGEND, sharey=True)


def draw_means(
    ax: plot.Axes,
    data: pd.DataFrame,
    value: str,
    y: Sequence[float],
    label: str,
    colour: str,
    marker: str = "o",
    size: float = 2.5,
) -> None:
    """Draw means of `summarize` with their intervals over the repetitions, one per row."""
    x = data[value].to_numpy(float)
    ends = data[[f"{value}_ci_low", f"{value}_ci_high"]].to_numpy(float).T
    lengths = np.nan_to_num(np.abs(ends - x))
    style = {"linestyle": "", "color": colour, "marker": marker, "markersize": size, "elinewidth": 0.7}
    ax.errorbar(x, y, xerr=lengths, label=label, **style)


def _name_rows(ax: plot.Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel from top to bottom, with lines between them."""
    edges = np.arange(0.5, len(names) - 1)
    ax.hlines(edges, 0, 1, plot.LIGHT_GREY, linewidth=0.25, zorder=0, transform=ax.get_yaxis_transform())
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=True, axis="x")


def _explain(fig: plot.Figure, axes: Sequence[plot.Axes]) -> None:
    """Draw a legend below the panels, from the panel with most marks; note if there are no panels."""
    if len(axes):
        fullest = max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[1]))
        plot.legend_below(fig, fullest, 4)
    else:
        fig.text(0.5, 0.5, "not measured", horizontalalignment="center")


def settings_of(data: pd.DataFrame, columns: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the distinct settings of rows, in their order."""
    return list(pd.MultiIndex.from_frame(data[list(columns)]).unique())


def _name_texts(setting: tuple[str, ...]) -> str:
    corpus, model, feature = setting
    return f"{corpus}, {model.upper()}, {feature}"
