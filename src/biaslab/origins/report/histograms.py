"""Histograms of the differential bias (Brunet et al. 2019, Figures 1 and 6)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import LOWERS, RAISES
from biaslab.core.plotting import GREY, Axes, save_with_data
from biaslab.origins.report.panels import EFFECT_COLOURS, grid
from biaslab.origins.report.results import Setup, percent_scale

N_BINS = 60
"""Number of bins of a histogram; one bin is centred on zero."""

_HEIGHT = 1.9  # inches


def draw_histograms(setups: Sequence[Setup], stem: Path) -> None:
    """Draw Figure 6: histograms of the differential bias of documents (Equations 5 and 8)."""
    with grid(setups, [_HEIGHT] * len(setups)) as (fig, panels):
        parts = []
        for setup, weat, ax in panels:
            data = _histogram(setup, weat)
            _draw_histogram(ax, data)
            parts.append(data)
        save_with_data(fig, stem, pd.concat(parts, ignore_index=True))


def draw_histogram(setup: Setup, weat: str, stem: Path) -> None:
    """Draw Figure 1: Figure 6 of one test."""
    draw_histograms([setup.only(weat)], stem)


def _histogram(setup: Setup, weat: str) -> pd.DataFrame:
    mean = setup.baseline_mean(weat)
    factor, unit = percent_scale(mean)
    values = setup.differential_bias(weat)["influence_mean"].to_numpy() * factor
    width = (max(values.max(), 0) - min(values.min(), 0)) / N_BINS or 1.0
    first, last = np.floor(np.array([min(values.min(), 0), max(values.max(), 0)]) / width + 0.5)
    edges = (np.arange(first, last + 2) - 0.5) * width
    counts, _ = np.histogram(values, bins=edges)
    data = pd.DataFrame({"low": edges[:-1], "high": edges[1:], "n_documents": counts})
    return data.assign(setup=setup.name, weat=weat, unit=unit, baseline_mean=mean)


def _draw_histogram(ax: Axes, data: pd.DataFrame) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    bars = data[data["n_documents"] > 0]
    colours = np.select(
        [bars["high"] < 0, bars["low"] > 0], [EFFECT_COLOURS[LOWERS], EFFECT_COLOURS[RAISES]], GREY
    )
    ax.bar(bars["low"], bars["n_documents"], bars["high"] - bars["low"], align="edge", color=colours)
    ax.set_yscale("log")
    ax.set_ylim(0.7, 3 * data["n_documents"].max())
    ax.margins(x=0.03)
    ax.locator_params(axis="x", nbins=7)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set(xlabel=f"Differential bias ({data['unit'].iloc[0]})", ylabel="Documents")
    for x, side, effect, text in (
        (0.98, "right", RAISES, "raise the bias"),
        (0.02, "left", LOWERS, "lower the bias"),
    ):
        ax.text(
            x, 0.99, text, color=EFFECT_COLOURS[effect], fontsize=6, ha=side, va="top", transform=ax.transAxes
        )
