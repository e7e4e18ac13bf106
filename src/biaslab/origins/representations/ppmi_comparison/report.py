"""Random tests in GloVe and other representations (Brunet et al. 2019, Figure 9)."""

from pathlib import Path

import numpy as np

from biaslab.core.plotting import BLACK, BLUE, SINGLE_COLUMN, figure, save_with_data
from biaslab.origins.report.results import Setup


def draw_ppmi(setup: Setup, stem: Path) -> None:
    """Draw Figure 9, left: effect sizes in GloVe against those in the PPMI representation."""
    _draw(setup, "ppmi", ["ppmi"], "PPMI", stem)


def draw_word2vec(setup: Setup, stem: Path) -> None:
    """Draw Figure 9, right: effect sizes in GloVe against those in word2vec."""
    _draw(setup, "word2vec", ["word2vec_mean", "word2vec_sd"], "word2vec (mean of the baselines)", stem)


def _draw(setup: Setup, folder: str, others: list[str], label: str, stem: Path) -> None:
    names = ["word_set", *others, "glove_mean", "glove_sd"]
    data = setup.table(f"{folder}/word_sets", *names)[names]
    x = data[others[0]]
    columns = ["r2", "r2_ci_low", "r2_ci_high", "slope", "intercept"]
    r2, low, high, slope, intercept = setup.table(f"{folder}/correlation", *columns)[columns].iloc[0]
    with figure(SINGLE_COLUMN, 3.2) as fig:
        ax = fig.subplots()
        ax.plot(
            x, data["glove_mean"], color=BLUE, marker="o", markersize=1.5, markeredgewidth=0,
            linestyle="none", alpha=0.6, label="", rasterized=True,
        )  # fmt: skip
        ends = np.array([x.min(), x.max()])
        ax.plot(ends, intercept + slope * ends, color=BLACK, linestyle="--", linewidth=0.8)
        ax.text(0.04, 0.96, f"r² = {r2:.3f} [{low:.3f}, {high:.3f}]", va="top", transform=ax.transAxes)
        ax.set(xlabel=f"Effect size, {label}", ylabel="Effect size, GloVe (mean of the baselines)")
        ax.set_title(f"{setup.corpus}: {len(data):,} random word sets", parse_math=False)
        save_with_data(fig, stem, data)
