"""Table and figure of how much of the ranking of documents of a setup survives debiasing."""

from pathlib import Path

import pandas as pd

from biaslab.bias.names import LOWERS, RAISES
from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.debiasing.document_ranking import BEFORE, OTHER_SEED
from biaslab.debiasing.report.results import read
from biaslab.run.reports import Results

_TITLE = "How much of the ranking of documents survives debiasing"
_NOTE = (
    "Documents are ranked by their differential bias (influence), before and after the words are debiased, in"
    " the same embedding; one of another seed: before in two embeddings. Mean over the embeddings and 95%"
    " interval; in brackets: of the mean ranking. Raises, lowers N: share of the N documents that raise,"
    " or lower, the bias most by one ranking that do so by the other, too. Influence left:"
    " sum of all absolute differential biases as a share of that before. An effect size has the spread"
    " of the associations as its unit: it does not say how much association debiasing leaves."
)
_MEASURES = {"effect_size": "Effect size", "spearman": "Rank correlation", "influence": "Influence left"}
_COLOURS = {"": plot.BLACK, RAISES: plot.VERMILLION, LOWERS: plot.BLUE}
_MARKERS = {0: "o", 10: "^", 30: "s", 100: "D"}
_APART = 0.09  # between the marks of two measures


def ranking_table(unit: Results) -> Table:
    """Lay out the comparison of the rankings, a row for each test and stage."""
    data = _read(unit)
    text = text_columns(data, {"cell": "{mean:.2f} [{ci_low:.2f}, {ci_high:.2f}] ({of_mean:.2f})"})["cell"]
    measure = data["measure"].map(_MEASURES).fillna(data["tail"] + " " + data["top"].astype(str))
    cells = data.assign(cell=text, column=measure, stage=data["stage"].map(_label))
    shown = cells.pivot(index=["weat", "stage"], columns="column", values="cell").fillna("–")
    rows = list(dict.fromkeys(zip(cells["weat"], cells["stage"], strict=True)))
    shown = shown.loc[rows, list(dict.fromkeys(measure))].reset_index().rename_axis(columns=None)
    return Table(
        data, shown.rename(columns={"weat": "WEAT", "stage": "Stage"}), f"{_TITLE} ({unit.name})", _NOTE
    )


def draw_rankings(unit: Results, stem: Path) -> None:
    """Draw the agreement of the rankings of every stage with that before, a panel a test."""
    data = _read(unit)
    data = data[data["measure"].isin(["spearman", "overlap"])]
    weats = list(data["weat"].unique())
    with plot.figure(plot.DOUBLE_COLUMN, 2.9) as fig:
        panels = fig.subplots(1, len(weats), sharey=True, squeeze=False)[0]
        for ax, weat in zip(panels, weats, strict=True):
            _draw_panel(ax, data[data["weat"] == weat])
            ax.set_title(f"{unit.name}, {weat}", parse_math=False)
        panels[0].set_ylabel("Agreement with the ranking before")
        longest = max(panels, key=lambda ax: len(ax.get_legend_handles_labels()[0]))
        plot.legend_below(fig, longest, 4)
        plot.save_with_data(fig, stem, data)


def _read(unit: Results) -> pd.DataFrame:
    """Return the comparison of the rankings; no tail is an empty text."""
    data = read(unit, "document_ranking")
    return data.assign(tail=data["tail"].astype(object).fillna(""))


def _draw_panel(ax: plot.Axes, data: pd.DataFrame) -> None:
    """Draw rank correlation and overlaps of one test, with the intervals of the means over the seeds."""
    stages = list(data["stage"].unique())
    series = list(data.groupby(["measure", "top", "tail"], sort=False))
    ax.axhline(0, color=plot.LIGHT_GREY, linewidth=0.5, zorder=0)
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
