"""Table and figure of the bias gradient (Brunet et al. 2019, Appendix A)."""

from pathlib import Path

import pandas as pd

from biaslab.core.plotting import BLACK, BLUE, DOUBLE_COLUMN, VERMILLION, Axes, figure, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.checks.bias_gradient.ends import COLUMNS, N_ENDS
from biaslab.origins.report.results import Setup

N_DRAWN = 15
"""Co-occurrences that the figure draws at each end."""

_NOTE = (
    "X is the pair's co-occurrence count, dB/dX the gradient of the effect size, X·dB/dX its elasticity: to "
    "first order, what the effect size would lose if the pair never co-occurred. Mean ± standard deviation "
    "over the baseline embeddings; ordered by the mean elasticity. Two words of the test are one pair."
)


def gradient_table(setup: Setup, weat: str) -> Table:
    """List the co-occurrences that most raise, and most lower, the bias."""
    data = _ends(setup, weat, N_ENDS)
    shown = {
        "The pair": "{effect} the bias",
        "Word": "{word}",
        "Context": "{context}",
        "X": "{x:.2f}",
        "dB/dX": "{gradient_mean:.5f} ± {gradient_sd:.5f}",
        "X·dB/dX": "{elasticity_mean:.4f} ± {elasticity_sd:.4f}",
    }
    title = f"Co-occurrences with the most influence on the bias ({setup.name}, {weat})"
    return Table(data, text_columns(data, shown), title, _NOTE)


def draw_gradient(setup: Setup, weat: str, stem: Path) -> None:
    """Draw the co-occurrences that most raise and lower the bias, with their standard deviations."""
    data = _ends(setup, weat, N_DRAWN)
    with figure(DOUBLE_COLUMN, 3.4) as fig:
        panels = fig.subplots(1, 2, sharex=True)
        for ax, effect, colour in zip(panels, ("lowers", "raises"), (BLUE, VERMILLION), strict=True):
            _draw_bars(ax, data[data["effect"] == effect], colour)
            ax.set_title(f"{effect} the bias")
        fig.suptitle(setup.heading(weat), parse_math=False)
        save_with_data(fig, stem, data)


def _ends(setup: Setup, weat: str, n: int) -> pd.DataFrame:
    """Return up to `n` pairs at each end, the strongest first."""
    pairs = setup.table(f"bias_gradient/ends/{weat}", *COLUMNS, text=("word", "context"))
    return pairs[pairs["rank"] <= n].reset_index(drop=True)


def _draw_bars(ax: Axes, data: pd.DataFrame, colour: str) -> None:
    ax.barh(
        range(len(data)),
        data["elasticity_mean"],
        xerr=data["elasticity_sd"],
        color=colour,
        height=0.7,
        error_kw={"ecolor": BLACK, "elinewidth": 0.6},
    )
    ax.axvline(0, color=BLACK, linewidth=0.6)
    ax.set_yticks(range(len(data)), data["word"] + " – " + data["context"], parse_math=False)
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("X · dB/dX (effect size)")
