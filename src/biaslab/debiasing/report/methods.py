"""Methods of debiasing side by side: table and figures."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import in_words
from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.debiasing.comparison import PAIRS, UNITS
from biaslab.debiasing.methods import registry
from biaslab.debiasing.report.results import BENCHMARKS, draw_chance, read, read_all
from biaslab.run.reports import Results

METHODS = {method.name: method.title for method in registry.METHODS.values()}
METHODS |= {PAIRS: "Random pairs of words", UNITS: "Random unit vectors"}
"""The titles of the methods, and of what tells chance."""

REMAINING = {
    "direct_bias": "DirectBias",
    "cluster_accuracy": "Clusters, accuracy",
    "classifier_accuracy": "Classifier, accuracy",
    "neighbour_correlation": "Neighbours, correlation",
}
"""Measures of bias that the figure shows, a panel each."""

_GUESSED = ("cluster_accuracy", "classifier_accuracy")
"""Those that are 0.5 where nothing can be told."""

_QUALITY_RANGE = (80, 105)
"""Percent of the benchmark scores before that the figure spans, unless a method keeps less."""

_QUALITY = {**BENCHMARKS, "moved": "Mean distance moved"}
_STYLES = dict(zip(registry.METHODS, zip(cycle(plot.SERIES), cycle("osD^v<>pP")), strict=False))
"""Colour and marker of each method."""
_CHANCE = {PAIRS: (plot.GREY, "--"), UNITS: (plot.LIGHT_GREY, ":")}


def methods_table(units: Sequence[Results]) -> Table:
    """Return all measures of all methods, a column a method."""
    data = read_all(units, "methods")
    names = {name: _measure_name(name) for name in dict.fromkeys(data["measure"])}
    shown = data.assign(text=[_text(row) for row in data.itertuples()])
    wide = shown.pivot(index=["embedding", "measure"], columns="method", values="text").fillna("–")
    order = pd.MultiIndex.from_frame(data[["embedding", "measure"]].drop_duplicates())
    wide = wide.loc[order].reset_index()
    wide["measure"] = wide["measure"].map(names)
    templates = {"Embedding": "{embedding}", "Measure": "{measure}"}
    templates |= {title: f"{{{name}}}" for name, title in METHODS.items() if name in wide}
    note = (
        "Bias of words by their cosine with she - he before debiasing. Clusters and classifier: of the most"
        " biased neutral words, 0.5 when nothing can be told. The last columns remove directions that have"
        " nothing to do with the bias and look at the words at their ends. 95% intervals in brackets;"
        " clusters have none."
    )
    return Table(data, text_columns(wide, templates), "Methods of debiasing side by side", note)


def draw_methods(unit: Results, stem: Path) -> None:
    """Draw the bias that remains by four measures against the quality that is kept, a point a method."""
    data = read(unit, "methods")
    kept = quality_kept(data)
    shown = data[data["measure"].isin(REMAINING)].rename(columns={"value": "remaining"})
    shown = shown.assign(kept=shown["method"].map(kept))
    with plot.figure(plot.DOUBLE_COLUMN, 2.4) as fig:
        panels = fig.subplots(1, len(REMAINING), sharex=True)
        for ax, (measure, label) in zip(panels, REMAINING.items(), strict=True):
            if measure == "direct_bias":
                draw_chance(ax, unit)
            elif measure in _GUESSED:
                ax.axhline(0.5, color=plot.BLACK, linestyle=":", linewidth=0.8, zorder=0, label="Guessing")
            _draw_panel(ax, shown[shown["measure"] == measure])
            ax.set_title(label)
            top = max(1.05 * (measure != "direct_bias"), ax.get_ylim()[1])
            ax.set_ylim(-0.04 * top, top)
            ax.set_xlim(min(_QUALITY_RANGE[0], ax.get_xlim()[0]), max(_QUALITY_RANGE[1], ax.get_xlim()[1]))
            ax.set_xlabel("Quality kept (%)")
        panels[0].set_ylabel("Bias that remains")
        named = {
            label: mark for ax in panels for mark, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        fig.legend(named.values(), named, loc="outside lower center", ncols=5)
        plot.save_with_data(
            fig, stem, shown[["method", "measure", "remaining", "ci_low", "ci_high", "n", "kept"]]
        )


def quality_kept(data: pd.DataFrame) -> pd.Series:
    """Return the mean benchmark score of each method in percent of that before; empty without scores."""
    scores = data[data["measure"].isin(BENCHMARKS)].pivot(index="method", columns="measure", values="value")
    scores = scores.dropna(axis="columns")
    before = scores.loc["none"] if "none" in scores.index else np.nan
    return (100 * scores.mean(axis="columns") / np.mean(before)).rename("kept")


def _draw_panel(ax: plot.Axes, part: pd.DataFrame) -> None:
    for row in part.itertuples():
        if row.method in _CHANCE:
            colour, line = _CHANCE[row.method]
            ax.axhspan(row.ci_low, row.ci_high, color=colour, alpha=0.25, linewidth=0, zorder=0)
            ax.axhline(
                row.remaining,
                color=colour,
                linestyle=line,
                linewidth=0.9,
                label=METHODS[row.method],
                zorder=1,
            )
            continue
        colour, marker = _STYLES[row.method]
        lengths = None
        if not pd.isna(row.ci_low):
            lengths = [[max(row.remaining - row.ci_low, 0)], [max(row.ci_high - row.remaining, 0)]]
        ax.errorbar(
            row.kept, row.remaining, lengths, fmt=marker, color=colour, fillstyle="none", markersize=4,
            elinewidth=0.8, capsize=1.5, label=METHODS[row.method],
        )  # fmt: skip
    ax.margins(x=0.15)


def _measure_name(measure: str) -> str:
    names = REMAINING | _QUALITY
    return names.get(measure, f"Effect size of {in_words(measure.removesuffix('_effect_size'))}")


def _text(row: object) -> str:
    if pd.isna(row.value):
        return "–"
    if pd.isna(row.ci_low):
        return f"{row.value:.3f}"
    return f"{row.value:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}]"
