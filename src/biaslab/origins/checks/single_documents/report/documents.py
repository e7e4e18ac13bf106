"""Table and figure of single documents: what was predicted, and what paired retraining observed."""

from pathlib import Path

import pandas as pd

from biaslab.core.plotting import BLACK, LIGHT_GREY, SINGLE_COLUMN, Axes, figure, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.report.panels import KIND_COLOURS, error_bars
from biaslab.origins.report.results import Setup
from biaslab.origins.sets.names import DECREASE, DOCUMENTS, EFFECT_OF, INCREASE, RANDOM

_MARKERS = {DECREASE: "^", RANDOM: "o", INCREASE: "v"}
_NONE = "The setup removes no single documents."
_NOTE = (
    "Differential bias: effect size with the document minus without it. Observed: mean over pairs of"
    " embeddings that share seed, initial values and order of records and differ by the document alone,"
    " with its 95% interval. Estimates: means over the same embeddings. Gain: variance of the difference of"
    " two embeddings with different seeds, over that of a pair."
)


def documents_table(setup: Setup) -> Table:
    """List the documents with their estimated and observed differential bias."""
    data = setup.table("single_documents/documents", "weat", "observed", *ESTIMATORS)
    data = data.assign(gain=(data["unpaired_sd"] / data["observed_sd"]) ** 2)
    effect = data["kind"].map({RANDOM: RANDOM, **EFFECT_OF})
    shown = {
        "WEAT": "{weat}",
        "Predicted effect": "{effect}",
        "Document": "{title}",
        "Observed": "{observed:+.3f} [{observed_ci_low:+.3f}, {observed_ci_high:+.3f}]",
        **{name.capitalize(): f"{{{name}:+.3f}}" for name in ESTIMATORS},
        "Pairs": "{n_trainings}",
        "Gain": "{gain:.0f}",
    }
    title = f"Single documents, estimated and observed ({setup.name})"
    return Table(data, text_columns(data.assign(effect=effect), shown), title, _NOTE if len(data) else _NONE)


def correlation_table(setup: Setup) -> Table:
    """List how well each estimator tells what the removal of one document does."""
    data = setup.table("single_documents/correlation", "weat", "estimator", "r", "slope")
    shown = {
        "WEAT": "{weat}",
        "Estimator": "{estimator}",
        "Documents": "{n_documents}",
        "r": "{r:.3f} [{r_ci_low:.3f}, {r_ci_high:.3f}]",
        "r²": "{r2:.3f} [{r2_ci_low:.3f}, {r2_ci_high:.3f}]",
        "Slope": "{slope:.2f} [{slope_ci_low:.2f}, {slope_ci_high:.2f}]",
        "Gain": "{variance_ratio:.0f}",
    }
    title = f"Estimators against paired retraining without single documents ({setup.name})"
    note = "Pearson's correlation with Fisher's interval; r² and slope with bootstrap intervals. Gain: mean"
    note += " variance of an unpaired difference over that of a paired one."
    return Table(data, text_columns(data, shown), title, note if len(data) else _NONE)


def draw_documents(setup: Setup, stem: Path) -> None:
    """Draw the observed differential bias of single documents over the estimate ``newton``."""
    data = setup.table("single_documents/documents", "weat", "kind", "observed", "newton")
    with figure(SINGLE_COLUMN, 2.8) as fig:
        ax = fig.subplots()
        for kind, part in data.groupby("kind", sort=False):
            _points(ax, part, kind)
        ax.axhline(0, color=LIGHT_GREY, linewidth=0.5, zorder=0)
        ax.axvline(0, color=LIGHT_GREY, linewidth=0.5, zorder=0)
        ax.axline((0, 0), slope=1, color=BLACK, linewidth=0.5, linestyle=":", zorder=0)
        ax.set(xlabel="Predicted differential bias (newton)", ylabel="Observed, paired retraining")
        weat = ", ".join(data["weat"].unique()) or "no single documents"
        ax.set_title(f"{setup.of_test(weat)}: one document removed", fontsize=8, loc="left", parse_math=False)
        if len(data):
            fig.legend(loc="outside lower center", ncols=3, title="documents (mean and 95% interval)")
        save_with_data(fig, stem, data)


def _points(ax: Axes, part: pd.DataFrame, kind: str) -> None:
    ax.errorbar(
        part["newton"],
        part["observed"],
        yerr=error_bars(part, "observed"),
        fmt=_MARKERS[kind],
        color=KIND_COLOURS[kind],
        markersize=3.5,
        elinewidth=0.6,
        label=DOCUMENTS[kind],
    )
