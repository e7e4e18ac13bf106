"""Drawings of the documentation, as SVG: `docs/generated.py` writes them into docs/images."""

import biaslab  # noqa: F401, I001  (pins the processor before numpy is loaded)

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

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
from biaslab.core.plotting import (
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PALE_GREY,
    SKY,
    VERMILLION,
    YELLOW,
)
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
_VERDICTS = {
    "reproduced": (BLUE, (RESULT,)),
    "reproduced, with a caveat": (SKY, (CONVENTION, QUIRK, GIVEN)),
    "in direction only": (GREEN, (DIRECTION_ONLY,)),
    "not reproduced": (VERMILLION, (NOT_REPRODUCED,)),
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
    return _svg(_LEFT + _BAR + 20, y, "What of each paper is reproduced", parts)


def _bar(y: float, row: Mapping) -> list[str]:
    x, parts = float(_LEFT), []
    for colour, columns in _VERDICTS.values():
        n = sum(row[column] for column in columns)
        width = _BAR * n / row["printed"]
        parts += [_box(x, y, width, _ROW - 4, colour, GREY)] if n else []
        if width > _LEAST:
            white = ' fill-opacity="1" style="fill:#fff"' if colour in (BLUE, GREEN, VERMILLION) else ""
            parts.append(_text(x + width / 2, y + 13, str(n), f'{_MIDDLE} font-size="12"{white}'))
        x += width
    return parts


_ROOMS = {
    "cli": "commands for people",
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
        "Who asks": [
            ("workflow/rules", "what depends on what", ""),
            ("a person", "with a question", ""),
        ],
        "How": [("biaslab step", "a function of the science", ""), ("cli", _ROOMS["cli"], PALE_GREY)],
        "Areas: one paper each, and none imports another": [(area, "", SKY) for area in AREAS],
        "Libraries, which know no paper, and what serves all papers alike": [
            *((library, "", YELLOW) for library in libraries),
            *((room, _ROOMS[room], PALE_GREY) for room in ("run", "audit")),
        ],
        "Below all": [("core", _ROOMS["core"], PALE_GREY)],
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
