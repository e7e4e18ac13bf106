"""Shared parts of figures: colours, panels of setups and tests, legends, ticks."""

import contextlib
import itertools
import textwrap
from collections.abc import Iterator, Sequence

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.origins.attribution.registry import ATTRIBUTIONS
from biaslab.origins.report.results import Setup, pairs
from biaslab.origins.sets import DECREASE, DOCUMENTS, EFFECT_OF, INCREASE, PPMI, RANDOM

KIND_COLOURS = {DECREASE: plot.VERMILION, RANDOM: plot.GREY, INCREASE: plot.BLUE}
"""Colours of set kinds, in the order of legends. As on pages, vermilion documents raise the bias."""

EFFECT_COLOURS = {effect: KIND_COLOURS[kind] for kind, effect in EFFECT_OF.items()}
"""Colours of the documents at either end of a ranking."""

COLOURS = {a.name: getattr(plot, a.colour) for a in ATTRIBUTIONS}  # colours of attributions
LABELS = {a.name: a.name for a in ATTRIBUTIONS} | {PPMI: "PPMI"}  # labels of attributions
TITLE_WIDTH = 45  # characters per line of a panel title

_KIND_ORDER = {kind: place for place, kind in enumerate(DOCUMENTS)}


@contextlib.contextmanager
def grid(
    setups: Sequence[Setup], heights: Sequence[float], title_width: int = TITLE_WIDTH
) -> Iterator[tuple[plot.Figure, list[tuple[Setup, str, plot.Axes]]]]:
    """Yield a figure with a row per setup and a column per test, and its panels; row heights in inches."""
    titles = {weat: setup.title(weat) for setup, weat in pairs(setups)}
    with plot.figure(plot.SINGLE_COLUMN * len(titles), sum(heights) + 0.3) as fig:
        axes = fig.subplots(len(setups), len(titles), squeeze=False, height_ratios=heights)
        panels = []
        for row, setup in zip(axes, setups, strict=True):
            for ax, (weat, title) in zip(row, titles.items(), strict=True):
                if weat in setup.weats:
                    lines = [setup.of_test(weat), *textwrap.wrap(title, title_width)]
                    ax.set_title("\n".join(lines), parse_math=False)
                    panels.append((setup, weat, ax))
                else:
                    ax.set_axis_off()
        yield fig, panels


def draw_legend(fig: plot.Figure, rows: Sequence[Sequence[plot.Artist]]) -> None:
    """Draw the legend below the panels, row by row (matplotlib fills legends column by column)."""
    from matplotlib.lines import Line2D

    n_columns = int(fig.get_figwidth() / 1.1)
    rows = [row[i : i + n_columns] for row in rows for i in range(0, len(row), n_columns)]
    blank = Line2D([], [], linestyle="none", label=" ")
    columns = list(itertools.zip_longest(*rows, fillvalue=blank))
    handles = list(itertools.chain(*columns))
    fig.legend(handles=handles, loc="outside lower center", ncols=len(columns))


def error_bars(data: pd.DataFrame, column: str) -> list[pd.Series]:
    """Return the distances from a column to the bounds of its interval: below, above."""
    return [data[column] - data[f"{column}_ci_low"], data[f"{column}_ci_high"] - data[column]]


def sort_sets(sets: pd.DataFrame, *columns: pd.Series) -> pd.DataFrame:
    """Sort perturbation sets, from most documents that raise to most that lower, then by `columns`."""
    size = sets["size"].where(sets["kind"] == INCREASE, -sets["size"])
    order = pd.concat([sets["kind"].map(_KIND_ORDER), size, *columns], axis=1, ignore_index=True)
    return sets.loc[order.sort_values(list(order.columns)).index].reset_index(drop=True)


def set_label(kind: str, size: int) -> str:
    """Return the label of sets of one kind and size: the effect and the number of their documents."""
    return f"{DOCUMENTS[kind]} - {size:,}"
