"""Drawings of the documentation, as SVG: `docs/generated.py` writes them into docs/images."""

import biaslab  # noqa: F401, I001  (pins the processor before numpy is loaded)

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

from biaslab.audit.claims import CELL, CONVENTION, GIVEN, QUIRK, RESULT
from biaslab.audit.summary import NO_ROW
from biaslab.audit.verdicts import (
    DIRECTION_ONLY,
    FAILED_ELSEWHERE,
    HELD_ELSEWHERE,
    INCONCLUSIVE,
    NOT_ATTEMPTED,
    NOT_REPRODUCED,
)
from biaslab.core.plotting import BLUE, GREEN, GREY, LIGHT_GREY, ORANGE, PALE_GREY, SKY, VERMILION, YELLOW
from biaslab.origins.checks.foreign import worth_in_retrainings
from biaslab.run.areas import AREAS

_NOTHING = "#FFFFFF"
_INK = "#1B1F24"


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="sans-serif" font-size="13">'
    )
    ground = f'<rect width="{width}" height="{height}" fill="{_NOTHING}"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>\n"])


def _box(x: float, y: float, width: float, height: float, fill: str, line: str = _NOTHING) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{fill}" stroke="{line}"/>'


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{_INK}" {style}>{escape(text)}</text>'


_BOLD, _MIDDLE = 'font-weight="bold"', 'text-anchor="middle"'
_DASHED = 'stroke-dasharray="4 3"'
_VERDICTS = {
    "reproduced": (BLUE, (RESULT,)),
    "reproduced, with a caveat": (SKY, (CONVENTION, QUIRK, GIVEN)),
    "in direction only": (GREEN, (DIRECTION_ONLY,)),
    "not reproduced": (VERMILION, (NOT_REPRODUCED,)),
    "inconclusive": (LIGHT_GREY, (INCONCLUSIVE,)),
    "held on other data": (YELLOW, (HELD_ELSEWHERE,)),
    "failed on other data": (ORANGE, (FAILED_ELSEWHERE,)),
    "not measured": (_NOTHING, (NOT_ATTEMPTED, NO_ROW)),
}
"""What a part of a bar is called, its colour, and the columns of the headline that it adds up."""
_LEFT, _BAR, _ROW, _LEAST = 170, 640, 21, 14


def verdicts(counts: pd.DataFrame) -> str:
    """Draw two bars a paper, for statements and cells, which have a row each: shares of the verdicts."""
    parts = []
    for n, (name, (colour, _)) in enumerate(_VERDICTS.items()):
        x, y = 20 + n % 4 * 205, 14 + n // 4 * 22
        parts += [_box(x, y, 14, 14, colour, GREY), _text(x + 20, y + 12, name)]
    y = 64.0
    for paper, rows in counts.groupby("paper", sort=False):
        parts.append(_text(20, y + 14, paper, _BOLD))
        for row in rows.to_dict("records"):
            y += _ROW
            what = f"{row['printed']} {'numbers' if row['counts_as'] == CELL else 'statements'}"
            parts += [_text(20, y + 14, what), *_bar(y, row)]
        y += _ROW + 10
    return _svg(_LEFT + _BAR + 20, y, "Reproduced results, by paper", parts)


def _bar(y: float, row: Mapping) -> list[str]:
    x, parts = float(_LEFT), []
    for colour, columns in _VERDICTS.values():
        n = sum(row[column] for column in columns)
        width = _BAR * n / row["printed"]
        parts += [_box(x, y, width, _ROW - 4, colour, GREY)] if n else []
        if width > _LEAST:
            white = ' fill-opacity="1" style="fill:#fff"' if colour in (BLUE, GREEN, VERMILION) else ""
            parts.append(_text(x + width / 2, y + 13, str(n), f'{_MIDDLE} font-size="12"{white}'))
        x += width
    return parts


_ROOMS = {
    "cli": "command line",
    "run": "settings, data,\nprovenance",
    "audit": "papers' claims\nagainst results",
    "core": "files, random streams, compiled kernels, statistics, tables, figures",
}
"""The rooms of the package that are neither areas nor libraries, and what they are for."""
_WIDE, _HIGH, _GAP = 840, 62, 10


def architecture(package: Path) -> str:
    """Draw the folders of the package in their layers: imports go down only."""
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    libraries = sorted(folders - {*AREAS, *_ROOMS})
    rows = {
        "Callers": [("workflow/rules", "dependencies of steps", ""), ("users", "with their own data", "")],
        "Interfaces": [("biaslab step", "a function of the science", ""), ("cli", _ROOMS["cli"], PALE_GREY)],
        "Areas: one paper each, and none imports another": [(area, "", SKY) for area in AREAS],
        "Libraries, independent of papers, and services for all papers": [
            *((library, "", YELLOW) for library in libraries),
            *((room, _ROOMS[room], PALE_GREY) for room in ("run", "audit")),
        ],
        "Foundation": [("core", _ROOMS["core"], PALE_GREY)],
    }
    parts, y = [], 12.0
    for title, boxes in rows.items():
        parts.append(_text(20, y + 12, title, 'font-style="italic"'))
        y += 20
        width = (_WIDE + _GAP) / len(boxes) - _GAP
        for k, (name, about, fill) in enumerate(boxes):
            x, lines = 20 + k * (width + _GAP), about.splitlines()
            first = y + _HIGH / 2 + 5 - 8 * len(lines)
            parts.append(_box(x, y, width, _HIGH, fill or _NOTHING, GREY))
            parts.append(_text(x + width / 2, first, name, f"{_MIDDLE} {_BOLD}"))
            parts += [_text(x + width / 2, first + 17 * n, line, _MIDDLE) for n, line in enumerate(lines, 1)]
        y += _HIGH + 10
    return _svg(_WIDE + 40, y + 4, "The layers of biaslab: imports go down only", parts)


_SHOWN = {"unrolled": BLUE, "newton, damped": GREEN, "influence": ORANGE, "ppmi": GREY}
"""Colours of the attributions in `worth`."""
_PANEL, _SIDE, _TOP = 350, 60, 70
_FEWEST, _MOST = 0.03, 30.0
"""Range of the number of retrainings that is drawn."""


def worth(scores: pd.DataFrame, n_retrainings: int) -> str:
    """Draw scores of attributions on the curve of the mean of k retrainings, a panel per test and size.

    Parameters
    ----------
    scores : DataFrame
        Rows of `biaslab.origins.checks.foreign.write_scored`.
    n_retrainings : int
        Number of retrainings behind each outcome.
    """
    parts, tests = [], sorted(set(scores["weat"]))
    sizes = sorted(set(scores["n_removed"]))
    for n, (name, colour) in enumerate(_SHOWN.items()):
        parts += [_circle(66 + 135 * n, 22, colour), _text(76 + 135 * n, 27, name)]
    parts.append(_text(76 + 135 * len(_SHOWN), 27, "line: k retrainings; dashed: ceiling"))
    for row, test in enumerate(tests):
        for column, size in enumerate(sizes):
            x, y = _SIDE + column * (_PANEL + _SIDE), _TOP + row * (_PANEL / 2 + _TOP)
            cell = scores[(scores["weat"] == test) & (scores["n_removed"] == size)]
            title = f"{test.upper()}, {size:,} documents removed"
            parts += [_text(x, y - 8, title, _BOLD), *_worth_panel(x, y, cell, n_retrainings)]
    width, height = len(sizes) * (_PANEL + _SIDE) + 20, len(tests) * (_PANEL / 2 + _TOP) + _TOP - 20
    return _svg(width, height, "Scores of attributions, compared with retrainings", parts)


def _worth_panel(x: float, y: float, cell: pd.DataFrame, n_retrainings: int) -> list[str]:
    across, up, parts = _axes(x, y, (_FEWEST, _MOST), (0.1, 1, 10), "full retrainings per subset (worth)")
    ceiling = float(cell["ceiling"].iloc[0])
    scores = ceiling * (1 - np.geomspace(1, 1e-3, 500))
    numbers = worth_in_retrainings(scores, np.float64(ceiling**2), n_retrainings)
    is_drawn = (numbers >= _FEWEST) & (numbers <= _MOST)
    curve = [(across(k), up(score)) for k, score in zip(numbers[is_drawn], scores[is_drawn], strict=True)]
    parts.append(_line(x, up(ceiling), x + _PANEL, up(ceiling), GREY, _DASHED))
    parts.append(_curve(curve, _INK))
    for name, colour in _SHOWN.items():
        row = cell[(cell["attribution"] == name) & (cell["form"] == "sum")].iloc[0]
        at, score = across(row["worth"]), up(row["value"])
        parts.append(_line(at, up(row["ci_low"]), at, up(row["ci_high"]), colour))
        ends = across(row["worth_ci_low"]), across(row["worth_ci_high"])
        parts.append(_line(ends[0], score, ends[1], score, colour))
        parts.append(_circle(at, score, colour))
    return parts


_STARTS = {"unrolled": ("from the sums of unrolled", BLUE), "nothing": ("from nothing", ORANGE)}
"""Legends and colours of the datamodels in `learning`, by what they start from."""


def learning(curve: pd.DataFrame, scores: pd.DataFrame) -> str:
    """Draw scores of datamodels by the number of their retrainings, a panel per test.

    Parameters
    ----------
    curve : DataFrame
        Table of `benchmarks/learning_curve.py`.
    scores : DataFrame
        Rows of `biaslab.origins.checks.foreign.write_scored` of the same subsets.
    """
    parts, tests = [], sorted(set(curve["test"]))
    for n, (legend, colour) in enumerate(_STARTS.values()):
        parts += [_circle(66 + 210 * n, 22, colour), _text(76 + 210 * n, 27, legend)]
    parts.append(_text(76 + 210 * len(_STARTS), 27, "dotted: unrolled alone; dashed: ceiling"))
    numbers = sorted(set(curve["trainings"]))
    for column, test in enumerate(tests):
        x, y = _SIDE + column * (_PANEL + _SIDE), _TOP
        across, up, axes = _axes(x, y, (numbers[0] / 1.3, numbers[-1] * 1.3), numbers, "retrained halves")
        parts += [_text(x, y - 8, test.upper(), _BOLD), *axes]
        cell = scores[(scores["weat"] == test) & (scores["attribution"] == "unrolled")].iloc[0]
        for score, dashes in ((cell["ceiling"], _DASHED), (cell["value"], 'stroke-dasharray="1 3"')):
            parts.append(_line(x, up(score), x + _PANEL, up(score), GREY, dashes))
        for place, (start, (_, colour)) in enumerate(_STARTS.items()):
            rows = curve[(curve["test"] == test) & (curve["start"] == start)]
            scores_of = [[float(x) for x in re.findall("-?[0-9.]+", text)] for text in rows["LDS"]]
            places = [across(n) + 4 * place for n in rows["trainings"]]
            parts.append(_curve([(at, up(v[0])) for at, v in zip(places, scores_of, strict=True)], colour))
            for at, (score, low, high) in zip(places, scores_of, strict=True):
                parts += [_line(at, up(low), at, up(high), colour), _circle(at, up(score), colour)]
    width, height = len(tests) * (_PANEL + _SIDE) + 20, _PANEL / 2 + 2 * _TOP - 20
    return _svg(width, height, "Scores of datamodels by the number of retrainings", parts)


def _axes(
    x: float, y: float, ends: tuple[float, float], ticks: Sequence[float], label: str
) -> tuple[Callable[[float], float], Callable[[float], float], list[str]]:
    """Return the place of a number across (logarithmic) and of a score upwards, and the frame of a panel."""
    high = _PANEL / 2

    def across(k: float) -> float:
        return x + _PANEL * np.log(np.clip(k, *ends) / ends[0]) / np.log(ends[1] / ends[0])

    def up(score: float) -> float:
        return y + high * (1 - max(score, 0.0))

    parts = [_box(x, y, _PANEL, high, "none", GREY)]
    for k in ticks:
        parts.append(_line(across(k), y, across(k), y + high, PALE_GREY))
        parts.append(_text(across(k), y + high + 15, f"{k:g}", f'{_MIDDLE} font-size="11"'))
    for score in (0, 0.5, 1):
        parts.append(_text(x - 6, up(score) + 4, f"{score:g}", 'text-anchor="end" font-size="11"'))
    parts.append(_text(x + _PANEL / 2, y + high + 32, label, _MIDDLE))
    turned = f'transform="rotate(-90 {x - 34:.1f} {y + high / 2:.1f})" {_MIDDLE}'
    return across, up, [*parts, _text(x - 34, y + high / 2, "rank correlation", turned)]


def _curve(points: Sequence[tuple[float, float]], colour: str) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}" fill="none" stroke="{colour}"/>'


def _circle(x: float, y: float, fill: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{fill}"/>'


def _line(x: float, y: float, to_x: float, to_y: float, colour: str, style: str = "") -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}" {style}/>'
