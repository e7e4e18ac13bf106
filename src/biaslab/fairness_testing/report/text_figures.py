"""The figures on texts, of all corpora together (Zhang et al. 2021)."""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.fairness_testing.report import text_results as results
from biaslab.fairness_testing.report.results import summarize
from biaslab.fairness_testing.text.names import CONTROL
from biaslab.run.reports import Results

_COLOURS = {"rp": plot.GREY, "adf": plot.VERMILLION}
_ROW, _PANEL, _LEGEND = 0.15, 0.6, 0.4  # heights in inches: of a row, of the rest of a panel, of a legend


def draw_nearness(units: Sequence[Results], stem: Path) -> None:
    """Draw how near the texts of the local phases are to their seeds, a panel a metric (Figure 8)."""
    validity = results.read_all(units, "validity")
    chosen = validity[(validity["phase"] == "local") & (validity["n_pairs"] > 0)]
    data = summarize(chosen, [*results.BENCHMARK, "tester", "metric"], ["mean"])
    metrics = [metric for metric in results.METRIC_NAMES if (data["metric"] == metric).any()]
    metrics = [metric for metric in metrics if metric != "seed_perplexity"]
    settings = _settings(data)
    with _panels(len(metrics), len(settings), sharey=True) as (fig, axes):
        for ax, metric in zip(axes, metrics, strict=False):
            own = data[data["metric"] == metric]
            for place, (tester, title) in enumerate(results.TESTER_NAMES.items()):
                part = own[own["tester"] == tester]
                y = [settings.index(s) + 0.24 * place - 0.12 for s in _keys(part)]
                _draw_means(ax, part, "mean", y, _COLOURS[tester], title)
            _name_rows(ax, [", ".join(_named(setting)) for setting in settings])
            if metric == "perplexity":
                _draw_seeds(ax, data[data["metric"] == "seed_perplexity"], settings)
            ax.set_title(results.METRIC_NAMES[metric])
        _explain(fig, axes)
        plot.save_with_data(fig, stem, data)


def draw_retraining(units: Sequence[Results], stem: Path) -> None:
    """Draw which share of discriminatory texts each training removes, a panel a benchmark (Table XIII)."""
    retraining = results.in_order(
        results.read_all(units, "retraining"), "tester", list(results.TRAINING_NAMES)
    )
    data = summarize(retraining, [*results.BENCHMARK, "tester", "label_rule"], ["improvement"])
    trainings = list(data[["tester", "label_rule"]].drop_duplicates().itertuples(index=False, name=None))
    settings = _settings(data)
    with _panels(len(settings), len(trainings), sharey=True) as (fig, axes):
        for ax, setting in zip(axes, settings, strict=False):
            part = _of(data, setting)
            is_control = part["tester"] == CONTROL
            for own, colour, label in (
                (part[~is_control], plot.VERMILLION, "Trained again"),
                (part[is_control], plot.GREY, "Trained again with nothing added"),
            ):
                keys = zip(own["tester"], own["label_rule"], strict=True)
                y = [trainings.index(key) for key in keys]
                _draw_means(ax, own, "improvement", y, colour, label)
            for control in part.loc[is_control, "improvement"]:
                ax.axvline(control, color=plot.LIGHT_GREY, linewidth=0.6, linestyle="--", zorder=0)
            _name_rows(ax, [results.training_name(*training) for training in trainings])
            ax.set_title(", ".join(_named(setting)))
            ax.set_xlabel("Removed (%)")
            ax.set_xlim(-2, 102)  # an interval of two repetitions may be wider than a share can be
        _explain(fig, axes)
        plot.save_with_data(fig, stem, data)


@contextlib.contextmanager
def _panels(n: int, n_rows: int, sharey: bool = False) -> Iterator[tuple[plot.Figure, "np.ndarray"]]:
    n_columns = _columns(n)
    n_lines = max(1, math.ceil(n / n_columns))
    with plot.figure(plot.DOUBLE_COLUMN, (_ROW * max(n_rows, 3) + _PANEL) * n_lines + _LEGEND) as fig:
        axes = fig.subplots(n_lines, n_columns, squeeze=False, sharey=sharey).ravel()
        for ax in axes[n:]:
            ax.set_axis_off()
        yield fig, axes[:n]


def _draw_means(
    ax: plot.Axes, data: pd.DataFrame, value: str, y: Sequence[float], colour: str, label: str
) -> None:
    """Draw means with their intervals over the repetitions, one in each row."""
    x, ends = data[value].to_numpy(float), data[[f"{value}_ci_low", f"{value}_ci_high"]].to_numpy(float).T
    if len(x):
        lengths = np.nan_to_num(np.abs(ends - x))
        ax.errorbar(
            x, y, xerr=lengths, linestyle="", marker="o", markersize=2.8, color=colour, elinewidth=0.7,
            label=label,
        )  # fmt: skip


def _draw_seeds(ax: plot.Axes, data: pd.DataFrame, settings: Sequence[tuple[str, ...]]) -> None:
    """Draw the perplexity of the seeds, which no change keeps, as a line across the row of each benchmark."""
    means = data.groupby(results.BENCHMARK, sort=False)["mean"].mean()
    for number, (setting, mean) in enumerate(means.items()):
        y = settings.index(setting)
        label = "Seeds" if number == 0 else None
        ax.plot([mean, mean], [y - 0.35, y + 0.35], color=plot.BLACK, linewidth=0.8, label=label)


def _name_rows(ax: plot.Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, the first one above, with lines between them."""
    edges = np.arange(0.5, len(names) - 1)
    ax.hlines(edges, 0, 1, plot.LIGHT_GREY, linewidth=0.25, zorder=0, transform=ax.get_yaxis_transform())
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(max(len(names), 1) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=5)
    ax.grid(visible=True, axis="x")


def _explain(fig: plot.Figure, axes: Sequence[plot.Axes]) -> None:
    """Explain the marks below the panels, by the panel that has most of them; say where there is none."""
    if len(axes):
        fullest = max(axes, key=lambda ax: len(ax.get_legend_handles_labels()[1]))
        plot.legend_below(fig, fullest, 4)
    else:
        fig.text(0.5, 0.5, "not measured", horizontalalignment="center")


def _columns(n: int) -> int:
    """Return how many of n panels stand side by side: three, or two where these fill the rows better."""
    return max(1, min(n, 2 if n in (2, 4) else 3))


def _settings(data: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(_keys(data)))


def _keys(data: pd.DataFrame) -> list[tuple[str, ...]]:
    return list(data[results.BENCHMARK].itertuples(index=False, name=None))


def _named(setting: tuple[str, ...]) -> tuple[str, str, str]:
    corpus, model, feature = setting
    return corpus, model.upper(), feature


def _of(data: pd.DataFrame, setting: tuple[str, ...]) -> pd.DataFrame:
    return data[(data[results.BENCHMARK] == list(setting)).all(axis=1)]
