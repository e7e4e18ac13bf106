"""Tables and figure of brittleness: predicted and observed numbers of documents that flip a sign."""

from pathlib import Path

import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.tables import MISSING, Table, text_columns
from biaslab.origins.attribution.estimates import SET, SUM
from biaslab.origins.attribution.registry import ATTRIBUTIONS
from biaslab.origins.checks.brittleness import COLUMNS
from biaslab.origins.report.panels import COLOURS
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import RANDOM
from biaslab.run.area import TEST, figure, table

OBSERVED = "observed"
"""Form of the observations in the figure data, in addition to the two forms of prediction."""

_INTEGERS = dict.fromkeys(("n_candidates", "predicted_sum", "predicted_set", "turns_back", "up_to"), "Int64")
_LARGEST = 2.1  # axis limit: the bound of effect sizes with a margin; sums of estimates can exceed it

_NOTE = (
    "The fewest documents, in the order of a ranking, whose removal flips the sign of the mean effect size:"
    " predicted by the documents' estimates added up (sum) and by the estimate of the joint removal"
    " (set), means over all baselines, with at most half of the corpus; and found by retraining without some"
    " multiples of that number: more than the largest set that surely did not flip the sign, at most the"
    " smallest that surely did (95% interval of the mean effect size clear of 0). Random sets are as large as"
    " the largest of the others. PPMI predicts its own bias."
)


@table("brittleness", "Brittleness", "brittleness/brackets", per=TEST)
def number_table(setup: Setup, weat: str) -> Table:
    """List the predicted and observed numbers of documents that flip the sign, by ranking."""
    data = setup.of_weat("brittleness/brackets", weat, *COLUMNS["brittleness/brackets"]).astype(_INTEGERS)
    text = text_columns(
        data,
        {
            "Ranking": "{estimator}",
            "Bias": "{bias:.3f}",
            "Predicted (sum)": "{predicted_sum}",
            "Predicted (set)": "{predicted_set}",
            "Turns back at": "{turns_back}",
        },
    )
    text["Observed"] = [_bracket(row) for row in data.itertuples()]
    text["Problem"] = data["problem"].astype(object).fillna("")
    template = "Baselines: {baseline_mean:.3f} [{baseline_ci_low:.3f}, {baseline_ci_high:.3f}]."
    note = f"{_NOTE} {text_columns(data.head(1), {'text': template})['text'].iloc[0]}"
    return Table(data, text, f"Documents that flip the sign ({setup.name}, {weat})", note)


@figure("brittleness", "Brittleness", "brittleness/paths", "brittleness/outcomes", "baseline", per=TEST)
def draw_flips(setup: Setup, weat: str, stem: Path) -> None:
    """Draw the effect size without the first documents of each ranking, predicted and observed."""
    names = ("brittleness/paths", "brittleness/outcomes")
    tables = (setup.table(name, *COLUMNS[name]) for name in names)
    paths, outcomes = (table[table["weat"] == weat].reset_index(drop=True) for table in tables)
    columns = {"observed_mean": "effect_size", "observed_ci_low": "ci_low", "observed_ci_high": "ci_high"}
    observed = outcomes.rename(columns=columns).assign(form=OBSERVED)
    data = pd.concat([paths.rename(columns={"predicted": "effect_size"}), observed], ignore_index=True)
    data = data.reindex(columns=["estimator", "form", "size", "effect_size", "ci_low", "ci_high", "verdict"])
    with plot.figure(plot.DOUBLE_COLUMN, 2.6) as fig:
        panels = fig.subplots(1, len(ATTRIBUTIONS), sharey=True)
        for ax, attribution in zip(panels, ATTRIBUTIONS, strict=True):
            _draw(ax, data, attribution.name, setup.baseline_mean(weat))
        panels[0].set_ylabel("Effect size")
        plot.legend_below(fig, panels[0], 5)
        fig.suptitle(setup.heading(weat), parse_math=False)
        plot.save_with_data(fig, stem, data)


def _draw(ax: plot.Axes, data: pd.DataFrame, ranking: str, baseline: float) -> None:
    """Draw both predictions of a ranking, the observations, and random sets."""
    rows = data[data["estimator"] == ranking]
    ax.axhline(0, color=plot.BLACK, linewidth=0.5)
    ax.axhline(baseline, color=plot.LIGHT_GREY, linewidth=0.8, label="entire corpus")
    for form, line in ((SUM, "--"), (SET, "-")):
        part = rows[rows["form"] == form]
        ax.plot(
            part["size"],
            part["effect_size"],
            line,
            color=COLOURS[ranking],
            linewidth=0.9,
            label=f"predicted ({form})",
        )
    for part, colour, marker, label in (
        (data[data["estimator"] == RANDOM], plot.GREY, "o", "random sets"),
        (rows[rows["form"] == OBSERVED], plot.BLACK, "s", OBSERVED),
    ):
        bounds = [part["effect_size"] - part["ci_low"], part["ci_high"] - part["effect_size"]]
        ax.errorbar(
            part["size"], part["effect_size"], yerr=bounds, fmt=marker, color=colour, markersize=3,
            elinewidth=0.6, label=label,
        )  # fmt: skip
    ax.set(xscale="log", ylim=(-_LARGEST, _LARGEST), xlabel="Documents removed")
    ax.set_title(ranking, fontsize=8)


def _bracket(row: tuple) -> str:
    """Return the bounds of the observed number of documents as text."""
    if row.n_sets == 0:
        return MISSING
    if pd.isna(row.up_to):
        return f"> {row.above}" if row.above else "undecided"
    return f"{row.above} < n ≤ {row.up_to}" if row.above else f"≤ {row.up_to}"
