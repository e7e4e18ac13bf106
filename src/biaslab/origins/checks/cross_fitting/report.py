"""Tables and figure of cross-fitting: predictions by baselines that selected a set, and by the others."""

from collections.abc import Sequence
from pathlib import Path

from biaslab.core import plotting as plot
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.estimates import SET, SUM
from biaslab.origins.checks.cross_fitting import COLUMNS, pooled
from biaslab.origins.report.panels import error_bars, set_label, sort_sets
from biaslab.origins.report.results import Setup, rows_of_setups
from biaslab.origins.sets import EFFECT_OF
from biaslab.run.area import TEST, figure, table

_NOTE = (
    "Own: predicted by the baselines that chose the documents; others: by those that did not, mean over the"
    " ways to choose so many baselines. Prediction: the documents' estimates added up (sum), or the estimate"
    " of the removal of the set as a whole (set). Observed: mean effect size of retrained embeddings minus"
    " that of the baselines, without the set that all baselines chose."
)
_POOLED_NOTE = (
    f"Changes of the effect size in the direction of the removal, means over the targeted sets. {_NOTE}"
    " Removed: share of the overestimate (own minus observed) that goes when others predict; only where all"
    " baselines but one choose, as fewer find other sets than the retrained ones, and none where nothing is"
    " overestimated."
)
_SETS_NOTE = (
    "Changes of the effect size. " + _NOTE + " Optimism: by how much own goes further in the direction of the"
    " removal, mean and 95% interval (Student's t) over the baselines that stand alone on one side; where"
    " half of them choose, plus or minus the standard deviation over the ways, which is no standard error."
)


@table("cross_fitting", "Cross-fitting", "cross_fitting")
def overestimates(setups: Sequence[Setup]) -> Table:
    """List the overestimates of predictions, and the share that cross-fitting removes."""
    data = rows_of_setups(setups, lambda setup: pooled(setup.table("cross_fitting", *COLUMNS)))
    templates = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Prediction": "{form}",
        "Baselines that choose": "{n_choosing}",
        "Sets": "{n_sets}",
        "Own": "{own:.3f}",
        "Others": "{others:.3f}",
        "Observed": "{observed:.3f}",
        "Removed": "{removed:.0%}",
    }
    title = "Cross-fitting: predictions by other baselines"
    return Table(data, text_columns(data, templates), title, _POOLED_NOTE)


@table("cross_fitting_sets", "Cross-fitting", "cross_fitting", per=TEST)
def set_table(setup: Setup, weat: str) -> Table:
    """List both predictions for every targeted set."""
    data = setup.of_weat("cross_fitting", weat, *COLUMNS)
    text = text_columns(
        data.assign(effect=data["kind"].map(EFFECT_OF)),
        {
            "Documents": "{effect} {size}",
            "Prediction": "{form}",
            "Baselines that choose": "{n_choosing}",
            "Own": "{own:+.3f}",
            "Others": "{others:+.3f}",
            "Optimism": "{optimism:+.3f} [{optimism_ci_low:+.3f}, {optimism_ci_high:+.3f}]",
            "Observed": "{observed:+.3f} [{observed_ci_low:+.3f}, {observed_ci_high:+.3f}]",
        },
    )
    spread = text_columns(data, {"text": "{optimism:+.3f} ± {optimism_sd:.3f}"})["text"]
    text["Optimism"] = text["Optimism"].where(data["optimism_ci_low"].notna(), spread)
    return Table(data, text, f"Sets predicted by other baselines ({setup.name}, {weat})", _SETS_NOTE)


@figure("cross_fitting", "Cross-fitting", "cross_fitting", per=TEST)
def draw_sets(setup: Setup, weat: str, stem: Path) -> None:
    """Draw both predictions and the observation of every set, if all baselines except one select."""
    data = setup.of_weat("cross_fitting", weat, *COLUMNS)
    data = sort_sets(data[data["n_choosing"] == data["n_choosing"].max()])
    with plot.figure(plot.DOUBLE_COLUMN, 2.9) as fig:
        for ax, form in zip(fig.subplots(1, 2), (SUM, SET), strict=True):
            part = data[data["form"] == form].reset_index(drop=True)
            bounds = error_bars(part, "observed")
            style = {"linestyle": "none", "markersize": 4, "elinewidth": 0.6}
            ax.axhline(0, color=plot.LIGHT_GREY, linewidth=0.5, zorder=0)
            style |= {"color": plot.BLACK, "marker": "o", "label": "observed"}
            ax.errorbar(part.index, part["observed"], yerr=bounds, **style)
            for name, shift, colour, marker in (
                ("own", -0.2, plot.VERMILION, "x"),
                ("others", 0.2, plot.GREY, "s"),
            ):
                x = part.index + shift
                ax.plot(x, part[name], color=colour, marker=marker, linestyle="none", label=name)
            labels = [set_label(*key) for key in zip(part["kind"], part["size"], strict=True)]
            ax.set_xticks(part.index, labels, rotation=60, ha="right")
            ax.set_title("sum over documents" if form == SUM else "as a set", fontsize=8)
        fig.axes[0].set_ylabel("Change of the effect size")
        plot.legend_below(fig, fig.axes[0], 3)
        fig.suptitle(setup.heading(weat), parse_math=False)
        plot.save_with_data(fig, stem, data)
