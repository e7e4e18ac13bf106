"""Write a table as three files: numbers (.tsv), Markdown (.md) and LaTeX (.tex)."""

import os
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from biaslab.core.files import write_text
from biaslab.core.io import write_tsv

MISSING = "–"  # the text of a missing value in a table

NO_INTERVAL = rf" \({MISSING} to {MISSING}\)"
"""Regular expression of the empty interval after a value without interval."""

_LONG_TABLE = 40  # rows; longer tables break over pages
_LONG_TEXT = 45  # characters; longer cells wrap
_NUMBER = re.compile(r"[-+−<≥≤]?\d[\d.,]*(e[-+]?\d+)?\b")
_NEGATIVE_ZERO = re.compile(r" *-0(\.0*)?(e[-+]?\d+)?%? *")
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\`*_[]<>|$~"})
_LATEX = str.maketrans(
    {c: "\\" + c for c in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "[": "{[}",  # after a line break, LaTeX would read a bracket as its argument
        "]": "{]}",
        "±": r"$\pm$",
        "×": r"$\times$",
        "·": r"$\cdot$",
        "≥": r"$\geq$",
        "≤": r"$\leq$",
        "−": "$-$",
        "²": "$^2$",
        "Δ": r"$\Delta$",
        "α": r"$\alpha$",
        "φ": r"$\phi$",
        "†": r"\dag{}",
        "|": r"\textbar{}",
        "–": "--",
    }
)


@dataclass(frozen=True)
class Table:
    """The data of the ``.tsv``, and the text cells of ``.md`` and ``.tex`` (see `text_columns`)."""

    data: pd.DataFrame  # machine names, full precision, every row
    shown: pd.DataFrame  # human headers
    title: str
    note: str = ""  # how to read the table


def without_negative_zero(text: str) -> str:
    """Remove the minus sign of a formatted number that rounds to zero."""
    return text.replace("-", "", 1) if _NEGATIVE_ZERO.fullmatch(text) else text


def four_digits(value: float) -> str:
    """Return a number with four significant digits."""
    return without_negative_zero(f"{value:.4g}")


class _Formatter(string.Formatter):
    """Format fields like ``str.format``, but a missing value as a dash."""

    def format_field(self, value, format_spec):
        """Format one field."""
        return MISSING if pd.isna(value) else without_negative_zero(super().format_field(value, format_spec))


def text_columns(table: pd.DataFrame, templates: Mapping[str, str]) -> pd.DataFrame:
    """Format a table of numbers as text; a missing value becomes a dash.

    `templates` maps the header of a shown column to a ``str.format`` template over the columns of `table`,
    for example ``{"Effect size": "{mean:.3f} ± {sd:.3f}"}``.
    """
    formatter = _Formatter()
    rows = table.to_dict("records")
    return pd.DataFrame(
        {h: [formatter.vformat(t, (), row) for row in rows] for h, t in templates.items()}, dtype=str
    )


def write_table(stem: str | os.PathLike, table: Table) -> None:
    """Write ``stem.tsv``, ``stem.md`` (GitHub) and ``stem.tex`` (booktabs, labelled by the stem)."""
    stem = Path(stem)
    shown = table.shown.map(lambda cell: " ".join(str(cell).split()))
    write_tsv(f"{stem}.tsv", table.data)
    write_text(f"{stem}.md", _markdown(shown, table.title, table.note))
    label = f"tab:{stem.name.replace('_', '-')}"
    write_text(f"{stem}.tex", _latex(shown, f"{table.title}. {table.note}".strip(), label))


def is_number(column: pd.Series) -> bool:
    """Return whether all cells of a text column are numbers."""
    cells = column[(column != "") & ~column.str.startswith(MISSING)]
    return len(cells) > 0 and all(_NUMBER.match(cell) for cell in cells)


def _markdown(shown: pd.DataFrame, title: str, note: str) -> str:
    def line(cells) -> str:
        return "| " + " | ".join(str(cell).translate(_MARKDOWN) for cell in cells) + " |"

    rule = "|" + "|".join("---:" if is_number(shown[column]) else ":---" for column in shown.columns) + "|"
    lines = [f"**{title.translate(_MARKDOWN)}**", "", line(shown.columns), rule]
    lines += [line(row) for row in shown.itertuples(index=False)]
    if note:
        lines += ["", note.translate(_MARKDOWN)]
    return "\n".join(lines) + "\n"


def _latex(shown: pd.DataFrame, caption: str, label: str) -> str:
    wide = [c for c in shown.columns if shown[c].str.len().max() > _LONG_TEXT]

    def alignment(column: str) -> str:
        if column in wide:
            return f"p{{{0.7 / len(wide):.2f}\\linewidth}}"
        return "r" if is_number(shown[column]) else "l"

    is_long = len(shown) > _LONG_TABLE
    escaped = shown.map(lambda cell: cell.translate(_LATEX)).rename(columns=lambda c: c.translate(_LATEX))
    return escaped.style.hide(axis="index").to_latex(
        column_format="".join(alignment(c) for c in shown.columns),
        caption=caption.translate(_LATEX),
        label=label,
        hrules=True,
        position=None if is_long else "htbp",
        environment="longtable" if is_long else "table",
    )
