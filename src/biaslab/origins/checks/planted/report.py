"""Tables and figure of the recall of planted documents by attributions."""

from pathlib import Path

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.origins.checks.planted import LOWER, RAISE
from biaslab.origins.checks.planted.recall import COLUMNS, EITHER, TEST_WORDS
from biaslab.origins.report.panels import COLOURS, LABELS, error_bars
from biaslab.origins.report.results import Setup
from biaslab.run.area import TEST, figure, table

_COLOURS = COLOURS | {TEST_WORDS: plot.BLACK}
_TITLES = {
    RAISE: "Those that raise the bias",
    LOWER: "Those that lower the bias",
    EITHER: "Either, by absolute estimate",
}
_NOTE = (
    "Planted documents: copies of random ones, in which a share of the tokens (dose) gave way to pairs of"
    " words of the test. Order: by the largest estimate (raise), the smallest (lower) or the largest absolute"
    " one (either). Found: planted documents of that aim among the first k; controls: copies with as many"
    " words of the test, paired without bias; opposite: planted with the other aim. Recall with Clopper and"
    " Pearson's 95% interval over planted documents. Chance: k over all documents, and the central 95% of"
    " random orders. At dose 0 all are plain copies, and nothing can be found."
)


@table("planted", "Planted documents", "planted/recall", per=TEST)
def recall_table(setup: Setup, weat: str) -> Table:
    """List the planted documents that every attribution finds, at k equal to the number planted."""
    data = setup.of_weat("planted/recall", weat, *COLUMNS["planted/recall"])
    templates = {
        "Dose": "{dose:g}",
        "Order": "{order}",
        "Attribution": "{attribution}",
        "k": "{k}",
        "Found": "{found} of {n_planted}",
        "Recall": "{recall:.2f} [{recall_ci_low:.2f}, {recall_ci_high:.2f}]",
        "Chance": "{chance:.3f} [{chance_ci_low:.2f}, {chance_ci_high:.2f}]",
        "Controls": "{controls}",
        "Opposite": "{opposite}",
    }
    at_planted = data[data["k"] == data["n_planted"]]
    n_documents = ", ".join(str(n) for n in sorted(data["n_documents"].unique()))
    note = f"{_NOTE} Shown: k as many as planted; the .tsv has more. Documents: {n_documents}."
    return Table(data, text_columns(at_planted, templates), f"Planted documents ({setup.name}, {weat})", note)


@figure("planted", "Planted documents", "planted/recall", "planted/pairs", per=TEST)
def draw_recall(setup: Setup, weat: str, stem: Path) -> None:
    """Draw recall by dose, and the share of planted documents distinguished from their controls."""
    recall = setup.of_weat("planted/recall", weat, *COLUMNS["planted/recall"])
    recall = recall[recall["k"] == recall["n_planted"]]
    pairs = setup.of_weat("planted/pairs", weat, *COLUMNS["planted/pairs"])
    both = pairs.groupby(["dose", "attribution"], sort=False)[["n_right", "n_differ"]].sum().reset_index()
    both["right"] = both["n_right"] / both["n_differ"]
    with plot.figure(plot.DOUBLE_COLUMN, 2.8) as fig:
        axes = fig.subplots(1, len(_TITLES) + 1)
        for ax, (order, title) in zip(axes, _TITLES.items(), strict=False):
            part = recall[recall["order"] == order]
            chance = part.drop_duplicates("dose")
            bounds = chance["chance_ci_low"], chance["chance_ci_high"]
            ax.fill_between(range(len(chance)), *bounds, color=plot.PALE_GREY, label="chance")
            _draw_lines(ax, part, "recall")
            ax.set_title(title, fontsize=7)
            ax.set_ylabel("Recall" if ax is axes[0] else "")
            ax.tick_params(labelleft=ax is axes[0])
        _draw_lines(axes[-1], both, "right")
        axes[-1].axhline(0.5, color=plot.LIGHT_GREY, linewidth=0.5)
        axes[-1].set_title("Distinguished from controls", fontsize=7)
        axes[-1].set_ylabel("Share of planted documents")
        plot.legend_below(fig, axes[0], 8)
        fig.suptitle(setup.heading(weat), parse_math=False)
        plot.save_with_data(fig, stem, pd.concat([recall, both.assign(order="pairs")], ignore_index=True))


def _draw_lines(ax: plot.Axes, data: pd.DataFrame, column: str) -> None:
    """Draw a line per attribution, by dose."""
    doses = list(data["dose"].unique())
    for shift, (name, part) in enumerate(data.groupby("attribution", sort=False)):
        x = [doses.index(dose) + 0.06 * (shift - 2) for dose in part["dose"]]
        bounds = error_bars(part, column) if f"{column}_ci_low" in part else None
        line = ":" if name == TEST_WORDS else "-"
        ax.errorbar(
            x, part[column], yerr=bounds, color=_COLOURS[name], linestyle=line, marker="o", markersize=2.5,
            elinewidth=0.5, linewidth=0.8, label=LABELS.get(name, name),
        )  # fmt: skip
    ax.set_xticks(range(len(doses)), [f"{dose:g}" for dose in doses])
    ax.set_xlim(-0.5, len(doses) - 0.5)
    ax.set_xlabel("Share of planted words")
    ax.set_ylim(-0.03, 1.03)
