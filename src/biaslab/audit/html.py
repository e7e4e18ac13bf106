"""The audit as one page that needs nothing else: no script, no font, no picture from elsewhere."""

import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from biaslab.audit.measure import COLUMNS, NOT_ATTEMPTED, VERDICTS, format_number
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, write_text
from biaslab.core.pages import render

TEMPLATE = Path(__file__).parent / "audit.html.j2"

PLOT_WIDTH = 150.0
_PLOT_MARGIN = 0.08


@dataclass(frozen=True)
class Plot:
    """Where the marks of a claim's small picture lie, in pixels from its left edge.

    `band` is where the claim holds, `published` the published number, `measured` the measured one and
    `interval` its interval; a mark that does not exist is None.
    """

    band: tuple[float, float]
    published: float
    measured: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class Row:
    """One row of the audit, ready to be shown."""

    fields: dict[str, str]
    measured: str
    interval: str
    links: tuple[tuple[str, str], ...]
    plot: Plot | None


def write_html(claims: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write the page of a measured registry; the same table gives the same bytes.

    Parameters
    ----------
    claims : path-like
        The table of `biaslab.audit.measure`, in the folder ``audit`` of the results.
    out : path-like
        The page, in the same folder: its links to results are relative to it.

    Raises
    ------
    InputError
        When the table cannot be read, lacks a column, or has a verdict or number that is none.
    """
    rows = [_row(fields, f"{claims}, line {line}") for line, fields in read_text_table(claims, COLUMNS)]
    page = render(
        TEMPLATE,
        verdicts=VERDICTS,
        counts=_counts(rows),
        total=Counter(row.fields["verdict"] for row in rows),
        sections=_sections([row for row in rows if row.fields["verdict"] != NOT_ATTEMPTED]),
        missing=_by(
            "paper", "setup", "reason", rows=[r for r in rows if r.fields["verdict"] == NOT_ATTEMPTED]
        ),
        width=PLOT_WIDTH,
    )
    write_text(out, page)


def place_marks(
    kind: str, value: float, tolerance: float, measured: float, interval: tuple[float, float] | None
) -> Plot | None:
    """Return the marks of a claim's picture, or None when all its numbers are the same.

    Parameters
    ----------
    kind : str
        The claim's kind; of a sign, the published number is shown at zero.
    value, tolerance : float
        The published number and how far from it the claim holds.
    measured : float
        The measured number.
    interval : (float, float), optional
        Its interval.
    """
    low, high = value - tolerance, value + tolerance
    if kind == "sign":
        low, high = (0, math.inf) if value > 0 else (-math.inf, 0)
        value = 0
    elif kind == "at_least":
        high = math.inf
    elif kind == "at_most":
        low = -math.inf
    shown = [x for x in (low, high, value, measured, *(interval or ())) if math.isfinite(x)]
    span = max(shown) - min(shown)
    if span == 0:
        return None
    start, scale = min(shown) - _PLOT_MARGIN * span, PLOT_WIDTH / (span * (1 + 2 * _PLOT_MARGIN))

    def place(number: float) -> float:
        return round(min(max((number - start) * scale, 0.0), PLOT_WIDTH), 1)

    return Plot(
        (place(low), place(high)),
        place(value),
        place(measured),
        (place(interval[0]), place(interval[1])) if interval else None,
    )


def _row(fields: dict[str, str], where: str) -> Row:
    """Return a row of the table, formatted."""
    if fields["verdict"] not in VERDICTS:
        raise InputError(f"{where}: '{fields['verdict']}' is no verdict; make the table anew")
    value, tolerance, measured, low, high = (
        _number(fields[name], where) for name in ("value", "tolerance", "measured", "ci_low", "ci_high")
    )
    interval = None if math.isnan(low) or math.isnan(high) else (low, high)
    attempted = not math.isnan(measured)
    return Row(
        fields=fields,
        measured=_typeset(measured) if attempted else "",
        interval=f"{_typeset(low)} to {_typeset(high)}" if interval else "",
        links=tuple((quote(f"../{path}"), path.rpartition("/")[2]) for path in fields["source"].split()),
        plot=place_marks(fields["kind"], value, tolerance, measured, interval) if attempted else None,
    )


def _number(text: str, where: str) -> float:
    try:
        return float(text) if text else math.nan
    except ValueError as error:
        raise InputError(f"{where}: '{text}' is no number; make the table anew") from error


def _typeset(number: float) -> str:
    """Write a number with a true minus sign."""
    return format_number(number).replace("-", "−")


def _counts(rows: Sequence[Row]) -> dict[str, Counter]:
    """Count verdicts by setup, in the order of their first row that was measured, the others last."""
    attempted = [row for row in rows if row.fields["verdict"] != NOT_ATTEMPTED]
    groups = _by("setup", rows=rows)
    order = [*_by("setup", rows=attempted), *groups]
    return {setup: Counter(row.fields["verdict"] for row in groups[setup,]) for (setup,) in order}


def _sections(rows: Sequence[Row]) -> dict[str, dict[tuple[str, ...], list[Row]]]:
    """Group rows by setup, then by paper."""
    return {setup: _by("paper", rows=group) for (setup,), group in _by("setup", rows=rows).items()}


def _by(*names: str, rows: Sequence[Row]) -> dict[tuple[str, ...], list[Row]]:
    """Group rows by some of their fields, in the order of the first row of each group."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.fields[name] for name in names), []).append(row)
    return groups
