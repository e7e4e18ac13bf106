"""Table and figure of relative influence: which documents it puts first."""

from pathlib import Path

import pandas as pd

from biaslab.bias.names import EFFECTS
from biaslab.core.plotting import LIGHT_GREY, Axes
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import ATTRIBUTIONS
from biaslab.origins.checks.relative_influence.analysis import COLUMNS
from biaslab.origins.report.panels import LABELS, STYLES, draw_columns
from biaslab.origins.report.results import Setup

_COLOURS = {a.prefix: STYLES[a.name][0] for a in ATTRIBUTIONS}
_PANELS = {"test_words": "Words of the test in a document", "tokens": "Tokens in a document"}
_NOTE = (
    "Relative influence (RelatIF): influence divided by the length of the step that the removal of the"
    " document makes in the words of the test, Euclidean (theta) or by the Hessian of the loss (l). Documents"
    " with a word of the test. Raises: those that raise the bias most, lowers: those"
    " that lower it most. Spearman: rank correlation with influence, mean over baselines"
    " with Student's 95% interval; tokens and words of the test: means over the documents at this end,"
    " likewise. Overlap: the share that influence has at this end, too."
)


def orders_table(setup: Setup, weat: str) -> Table:
    """List what the documents at either end of every order are like."""
    data = setup.of_weat("relative_influence/comparison", weat, *COLUMNS)
    shown = {
        "Order": "{order}",
        "Effect on the bias": "{tail}",
        "Documents": "{n_documents}",
        "Spearman": "{spearman:.3f} [{spearman_ci_low:.3f}, {spearman_ci_high:.3f}]",
        "Words of the test": "{test_words_mean:.1f} [{test_words_ci_low:.1f}, {test_words_ci_high:.1f}]",
        "Tokens": "{tokens_mean:.0f} [{tokens_ci_low:.0f}, {tokens_ci_high:.0f}]",
        "Overlap": "{overlap:.2f}",
    }
    return Table(data, text_columns(data, shown), f"Relative influence ({setup.name}, {weat})", _NOTE)


def draw_orders(setup: Setup, weat: str, stem: Path) -> None:
    """Draw how long documents at either end of every order are, and their words of the test."""
    data = setup.of_weat("relative_influence/comparison", weat, *COLUMNS)
    draw_columns(setup, weat, stem, data, _PANELS, _draw, 2.6, 4)


def _draw(ax: Axes, data: pd.DataFrame, column: str) -> None:
    """Draw the mean of one description, with its intervals, by tail and number of documents."""
    ends = data[data["top"] > 0]
    places = [(tail, top) for tail in EFFECTS for top in sorted(ends["top"].unique())]
    (whole,) = data.loc[data["top"] == 0, f"{column}_mean"]
    ax.axhline(whole, color=LIGHT_GREY, linewidth=0.8, label="all documents")
    for shift, (order, part) in enumerate(ends.groupby("order", sort=False)):
        x = [places.index(key) + 0.15 * (shift - 1) for key in zip(part["tail"], part["top"], strict=True)]
        mean = part[f"{column}_mean"]
        bounds = [mean - part[f"{column}_ci_low"], part[f"{column}_ci_high"] - mean]
        ax.errorbar(
            x, mean, yerr=bounds, color=_COLOURS[order], linestyle="none", marker="o", markersize=3,
            elinewidth=0.8, label=LABELS[order],
        )  # fmt: skip
    ax.set_xticks(range(len(places)), [f"{tail}\n{top}" for tail, top in places], fontsize=6)
    ax.set_ylim(bottom=0)
