"""The answer to a question about somebody's own data: lines of text, a page of HTML, all numbers as JSON."""

import base64
import importlib.metadata
import json
import math
import os
import textwrap
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import render, write_text
from biaslab.core.tables import is_number

MADE_BY = "biaslab"
"""What every file of an answer names near its beginning, so that one may replace the one before it."""

_TEMPLATE = Path(__file__).parent / "answer.html.j2"
_COLUMNS = 100
_LOOKED_AT = 400  # bytes
_WIDTH, _ROW = 3.6, 0.22  # inches: read on a phone and on a desk
_LONGEST, _LABEL = 28, 44  # characters of a label of a row, and in a line of that of the axis


class _Link(str):
    href: str


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, then a figure, then a table of text cells."""

    title: str
    text: Sequence[str] = ()
    figure: str = ""  # from `dots`
    about_figure: str = ""  # what it shows, for who cannot see it
    table: pd.DataFrame | None = None
    note: str = ""  # what a reader must know to read figure and table


@dataclass(frozen=True)
class Answer:
    """What a command found out about somebody's data."""

    command: str  # which was asked
    question: str
    data: Mapping[str, str]  # what was read and how, a fact a row; files by name
    files: Sequence[str | os.PathLike]  # what was read, as it was named
    lines: Sequence[str]  # the answer, each line by itself
    sections: Sequence[Section]
    limits: Sequence[str]  # what the method cannot tell
    numbers: Mapping[str, Any]  # for machines: tables and plain values


def dots(
    labels: Sequence[str],
    series: Mapping[str, np.ndarray],
    xlabel: str,
    line: float | None = None,
    line_label: str = "",
) -> str:
    """Draw dots with intervals, a row a label, and return the address of an image that holds the figure.

    `series` has of each name (n, 3) numbers: value, and the ends of its interval, NaN where there is none.
    `line` is upright, where a number means something, which `line_label` says.
    """
    from biaslab.core.plotting import BLUE, GREEN, GREY, METADATA, ORANGE, VERMILLION, figure

    marks = list(zip("osD^v", (VERMILLION, BLUE, GREY, GREEN, ORANGE), strict=True))
    rows, step = np.arange(len(labels)), 0.6 / max(len(series), 2)
    height = 0.75 + _ROW * len(labels) * (1 + len(series) / 4)
    with warnings.catch_warnings(), figure(_WIDTH, height) as page:
        warnings.filterwarnings("ignore", "Glyph")  # the table beside has what the font lacks
        axes = page.subplots()
        for i, (name, values) in enumerate(series.items()):
            at = rows + (i - (len(series) - 1) / 2) * step
            value, low, high = np.asarray(values, np.float64).T
            finite = np.isfinite(value)
            lengths = np.nan_to_num(np.maximum([value - low, high - value], 0))
            marker, colour = marks[i % len(marks)]
            style = {"color": colour, "marker": marker, "linestyle": "none", "elinewidth": 0.8}
            axes.errorbar(value[finite], at[finite], xerr=lengths[:, finite], label=_plainly(name), **style)
        if line is not None:
            axes.axvline(
                line, color=GREY, linewidth=0.8, linestyle="--", zorder=0, label=_plainly(line_label) or None
            )
        axes.set_xlabel("\n".join(map(_plainly, textwrap.wrap(xlabel, _LABEL))))
        axes.set(yticks=rows, ylim=(len(labels) - 0.5, -0.5))
        short = (text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…" for text in labels)
        axes.set_yticklabels(map(_plainly, short))
        axes.margins(x=0.08)
        axes.grid(axis="x")
        if len(series) > 1 or line_label:
            page.legend(loc="outside upper left", ncols=2)
        file = BytesIO()
        page.savefig(file, format="svg", metadata=METADATA["svg"])
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode()}"


def link(text: str, href: str) -> str:
    """Return the text of a cell that leads to a page below the folder of the answer."""
    found = _Link(text)
    found.href = href
    return found


def with_ends(table: pd.DataFrame, name: str) -> np.ndarray:
    """Return a column beside the ends of its interval, (n, 3), as `dots` takes them."""
    return table[[name, f"{name}_low", f"{name}_high"]].to_numpy()


def names_of(files: Sequence[str | os.PathLike]) -> list[str]:
    """Return what a page calls files: their names, after the folders above them where some share a name."""
    parts = [Path(file).parts for file in files]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(of[-n:]) for of in parts]
        if len(set(names)) == len(set(parts)):
            break
    return names if parts else []


def listed(table: pd.DataFrame, template: str) -> str:
    """Return the rows of a table in one line, for who cannot see the figure of them."""
    return "; ".join(template.format(**row) for row in table.to_dict("records"))


def _plainly(text: str) -> str:
    """Return text that a figure shows as it is: no formulas, and nothing that SVG cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")


def check_answer(stem: str | os.PathLike) -> None:
    """Refuse names of an answer's files that files of somebody else have."""
    for path in _paths(stem):
        if path.is_dir() or (path.exists() and MADE_BY.encode() not in path.read_bytes()[:_LOOKED_AT]):
            raise InputError(f"{path}: is there, and no answer of {MADE_BY}; choose another --out")


def write_answer(answer: Answer, stem: str | os.PathLike) -> str:
    """Write ``stem.html`` and ``stem.json``; return what a terminal shows, which ends with their names."""
    check_answer(stem)
    page, machine = _paths(stem)
    version = importlib.metadata.version(MADE_BY)
    head = {"made_by": f"{MADE_BY} {version}", "command": answer.command, "question": answer.question}
    numbers = {name: _plain(value) for name, value in answer.numbers.items()}
    facts = {"data": dict(answer.data), "files": [os.fspath(file) for file in answer.files]}
    everything = head | facts | {"answer": list(answer.lines)} | numbers
    write_text(machine, json.dumps(everything, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    numeric = [
        [] if section.table is None else [is_number(section.table[name]) for name in section.table]
        for section in answer.sections
    ]
    write_text(page, render(_TEMPLATE, answer=answer, numeric=numeric, version=version, machine=machine.name))
    wrapped = [textwrap.fill(line, _COLUMNS, subsequent_indent="  ") for line in answer.lines]
    return "\n".join([*wrapped, f"The page: {page}; all numbers: {machine}"])


def _paths(stem: str | os.PathLike) -> tuple[Path, Path]:
    return tuple(Path(f"{os.fspath(stem)}{suffix}") for suffix in (".html", ".json"))


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: tables as rows, nothing for what is no number."""
    if isinstance(value, pd.DataFrame):
        return [_plain(row) for row in value.to_dict("records")]
    if isinstance(value, Mapping):
        return {str(key): _plain(of) for key, of in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(of) for of in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
