"""Answers to questions about a user's data: lines of text, an HTML page, and all numbers as JSON.

A command describes a section of the page by its table, the templates of its cells and its chart.
`build_section` draws the chart with intervals, describes it for readers who cannot see it, and formats the
cells.
"""

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
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import render, write_text
from biaslab.core.tables import NO_INTERVAL, is_number, text_columns

MADE_BY = "biaslab"
"""The mark near the beginning of every answer file. Only a file with this mark may be overwritten."""

_TEMPLATE = Path(__file__).parent / "answer.html.j2"
_COLUMNS = 100
_HEAD_BYTES = 400  # bytes
_WIDTH, _ROW = 3.6, 0.22  # inches: legible on a phone and on a desktop
_LONGEST, _LABEL = 28, 44  # characters: the label of a row, and a line of the axis label


class _Link(str):
    href: str


@dataclass(frozen=True)
class Section:
    """A part of the page: paragraphs, then a figure, then a table of text cells."""

    title: str
    text: Sequence[str] = ()
    figure: str = ""  # from `dots`
    about_figure: str = ""  # description for readers who cannot see the figure
    table: pd.DataFrame | None = None
    note: str = ""  # how to read the figure and the table


@dataclass(frozen=True)
class Answer:
    """The result of a command on a user's data."""

    command: str
    question: str
    data: Mapping[str, str]  # facts on the input data, one a row; files by name
    files: Sequence[str | os.PathLike]  # input files, as the user named them
    lines: Sequence[str]  # the answer, line by line
    sections: Sequence[Section]
    limits: Sequence[str]  # limits of the method
    numbers: Mapping[str, Any]  # machine-readable: tables and plain values


def dots(
    labels: Sequence[str],
    series: Mapping[str, np.ndarray],
    xlabel: str,
    line: float | None = None,
    line_label: str = "",
) -> str:
    """Draw dots with intervals, one row a label, and return the figure as the data address of an image.

    `series` maps a name to (n, 3) numbers: value, lower and upper end of the interval (NaN: no interval).
    """
    from biaslab.core.plotting import BLUE, GREEN, GREY, METADATA, ORANGE, VERMILION, figure

    marks = list(zip("osD^v", (VERMILION, BLUE, GREY, GREEN, ORANGE), strict=True))
    rows, step = np.arange(len(labels)), 0.6 / max(len(series), 2)
    height = 0.75 + _ROW * len(labels) * (1 + len(series) / 4)
    with warnings.catch_warnings(), figure(_WIDTH, height) as page:
        warnings.filterwarnings("ignore", "Glyph")  # the table shows characters that the font lacks
        axes = page.subplots()
        for i, (name, values) in enumerate(series.items()):
            positions = rows + (i - (len(series) - 1) / 2) * step
            value, low, high = np.asarray(values, np.float64).T
            finite = np.isfinite(value)
            lengths = np.nan_to_num(np.maximum([value - low, high - value], 0))
            marker, colour = marks[i % len(marks)]
            style = {"color": colour, "marker": marker, "linestyle": "none", "elinewidth": 0.8}
            label = _plainly(name)
            axes.errorbar(value[finite], positions[finite], xerr=lengths[:, finite], label=label, **style)
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
    """Return the text of a cell with a link to a page below the folder of the answer."""
    cell = _Link(text)
    cell.href = href
    return cell


def names_of(files: Sequence[str | os.PathLike]) -> list[str]:
    """Return display names of files: file names, preceded by parent folders where file names coincide."""
    parts = [Path(file).parts for file in files]
    for n in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(path[-n:]) for path in parts]
        if len(set(names)) == len(set(parts)):
            break
    return names if parts else []


def listed(table: pd.DataFrame, template: str) -> str:
    """Return the rows of a table in one line, for readers who cannot see its figure."""
    return "; ".join(template.format(**row) for row in table.to_dict("records"))


def _plainly(text: str) -> str:
    """Escape a text for a figure: no formulas, and no characters that SVG cannot represent."""
    return "".join(c if c.isprintable() else " " for c in text).replace("$", r"\$")


def check_answer(stem: str | os.PathLike) -> None:
    """Refuse to overwrite files that are not answers of this package."""
    for path in _paths(stem):
        if path.is_dir() or (path.exists() and MADE_BY.encode() not in path.read_bytes()[:_HEAD_BYTES]):
            raise InputError(f"{path}: is there, and no answer of {MADE_BY}; choose another --out")


def write_answer(answer: Answer, stem: str | os.PathLike) -> str:
    """Write ``stem.html`` and ``stem.json``; return the terminal output, which ends with their names."""
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
    """Convert a value for JSON: tables to rows, NaN to null, and infinities to text."""
    if isinstance(value, pd.DataFrame):
        return [_plain(row) for row in value.to_dict("records")]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


class Chart(NamedTuple):
    """Dots with intervals, a row of the chart for each row of a table."""

    labels: str | Sequence[str]  # a column of the table, or the labels
    series: Mapping[str, str | np.ndarray]  # by name: a column (see `with_interval`), or (n, 3) numbers
    xlabel: str
    description: str  # of a row, for readers who cannot see the chart: template over the columns
    prefix: str = ""  # of the description
    line: float | None = None  # position of a vertical reference line
    line_label: str = ""


def build_section(
    title: str,
    text: str,
    table: pd.DataFrame,
    cells: Mapping[str, str],
    note: str = "",
    chart: Chart | None = None,
) -> Section:
    """Return a section of a page; `cells` maps the headers of its table to templates over columns of `table`.

    Empty lines separate the paragraphs of `text`. A value without an interval has no brackets.
    """
    figure = description = ""
    if chart:
        labels = table[chart.labels] if isinstance(chart.labels, str) else chart.labels
        series = {
            name: with_interval(table, values) if isinstance(values, str) else values
            for name, values in chart.series.items()
        }
        figure = dots(list(labels), series, chart.xlabel, chart.line, chart.line_label)
        description = chart.prefix + listed(table, chart.description)
    shown = text_columns(table, cells).replace(NO_INTERVAL, "", regex=True)
    return Section(title, text.split("\n\n"), figure, description, shown, note)


def with_interval(table: pd.DataFrame, name: str) -> np.ndarray:
    """Return a column and the ends of its interval, (n, 3); NaN for a table without these ends."""
    return table.reindex(columns=[name, f"{name}_low", f"{name}_high"]).to_numpy(np.float64)


def estimate(name: str, spec: str) -> str:
    """Return the template of a value with its interval, for example ``0.42 (0.07 to 1.57)``."""
    return f"{{{name}:{spec}}} ({{{name}_low:{spec}}} to {{{name}_high:{spec}}})"


def join_names(names: Sequence[str]) -> str:
    """Return names as a text: ``a``, ``a and b``, or ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
