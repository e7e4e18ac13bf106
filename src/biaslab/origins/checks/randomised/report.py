"""Table and figure of the estimates by control embeddings."""

from pathlib import Path

import pandas as pd

from biaslab.core.plotting import LIGHT_GREY, Axes
from biaslab.core.tables import Table, text_columns
from biaslab.origins.checks.randomised.analysis import COLUMNS
from biaslab.origins.report.panels import LABELS, STYLES, draw_columns
from biaslab.origins.report.results import Setup

_PANELS = {
    "spearman": "Spearman, estimates",
    "absolute": "Spearman, absolute",
    "r": "r, sets",
    "r2": "r² of means, sets",
}
_NOTE = (
    "Estimates by embeddings that know nothing: untrained (the parameters from which the baselines start) and"
    " shuffled (those of the baselines, dealt out to the words at random). Spearman: rank correlation of each"
    " embedding's estimates with the mean of the baselines (trained: of the other baselines), over documents"
    " that hold a word of the test; mean over embeddings with Student's 95% interval. Absolute: of the"
    " absolute estimates, which says how far documents lie at either end whatever the sign. r² and slope:"
    " observed on predicted effect size (mean over embeddings) over the targeted sets, with 95% bootstrap"
    " intervals over sets. Single: correlation of what one embedding predicts with what was observed, mean"
    " over embeddings with Student's 95% interval, and the mean of its square."
)


def randomised_table(setup: Setup, weat: str) -> Table:
    """List how far the estimates agree with, and what they predict without, trained embeddings."""
    data = setup.of_weat("randomised/comparison", weat, *COLUMNS)
    shown = {
        "Embeddings": "{embeddings}",
        "Estimator": "{estimator}",
        "Spearman": "{spearman:.3f} [{spearman_ci_low:.3f}, {spearman_ci_high:.3f}]",
        "Absolute": "{absolute:.3f} [{absolute_ci_low:.3f}, {absolute_ci_high:.3f}]",
        "r, single": "{r:.2f} [{r_ci_low:.2f}, {r_ci_high:.2f}]",
        "r², single": "{r2_single:.2f}",
        "r²": "{r2:.3f} [{r2_ci_low:.3f}, {r2_ci_high:.3f}]",
        "Slope": "{slope:.2f} [{slope_ci_low:.2f}, {slope_ci_high:.2f}]",
    }
    first = data.iloc[0]
    about = f"{first['n_documents']} documents, {first['n_sets']} sets; embeddings: "
    numbers = data.drop_duplicates("embeddings").set_index("embeddings")["n_embeddings"]
    about += ", ".join(f"{n} {kind}" for kind, n in numbers.items())
    title = f"Embeddings that know nothing ({setup.name}, {weat})"
    return Table(data, text_columns(data, shown), title, f"{_NOTE} {about}.")


def draw_randomised(setup: Setup, weat: str, stem: Path) -> None:
    """Draw agreement and fits by the kind of embeddings."""
    data = setup.of_weat("randomised/comparison", weat, *COLUMNS)
    draw_columns(setup, weat, stem, data, _PANELS, _draw, 2.4, 3)


def _draw(ax: Axes, data: pd.DataFrame, column: str) -> None:
    """Draw one measure, with its intervals."""
    kinds = list(data["embeddings"].unique())
    ax.axhline(0, color=LIGHT_GREY, linewidth=0.5)
    for shift, (estimator, part) in enumerate(data.groupby("estimator", sort=False)):
        x = [kinds.index(kind) + 0.15 * (shift - 1) for kind in part["embeddings"]]
        # not as error bars: the bootstrap interval of an r² near 0 need not hold it
        colour = STYLES[estimator][0]
        ax.vlines(x, part[f"{column}_ci_low"], part[f"{column}_ci_high"], color=colour, linewidth=0.8)
        ax.plot(x, part[column], "o", color=colour, markersize=3, label=LABELS[estimator])
    ax.set_xticks(range(len(kinds)), kinds, fontsize=7)
    ax.set_xlim(-0.5, len(kinds) - 0.5)
