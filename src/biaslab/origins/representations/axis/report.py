"""Table and figure of the words on the bias axis (Brunet et al. 2019, Figure 5 and Section 5.5)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.plotting import BLACK, LIGHT_GREY, SINGLE_COLUMN, Axes, figure, legend_below, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.report.panels import KIND_COLOURS
from biaslab.origins.report.results import FIT_SHOWN, Setup, rows_of_tests
from biaslab.origins.representations.axis.analysis import COLUMNS, word_shifts
from biaslab.origins.sets import BASELINE, DECREASE, DOCUMENTS, INCREASE

_SERIES = {DECREASE: ("v", -0.24), BASELINE: ("o", 0.0), INCREASE: ("^", 0.24)}
"""Marker and offset within a word's row, by kind of embeddings."""

_NOTE = (
    "Least squares of a word's shift on the base 10 logarithm of its frequency, a point a target word; "
    "intervals by bootstrap over the words. The relative position of a word is its projection on the axis in "
    "standard deviations from the mean of the target words; its shift is the mean absolute change of that by "
    "the removal of the largest set of documents that raise the bias and of the largest that lower "
    "it. A negative slope says that rare words move further."
)


def frequency_table(setups: Sequence[Setup]) -> Table:
    """Section 5.5: regression of the shift of a word on its frequency."""
    data = rows_of_tests(setups, "axis_frequency", *COLUMNS["axis_frequency"][1:])
    templates = {"Setup": "{setup}", "WEAT": "{weat}", "Words": "{n_words}"} | FIT_SHOWN
    title = "Frequency of words and the change of their relative position on the bias axis"
    return Table(data, text_columns(data, templates), title, _NOTE)


def draw_axis(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 5: target words on the bias axis, for the baselines and without the largest sets."""
    data, word_sets = _summary(setup, weat), setup.word_sets(weat)
    groups = [part for _, part in data.groupby("symbol")]
    n_words = [part["word"].nunique() for part in groups]
    with figure(SINGLE_COLUMN, 1.3 + 0.19 * sum(n_words)) as fig:
        axes = fig.subplots(len(groups), 1, sharex=True, height_ratios=n_words, squeeze=False)[:, 0]
        for ax, part, (name, symbol) in zip(
            axes, groups, zip(word_sets.targets, "ST", strict=True), strict=True
        ):
            _draw_words(ax, part)
            ax.set_title(f"{symbol}: {name}", parse_math=False)
            ax.label_outer()
        first, second = word_sets.attributes
        axes[-1].set_xlabel(f"Projection on the axis\n← {second}       {first} →", parse_math=False)
        legend_below(fig, axes[0], 1)
        fig.suptitle(setup.of_test(weat), parse_math=False)
        save_with_data(fig, stem, data)


def _summary(setup: Setup, weat: str) -> pd.DataFrame:
    """Return the mean and standard deviation over embeddings of every word's projection, by kind.

    The words of S precede those of T; each set is sorted by descending baseline projection.
    """
    projections = setup.of_weat("projections", weat, *COLUMNS["projections"])
    keys = ["kind", "set", "symbol", "word", "count"]
    data = projections.groupby(keys)["projection"].agg(["mean", "std", "size"]).reset_index()
    data = data.rename(
        columns={"mean": "projection_mean", "std": "projection_sd", "size": "n_embeddings"}
    ).merge(word_shifts(projections)[["word", "shift"]], on="word", validate="many_to_one")
    baseline = data[data["kind"] == BASELINE].set_index("word")["projection_mean"]
    order = pd.DataFrame(
        {
            "symbol": data["symbol"],
            "height": -data["word"].map(baseline),
            "word": data["word"],
            "kind": data["kind"].map({kind: i for i, kind in enumerate((BASELINE, DECREASE, INCREASE))}),
        }
    )
    data = data.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)
    data.insert(0, "weat", weat)
    return data


def _draw_words(ax: Axes, data: pd.DataFrame) -> None:
    words = data[["word", "count"]].drop_duplicates()
    places = dict(zip(words["word"], np.arange(len(words)), strict=True))
    ax.axvline(0, color=LIGHT_GREY, linewidth=0.6, zorder=0)
    for kind, (marker, offset) in _SERIES.items():
        part = data[data["kind"] == kind]
        size = part["set"].iloc[0].rpartition("-")[2]
        embeddings = kind if kind == BASELINE else f"without the {size} that {DOCUMENTS[kind]} most"
        ax.errorbar(
            part["projection_mean"],
            part["word"].map(places) + offset,
            xerr=part["projection_sd"],
            color=KIND_COLOURS.get(kind, BLACK),
            marker=marker,
            markersize=3,
            elinewidth=0.6,
            linestyle="none",
            label=f"{embeddings} ± 1 sd",
        )
    labels = [f"{word} ({count:,})" for word, count in words.itertuples(index=False)]
    ax.set_yticks(list(places.values()), labels, parse_math=False)
    ax.set_ylim(len(words) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", nbins=6)
