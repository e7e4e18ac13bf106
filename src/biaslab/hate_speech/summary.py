"""What the training of a classifier on a user's own texts prints."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from rich.text import Text

from biaslab.core.tables import Table, text_columns
from biaslab.run.terminal import plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from biaslab.hate_speech.own_training import Trained


def show(page: "Console", table: Table) -> None:
    """Print a table with its title, its first column flush left."""
    shown = table.shown
    page.print()
    page.print(Text(table.title, style="bold"))
    page.print(plain_table(list(shown.columns), shown.to_numpy().tolist(), range(1, shown.shape[1])))


def history_table(history: pd.DataFrame) -> Table:
    """Return the validations of a training."""
    named = history.assign(best=history["is_best"].map({True: "best", False: ""}))
    shown = {"Step": "{step:,}", "Epoch": "{epoch}", "Loss": "{loss:.4f}", "Regularizer": "{regularizer:.4f}"}
    shown |= {name.title(): f"{{{name}:.1%}}" for name in ("precision", "recall")}
    shown |= {"F1": "{f1:.1%}", "": "{best}"}
    return Table(history, text_columns(named, shown), "Validations")


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
