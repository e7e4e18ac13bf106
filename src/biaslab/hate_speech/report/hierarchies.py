"""Draw hierarchical explanations before and after regularization (Kennedy et al. 2020, Figures 3 to 5)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core import plotting as plot
from biaslab.core.errors import InputError
from biaslab.core.files import read_json_rows
from biaslab.hate_speech.hierarchy import Explained, colours, scale_of
from biaslab.hate_speech.methods import REGULARIZED
from biaslab.hate_speech.report.results import ENCODERS, title
from biaslab.run.area import figure
from biaslab.run.plan.reports import Results
from biaslab.text.masking import masker

FILE = "hierarchies.json"
_KEYS = ("sentence", "method", "score", "levels")
_ROW, _TITLE, _SCALE, _BAR = 0.18, 0.3, 0.62, 0.07  # heights in inches
_ROOM = 72 * (plot.DOUBLE_COLUMN - 0.6)  # width next to the row labels, in points
_FONT = 6.5  # greatest size of the words, in points
_PADDING, _GAP = 0.45, 0.35  # inside and between words, in sizes of the font


@dataclass(frozen=True)
class _Panel:
    """The explanation of one sentence by one method; sentences are numbered from 1 in each corpus."""

    corpus: str
    number: int
    method: str
    explained: Explained


@figure("figure3_hierarchies", "Figures 3 to 5: hierarchical explanations", "hierarchies.json", of=ENCODERS)
def draw_hierarchies(units: Sequence[Results], stem: Path) -> None:
    """Draw the phrases of each sentence coloured by importance, one panel a method and one row a level."""
    draw_panels([panel for unit in units for panel in _read(unit)], stem)


def draw_panels(panels: Sequence[_Panel], stem: Path) -> None:
    """Draw panels on one scale, and write their data."""
    if not panels:
        raise InputError(f"{FILE}: no sentence is explained; name at least one in the configuration")
    scale = scale_of([panel.explained for panel in panels])
    has_several_corpora = len({panel.corpus for panel in panels}) > 1
    heights = [_TITLE + _ROW * len(panel.explained.rows()) for panel in panels]
    with plot.figure(plot.DOUBLE_COLUMN, sum(heights) + _SCALE) as fig:
        axes = fig.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for ax, panel in zip(axes, panels, strict=True):
            _draw_tree(ax, panel.explained, scale)
            place = f"{panel.corpus}, sentence" if has_several_corpora else "Sentence"
            name = panel.method  # "oc" or "soc" for a user's classifier
            ax.set_title(f"{place} {panel.number}: {name.upper() if name in REGULARIZED else title(name)}")
        _add_scale(fig, axes, scale, any(abs(panel.explained.score) > scale for panel in panels))
        plot.save_with_data(fig, stem, pd.concat([_data(panel) for panel in panels], ignore_index=True))


def _read(unit: Results) -> list[_Panel]:
    rows = read_json_rows(unit.folder / FILE, _KEYS, "explanations")
    explained = [Explained(row["sentence"], row["levels"], float(row["score"])) for row in rows]
    mask = masker(None if unit.option("unmask") else unit.file("masked_words"))
    return build_panels(unit.name, [row["method"] for row in rows], explained, mask)


def build_panels(
    corpus: str, methods: Sequence[str], explained: Sequence[Explained], mask: Callable[[str], str]
) -> list[_Panel]:
    """Return the panels of explanations and their methods, grouped by sentence."""
    numbers: dict[tuple[str, ...], int] = {}
    panels = []
    for method, sentence in zip(methods, explained, strict=True):
        number = numbers.setdefault(tuple(sentence.words), len(numbers) + 1)
        panels.append(_Panel(corpus, number, method, sentence.masked(mask)))
    return sorted(panels, key=lambda panel: panel.number)


def _data(panel: _Panel) -> pd.DataFrame:
    """Return the data of a panel; the last level is the sentence with s(x)."""
    words = panel.explained.words
    rows = [
        (panel.corpus, panel.number, panel.method, level, start, end, " ".join(words[start:end]), phi)
        for level, phrases in enumerate(panel.explained.rows())
        for start, end, phi in phrases
    ]
    return pd.DataFrame(
        rows, columns=["corpus", "sentence", "method", "level", "start", "end", "words", "phi"]
    )


def _edges(words: Sequence[str]) -> list[tuple[float, float]]:
    """Return the left and right edge of each word's cell, in multiples of the font size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family="DejaVu Sans", size=100)
    edges, begin = [], 0.0
    for word in words:
        width, *_ = text_to_path.get_text_width_height_descent(word, font, ismath=False)
        edges.append((begin, begin + width / 100 + 2 * _PADDING))
        begin = edges[-1][1] + _GAP
    return edges


def _draw_tree(ax: plot.Axes, explained: Explained, scale: float) -> None:
    """Draw the rows of a sentence in the largest font with which it fits; x is in points."""
    from matplotlib.patches import Rectangle

    edges = _edges(explained.words)
    size = min(_FONT, _ROOM / edges[-1][1])
    edges = [(size * a, size * b) for a, b in edges]
    *levels, sentence = explained.rows()

    def box(row: int, phrase: tuple[int, int, float]) -> str:
        start, end, phi = phrase
        background, text = colours(phi, scale)
        left, right = edges[start][0], edges[end - 1][1]
        line = {"edgecolor": plot.BLACK, "linewidth": 0.5}
        ax.add_patch(Rectangle((left, row - 0.42), right - left, 0.84, facecolor=background, **line))
        return text

    for row, level in enumerate(levels):
        for phrase in level:
            colour = box(row, phrase)
            for word in range(*phrase[:2]):
                _write(ax, sum(edges[word]) / 2, row, explained.words[word], colour, size)
    colour = box(len(levels), sentence[0])
    text = f"s(x) = {explained.score:+.2f}".replace("-", "\N{MINUS SIGN}")
    _write(ax, edges[-1][1] / 2, len(levels), text, colour, size)
    ax.set_xlim(-1, _ROOM + 1)
    ax.set_ylim(len(levels) + 0.5, -0.5)
    names = ["words", *(f"level {row}" for row in range(1, len(levels))), "sentence"]
    ax.set_yticks(range(len(names)), names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.hlines(np.arange(1, len(names)) - 0.5, 0, edges[-1][1], color=plot.LIGHT_GREY, linewidth=0.3, zorder=0)


def _write(ax: plot.Axes, x: float, row: int, text: str, colour: str, size: float) -> None:
    ax.text(x, row, text, color=colour, fontsize=size, ha="center", va="center_baseline", parse_math=False)


def _add_scale(fig: plot.Figure, axes: np.ndarray, scale: float, is_exceeded: bool) -> None:
    """Add the colour bar, with pointed ends if scores of sentences exceed the scale."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    bar = fig.colorbar(
        ScalarMappable(Normalize(-scale, scale), "coolwarm"),
        ax=list(axes),
        location="bottom",
        fraction=_BAR / fig.get_figheight(),
        pad=2 * _BAR / fig.get_figheight(),
        shrink=0.5,
        aspect=0.5 * plot.DOUBLE_COLUMN / _BAR,
        extend="both" if is_exceeded else "neither",
        format=lambda phi, _: f"{phi:g}".replace("-", "−"),
    )
    bar.set_label("Importance φ of a word or phrase (difference of logits), s(x) of a sentence")
    bar.outline.set_linewidth(0.4)
