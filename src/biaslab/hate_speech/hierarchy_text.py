"""Hierarchical explanations as coloured text: in the terminal, and as HTML that needs no other file.

Blue phrases speak against the positive class, red ones for it; one scale serves all that is shown together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from rich.cells import cell_len
from rich.text import Text

from biaslab.core.files import render
from biaslab.hate_speech.hierarchy import Hierarchy, Phrase, collapse

TEMPLATE = Path(__file__).parent / "hierarchy.html.j2"

Colours = tuple[str, str]
"""Background and text, each as ``#rrggbb``."""


@dataclass(frozen=True)
class Explained:
    """A sentence with its explanation by one classifier."""

    words: list[str]  # as they are shown: mask them before
    hierarchy: Hierarchy
    score: float  # s(x), positive when the sentence is classified as positive

    def rows(self) -> list[list[Phrase]]:
        """Return the phrases line by line: the words, each height of the tree, and the sentence with s(x)."""
        return [*collapse(self.hierarchy.levels), [(0, len(self.words), self.score)]]


def scale_of(explained: Sequence[Explained]) -> float:
    """Return the greatest absolute importance of a phrase, 1 when all are 0: where the colours end."""
    values = [abs(phi) for one in explained for level in one.hierarchy.levels for *_, phi in level]
    return max(values, default=0) or 1.0


def colours(phi: float, scale: float) -> Colours:
    """Return the colours of a phrase: blue for -scale, grey for 0, red for scale, and a legible text."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    colour = colormaps["coolwarm"](0.5 + 0.5 * min(max(phi / scale, -1), 1))
    red, green, blue, _ = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in colour
    )
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue  # WCAG 2, as is the bound of equal contrast
    return to_hex(colour), "#000000" if luminance > 0.179 else "#ffffff"


def to_terminal(explained: Explained, scale: float | None = None, width: int = 100) -> Text:
    """Return the explanation for rich's console, a line a level; a word stands below itself.

    A sentence longer than `width` goes on in a block below.
    """
    scale = scale or scale_of([explained])
    starts = [0]
    for word in explained.words:
        starts.append(starts[-1] + cell_len(word) + 3)  # a blank on either side, and one between cells
    *levels, _ = explained.rows()
    lines = [_line(level, explained.words, starts, scale) for level in levels]
    text = Text(no_wrap=True, overflow="ignore")
    for begin, end in _blocks(starts, width):
        for line in lines:
            part = line[begin:end]
            part.rstrip()
            text.append_text(part).append("\n")
    text.append(f" s(x) = {explained.score:+.2f} ", _style(explained.score, scale))
    return text


def to_html(explained: Sequence[Explained], heading: str) -> str:
    """Return a page with explanations on one scale; all text is escaped, nothing is fetched."""
    scale = scale_of(explained)
    tables = [_table(one, scale) for one in explained]
    legend = [colours(step / 10 * scale, scale)[0] for step in range(-10, 11)]
    return render(TEMPLATE, heading=heading, tables=tables, scale=scale, legend=legend)


def _table(explained: Explained, scale: float) -> list[list[dict]]:
    """Return the cells of a table row by row, empty ones between the phrases among them."""
    *levels, sentence = explained.rows()
    rows = [_cells(level, explained.words, scale) for level in levels]
    last = _cells(sentence, explained.words, scale)
    last[0]["label"] = f"s(x) = {explained.score:+.2f}"
    return [*rows, last]


def _cells(level: Sequence[Phrase], words: Sequence[str], scale: float) -> list[dict]:
    cells, column = [], 0
    for start, end, phi in [*level, (len(words), len(words), 0.0)]:
        if start > column:
            cells.append({"width": start - column, "label": ""})
        if end > start:
            background, text = colours(phi, scale)
            label = " ".join(words[start:end])
            cells.append(
                {"width": end - start, "label": label, "phi": phi, "background": background, "colour": text}
            )
        column = end
    return cells


def _line(level: Sequence[Phrase], words: Sequence[str], starts: Sequence[int], scale: float) -> Text:
    line = Text()
    for start, end, phi in level:
        line.append(" " * (starts[start] - line.cell_len))
        line.append(f" {'   '.join(words[start:end])} ", _style(phi, scale))
    return line


def _blocks(starts: Sequence[int], width: int) -> list[tuple[int, int]]:
    """Return columns [begin, end) of blocks of whole words that fit, each of one word at least."""
    blocks, begin = [], 0
    for start, end in pairwise(starts):
        if end - 1 - begin > width and start > begin:
            blocks.append((begin, start))
            begin = start
    return [*blocks, (begin, starts[-1])]


def _style(phi: float, scale: float) -> str:
    background, text = colours(phi, scale)
    return f"{text} on {background}"
