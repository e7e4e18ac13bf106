"""Table and figure of how much of the ranking of documents survives debiasing."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from biaslab.core.io import read_tsv
from biaslab.core.plotting import (
    BLACK,
    BLUE,
    DOUBLE_COLUMN,
    LIGHT_GREY,
    VERMILLION,
    figure,
    save_with_data,
)
from biaslab.core.tables import Table, text_columns, write_table
from biaslab.debiasing.document_ranking import BEFORE, COLUMNS, OTHER_SEED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TITLE = "How much of the ranking of documents survives debiasing"
CAPTION = "debiasing_document_ranking"
"""Stem of the caption file of the report."""

_NOTE = (
    "Documents are ranked by their differential bias (influence), before and after the words are debiased, in"
    " the same embedding; one of another seed: before in two embeddings. Mean over the embeddings and 95%"
    " interval; in brackets: of the mean ranking. Increase, decrease N: share of the N documents at an end"
    " that both rankings have there; increase are the most negative, decrease the most positive. Influence"
    " left: sum of all absolute differential biases as a share of that before. An effect size has the spread"
    " of the associations as its unit: it does not say how much association debiasing leaves."
)
_MEASURES = {"effect_size": "Effect size", "spearman": "Rank correlation", "influence": "Influence left"}
_COLOURS = {"": BLACK, "increase": VERMILLION, "decrease": BLUE}
_MARKERS = {0: "o", 10: "^", 30: "s", 100: "D"}
_APART = 0.09  # between the marks of two measures


def write_report(path: Path, name: str, table: Path, figure_stem: Path) -> None:
    """Write table and figure.

    Parameters
    ----------
    path : pathlib.Path
        The comparison of the rankings (``.tsv``).
    name : str
        The setup.
    table, figure_stem : pathlib.Path
        Files to write, without suffix.

    Raises
    ------
    InputError
        When the comparison is missing or lacks a column.
    """
    data = read_tsv(path, COLUMNS)
    data["tail"] = data["tail"].astype(object).fillna("")
    write_table(table, ranking_table(data, name))
    draw_rankings(data, name, figure_stem)


def ranking_table(data: pd.DataFrame, name: str) -> Table:
    """Lay out the comparison of the rankings of one setup, a row for each test and stage."""
    text = text_columns(data, {"cell": "{mean:.2f} [{ci_low:.2f}, {ci_high:.2f}] ({of_mean:.2f})"})["cell"]
    measure = data["measure"].map(_MEASURES).fillna(data["tail"] + " " + data["top"].astype(str))
    cells = data.assign(cell=text, column=measure, stage=data["stage"].map(_label))
    shown = cells.pivot(index=["weat", "stage"], columns="column", values="cell").fillna("–")
    rows = list(dict.fromkeys(zip(cells["weat"], cells["stage"], strict=True)))
    shown = shown.loc[rows, list(dict.fromkeys(measure))].reset_index().rename_axis(columns=None)
    return Table(data, shown.rename(columns={"weat": "WEAT", "stage": "Stage"}), f"{TITLE} ({name})", _NOTE)


def draw_rankings(data: pd.DataFrame, name: str, stem: Path) -> None:
    """Draw the agreement of the rankings of every stage with that before, a panel a test.

    Parameters
    ----------
    data : pandas.DataFrame
        As of `biaslab.debiasing.document_ranking.compare_rankings`, for all tests.
    name : str
        The setup.
    stem : pathlib.Path
        Files to write, without suffix.
    """
    data = data[data["measure"].isin(["spearman", "overlap"])]
    weats = list(data["weat"].unique())
    with figure(DOUBLE_COLUMN, 2.9) as fig:
        panels = fig.subplots(1, len(weats), sharey=True, squeeze=False)[0]
        for ax, weat in zip(panels, weats, strict=True):
            _draw_panel(ax, data[data["weat"] == weat])
            ax.set_title(f"{name}, {weat}", parse_math=False)
        panels[0].set_ylabel("Agreement with the ranking before")
        longest = max(panels, key=lambda ax: len(ax.get_legend_handles_labels()[0]))
        fig.legend(*longest.get_legend_handles_labels(), loc="outside lower center", ncols=4)
        save_with_data(fig, stem, data)


def _draw_panel(ax: "Axes", data: pd.DataFrame) -> None:
    """Draw rank correlation and overlaps of one test, with the intervals of the means over the seeds."""
    stages = list(data["stage"].unique())
    series = list(data.groupby(["measure", "top", "tail"], sort=False))
    ax.axhline(0, color=LIGHT_GREY, linewidth=0.5, zorder=0)
    for place, ((measure, top, tail), part) in enumerate(series):
        x = part["stage"].map(stages.index) + (place - (len(series) - 1) / 2) * _APART
        label = _MEASURES.get(measure, f"overlap, {tail} {top}")
        lengths = [part["mean"] - part["ci_low"], part["ci_high"] - part["mean"]]
        ax.errorbar(
            x, part["mean"], lengths, color=_COLOURS[tail], marker=_MARKERS[top], markersize=3, linestyle="",
            elinewidth=0.7, label=label,
        )  # fmt: skip
    ax.set_xticks(range(len(stages)), [_label(stage).replace(", ", "\n") for stage in stages])


def _label(stage: str) -> str:
    """Return what a reader calls a stage."""
    method, _, penalty = stage.partition("-")
    names = {BEFORE: "before", OTHER_SEED: "other seed"}
    return names.get(stage) or (f"soft, λ = {penalty}" if penalty else method)
