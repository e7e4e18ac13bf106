"""Table and figure of which way the removal of single documents moves the bias: areas under the ROC curve."""

from pathlib import Path

from biaslab.bias.names import in_words
from biaslab.core.plotting import BLACK, BLUE, GREY, LIGHT_GREY, SINGLE_COLUMN, figure, save_with_data
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import PREDICTING
from biaslab.origins.checks.single_documents.auc import ALL, COLUMNS, WITH_WORDS
from biaslab.origins.report.panels import LABELS, error_bars
from biaslab.origins.report.results import Setup
from biaslab.origins.sets.names import RANDOM

_MARKS = {ALL: ("o", GREY), RANDOM: ("s", BLACK), WITH_WORDS: ("D", BLUE)}
_NOTE = (
    "Area under the ROC curve: the probability that an attribution gives more to a document whose removal"
    " lowers the bias than to one whose removal raises it, by paired retraining; 95% bootstrap interval over"
    " documents; 0.5 by chance. All documents include the ends of the ranking, which the estimator chose"
    " itself, so that only the random ones are a fair sample; with words: those that hold a word of the test."
)
_NONE = "The setup removes no single documents."


def auc_table(setup: Setup) -> Table:
    """List how well each attribution tells which way the removal of a document moves the bias."""
    data = setup.table("single_documents/auc", *COLUMNS)
    shown = {
        "WEAT": "{weat}",
        "Documents": "{among}",
        "Attribution": "{estimator}",
        "Lower": "{n_lower}",
        "Raise": "{n_raise}",
        "AUC": "{auc:.3f} [{auc_ci_low:.3f}, {auc_ci_high:.3f}]",
    }
    title = f"Documents that lower the bias, told from those that raise it ({setup.name})"
    return Table(data, text_columns(data, shown), title, _NOTE if len(data) else _NONE)


def draw_auc(setup: Setup, stem: Path) -> None:
    """Draw the area under the ROC curve of each attribution, with 95% intervals."""
    data = setup.table("single_documents/auc", *COLUMNS)
    known = [a.name for a in PREDICTING if not len(data) or a.name in set(data["estimator"])]
    places = {name: place for place, name in enumerate(known)}
    with figure(SINGLE_COLUMN, 2.4) as fig:
        ax = fig.subplots()
        ax.axvline(0.5, color=LIGHT_GREY, linewidth=0.8)
        for shift, (among, (marker, colour)) in enumerate(_MARKS.items()):
            part = data[data["among"] == among].dropna(subset="auc")
            y = part["estimator"].map(places).astype(float) + 0.22 * (shift - 1)
            ax.errorbar(
                part["auc"],
                y,
                xerr=error_bars(part, "auc"),
                fmt=marker,
                color=colour,
                markersize=3.5,
                elinewidth=0.6,
                label=among,
            )
        ax.set_yticks(list(places.values()), [LABELS[name] for name in places])
        ax.invert_yaxis()
        ax.set(xlim=(-0.02, 1.02), xlabel="Area under the ROC curve")
        tests = ", ".join(map(in_words, data["weat"].unique())) or "no single documents"
        ax.set_title(
            f"{setup.corpus}, {tests}: one document removed", fontsize=8, loc="left", parse_math=False
        )
        if len(data):
            fig.legend(loc="outside lower center", ncols=3)
        save_with_data(fig, stem, data)
