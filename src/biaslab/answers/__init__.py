"""Sections of the answers of the ``audit`` commands, each from one table of groups.

A command describes a section by its table, the templates of its cells and its chart. `build_section` draws
the chart with intervals, describes it for readers who cannot see it, and formats the cells.
`biaslab.core.answers` writes the lines, the page and the JSON file.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.answers import Section, dots, listed
from biaslab.core.tables import NO_INTERVAL, text_columns


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
