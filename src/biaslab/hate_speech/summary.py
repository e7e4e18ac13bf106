"""What the commands for the user's own texts and classifiers print, and the tables that they write."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from rich.text import Text
from scipy.special import expit

from biaslab.core.tables import Table, text_columns
from biaslab.hate_speech.own_bias import ANY, NONE, macro_accuracy
from biaslab.run.terminal import plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from biaslab.hate_speech.own_training import Trained

_NAMES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "false_positive_rate": "False positive rate",
    "f1": "F1",
    "auc": "Area under the ROC curve",
}
_INTERVAL = "Intervals: 95%, Clopper and Pearson's."
_AREAS = (
    "Areas under the ROC curve (Borkan et al. 2019), 0.5 by chance: subgroup, among the texts with the"
    " identifier; BPSN, positive texts without it against negative ones with it, low when it alone"
    " raises scores; BNSP, negative texts without it against positive ones with it, low when it lowers them."
)


def show(page: "Console", table: Table) -> None:
    """Print a table, its first column flush left, with its title and its note."""
    shown = table.shown
    page.print()
    page.print(Text(table.title, style="bold"))
    page.print(plain_table(list(shown.columns), shown.to_numpy().tolist(), range(1, shown.shape[1])))
    if table.note:
        page.print(Text(table.note, style="dim"))


def metrics_table(metrics: pd.DataFrame) -> Table:
    """Return the table of `own_bias.own_metrics`."""
    named = metrics.assign(name=metrics["measure"].map(_NAMES))
    interval = text_columns(named, {"shown": "{ci_low:.1%} to {ci_high:.1%}"})["shown"]
    of = text_columns(named, {"shown": "{hits:,} of {n:,}"})["shown"]
    is_share = metrics["hits"].notna().to_numpy()
    value = text_columns(named, {"share": "{value:.1%}", "area": "{value:.3f}"})
    named = named.assign(
        interval=interval.where(is_share, None),
        of=of.where(is_share, None),
        value=value["area"].where((named["measure"] == "auc").to_numpy(), value["share"]),
    )
    shown = {"Measure": "{name}", "Value": "{value}", "95% interval": "{interval}", "Texts": "{of}"}
    note = "Intervals by Clopper and Pearson; that of precision is for the texts classified positive."
    return Table(metrics, text_columns(named, shown), "How well the classifier does", note)


def history_table(history: pd.DataFrame) -> Table:
    """Return the validations of a training."""
    named = history.assign(best=history["is_best"].map({True: "best", False: ""}))
    shown = {"Step": "{step:,}", "Epoch": "{epoch}", "Loss": "{loss:.4f}", "Regularizer": "{regularizer:.4f}"}
    shown |= {name.title(): f"{{{name}:.1%}}" for name in ("precision", "recall")}
    shown |= {"F1": "{f1:.1%}", "": "{best}"}
    return Table(history, text_columns(named, shown), "Validations")


def bias_table(sets: Sequence[pd.DataFrame]) -> Table:
    """Return the table of `own_bias.labelled_bias` on labelled texts and on news, named in the column set."""
    data = pd.concat(sets, ignore_index=True)
    interval = text_columns(data, {"shown": "{ci_low:.1%} to {ci_high:.1%}"})["shown"]
    named = data.assign(interval=interval.where(data["n_negative"].to_numpy() > 0, None))
    shown = {
        "Identifier": "{identifier}",
        "Set": "{set}",
        "Texts": "{n:,}",
        "Negative": "{n_negative:,}",
        "False positives": "{false_positive_rate:.1%}",
        "95% interval": "{interval}",
        "Subgroup": "{subgroup_auc:.3f}",
        "BPSN": "{bpsn_auc:.3f}",
        "BNSP": "{bnsp_auc:.3f}",
    }
    return Table(data, text_columns(named, shown), "Texts with an identifier", f"{_INTERVAL} {_AREAS}")


def news_line(news: pd.DataFrame) -> str:
    """Say how many news are classified right, which are all negative."""
    plain, macro = macro_accuracy(news)
    held = news.set_index("identifier").loc[[ANY, NONE], "n"]
    return (
        f"news: {plain:.1%} of {held.iloc[0]:,} texts with an identifier are classified negative, {macro:.1%}"
        f" on average over the identifiers; {held.iloc[1]:,} texts with none are left out"
    )


def template_table(words: pd.DataFrame, spread: dict[str, float]) -> Table:
    """Return the table of `own_bias.template_table`, with `own_bias.template_spread` below it."""
    kinds = {True: "identifier", False: "neutral"}
    named = words.assign(kind=words["is_identifier"].map(kinds))
    shown = {
        "Word": "{word}",
        "Kind": "{kind}",
        "Mean probability": "{mean:.3f}",
        "Smallest": "{low:.3f}",
        "Largest": "{high:.3f}",
        "From neutral words": "{difference:+.3f}",
        "Classified positive": "{n_positive} of {n}",
    }
    note = (
        f"One sentence with each identifier in turn: largest less smallest probability {spread['range']:.3f},"
        f" standard deviation {spread['sd']:.3f}, mean difference of two identifiers (counterfactual token"
        f" fairness gap, Garg et al. 2019) {spread['gap']:.3f}; means over {words['n'].iloc[0]} sentences. A"
        " classifier that treats all identifiers alike has 0."
    )
    return Table(words, text_columns(named, shown), "Neutral sentences", note)


def texts_line(data: Path, table: pd.DataFrame) -> str:
    """Say which texts were measured on."""
    n_positive = int(table["label"].sum())
    return f"{data.name}: {len(table):,} texts, {n_positive:,} of them positive"


def predictions(table: pd.DataFrame, scores: np.ndarray) -> pd.DataFrame:
    """Return what a classifier makes of each text, which is told by its row in the file, from 0."""
    return pd.DataFrame(
        {
            "row": table["row"].to_numpy(),
            "label": table["label"].to_numpy(),
            "predicted": (scores > 0).astype(int),
            "probability": expit(scores),
        }
    )


def training_lines(trained: "Trained", out: Path) -> list[str]:
    """Say what was trained, on which texts, how much of them was read, and where it is."""
    described = trained.description
    lines = []
    for name, counts in described["texts"].items():
        held = f", {counts['n_with_identifier']:,} with an identifier" if described["identifiers"] else ""
        lines.append(f"{name}: {counts['n']:,} texts, {counts['n_positive']:,} of them positive{held}")
    lines.append(trained.lengths.sentence())
    lines.append(f"{described['method']}: in {out}" + (", finished before" if trained.was_there else ""))
    if not trained.history["is_best"].any():
        lines.append("No validation found a positive text rightly: train longer, or with more texts.")
    return lines
