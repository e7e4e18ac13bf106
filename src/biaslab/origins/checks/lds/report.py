"""Table and figure of the linear datamodeling score of attributions."""

from pathlib import Path

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.estimates import SET, SUM
from biaslab.origins.checks.lds import COLUMNS
from biaslab.origins.report.panels import COLOURS, LABELS, error_bars
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import RANDOM
from biaslab.run.area import TEST, figure, table

_LINES = {SUM: "-", SET: "--"}
_NOTE = (
    "Linear datamodeling score: Spearman's rank correlation, over random subsets of the corpus, of the bias"
    " that an attribution predicts with the mean effect size of embeddings retrained on them. Prediction: the"
    " documents' estimates added up (sum, the score as it is defined), or the estimate of the joint"
    " removal (set). Baselines: embeddings that the attribution is averaged over; – where it needs none. 95%"
    " bootstrap intervals over subsets; gain over influence, summed, of all baselines, on the same resamples."
    " The interval of random is the central 95% of 1000 random attributions."
)
_OBSERVED = (
    "{size} documents removed: {n_subsets} subsets, {n_retrainings} retrainings of each, reliability of their"
    " means {reliability:.2f}, which lets a score reach about {ceiling:.2f}."
)


@table("lds", "Random subsets", "lds/scores", per=TEST)
def score_table(setup: Setup, weat: str) -> Table:
    """List the score of every attribution."""
    data = setup.of_weat("lds/scores", weat, *COLUMNS["lds/scores"])
    data = data.astype({"n_baselines": "Int64"})
    data["n_baselines"] = data["n_baselines"].where(data["n_baselines"] > 0)
    templates = {
        "Removed": "{size}",
        "Attribution": "{estimator}",
        "Prediction": "{form}",
        "Baselines": "{n_baselines}",
        "LDS": "{lds:.3f} [{lds_ci_low:.3f}, {lds_ci_high:.3f}]",
        "Gain": "{gain:+.3f} [{gain_ci_low:+.3f}, {gain_ci_high:+.3f}]",
    }
    title = f"Linear datamodeling score ({setup.name}, {weat})"
    observed = text_columns(data.drop_duplicates("size"), {"text": _OBSERVED})["text"]
    return Table(data, text_columns(data, templates), title, " ".join([_NOTE, *observed]))


@figure("lds", "Random subsets", "lds/scores", per=TEST)
def draw_scores(setup: Setup, weat: str, stem: Path) -> None:
    """Draw the score by the number of baselines."""
    data = setup.of_weat("lds/scores", weat, *COLUMNS["lds/scores"])
    sizes = data["size"].unique()
    with plot.figure(plot.DOUBLE_COLUMN, 2.9) as fig:
        for ax, size in zip(fig.subplots(1, len(sizes), squeeze=False, sharey=True)[0], sizes, strict=True):
            _draw(ax, data[data["size"] == size])
            ax.set_title(f"{size} documents removed", fontsize=8)
            ax.set_xlabel("Baselines")
        fig.axes[0].set_ylabel("Linear datamodeling score")
        plot.legend_below(fig, fig.axes[0], 5)
        fig.suptitle(setup.heading(weat), parse_math=False)
        plot.save_with_data(fig, stem, data)


def _draw(ax: plot.Axes, data: pd.DataFrame) -> None:
    """Draw a line per attribution, with 95% intervals, over the band of random attributions."""
    largest = int(data["n_baselines"].max())
    for random in data[data["estimator"] == RANDOM].itertuples():
        ax.axhspan(random.lds_ci_low, random.lds_ci_high, color=plot.PALE_GREY, label="random", linewidth=0)
    ax.axhline(0, color=plot.LIGHT_GREY, linewidth=0.5)
    rows = data[data["estimator"] != RANDOM]
    for shift, ((estimator, form), part) in enumerate(rows.groupby(["estimator", "form"], sort=False)):
        x = part["n_baselines"].replace(0, largest) * (1 + 0.03 * (shift - 3))
        ax.errorbar(
            x, part["lds"], yerr=error_bars(part, "lds"), color=COLOURS[estimator], linestyle=_LINES[form],
            marker="o", markersize=2.5, elinewidth=0.5, linewidth=0.8, label=f"{LABELS[estimator]}, {form}",
        )  # fmt: skip
    numbers = sorted(n for n in rows["n_baselines"].unique() if n)
    ax.set_xscale("log")
    ax.set_xticks(numbers, [str(n) for n in numbers])
    ax.minorticks_off()
