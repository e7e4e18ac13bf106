"""Discriminatory pairs with changed words marked, in the terminal and as HTML.

Colours are never the only mark: the terminal also shows brackets, the page also underlines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.text import Text

from biaslab.core.files import render
from biaslab.fairness_testing.text.campaign import IN_DATA, PHASES, Pair

TEMPLATE = Path(__file__).parent / "found_pairs.html.j2"

SUBSTITUTED, EXCHANGED = "substituted", "exchanged"
"""A word that the search substituted; the sensitive word in which text and partner differ."""

_BRACKETS = {"": ("", ""), SUBSTITUTED: ("[", "]"), EXCHANGED: ("<", ">")}
_STYLES = {"": "", SUBSTITUTED: "bold cyan", EXCHANGED: "bold magenta"}

Mask = Callable[[str], str]


@dataclass(frozen=True)
class Mark:
    """A displayed word and its mark: `SUBSTITUTED`, `EXCHANGED`, or "" for none."""

    word: str
    kind: str = ""


@dataclass(frozen=True)
class Line:
    """A displayed text."""

    name: str  # its role: a row of the data (from 1), the found text, or its partner
    words: list[Mark]
    label: int | None = None  # of the classifier; None for the original text of the data
    probability: float | None = None  # of label 1

    @property
    def answer(self) -> str:
        """The label as a text; "" if there is none."""
        return "" if self.label is None else f"label {self.label} (p = {self.probability:.3f})"


def lines_of(pair: Pair, mask: Mask = str) -> list[Line]:
    """Return a pair line by line: the original text if it was changed, the found text, and its partner."""
    substituted = dict.fromkeys(pair.changed, SUBSTITUTED)
    kinds = substituted | dict.fromkeys(pair.exchanged, EXCHANGED)
    row = f"row {pair.row}"
    lines = [] if pair.phase == IN_DATA else [Line(row, _marked(pair.seed, substituted, mask))]
    names = (row if pair.phase == IN_DATA else "found", "partner")
    for name, words, label, p in zip(
        names, (pair.text, pair.partner), pair.labels, pair.probabilities, strict=True
    ):
        lines.append(Line(name, _marked(words, kinds, mask), label, p))
    return lines


def to_terminal(pair: Pair, mask: Mask = str) -> Text:
    """Return a pair for rich's console, one line per `lines_of`."""
    text = Text()
    for line in lines_of(pair, mask):
        text.append(f"  {line.name:<10}", "dim")
        for number, mark in enumerate(line.words):
            opening, closing = _BRACKETS[mark.kind]
            text.append(" " if number else "")
            text.append(f"{opening}{mark.word}{closing}", _STYLES[mark.kind])
        text.append(f"  {line.answer}\n" if line.answer else "\n", "dim")
    text.right_crop(1)
    return text


def legend() -> Text:
    """Return the legend of the marks in the terminal."""
    return Text.assemble(
        ("<sensitive word>", _STYLES[EXCHANGED]),
        " exchanged between a text and its partner;  ",
        ("[word]", _STYLES[SUBSTITUTED]),
        " put in place of another",
    )


def first_of_each_seed(pairs: Sequence[Pair]) -> list[Pair]:
    """Return one pair per text of the data: the text itself, else a global find, else a local find."""
    seen: set[tuple[str, int]] = set()
    first = []
    for pair in sorted(pairs, key=lambda pair: PHASES.index(pair.phase)):
        if (pair.feature, pair.row) not in seen:
            seen.add((pair.feature, pair.row))
            first.append(pair)
    return first


def to_html(title: str, sections: Sequence[Mapping[str, Any]], mask: Mask = str) -> str:
    """Return a self-contained page.

    A section has the ``feature``, ``facts`` (names and texts), ``terms`` (rows with term, n_texts, n_flips,
    share, ci_low and ci_high; the terms are masked), ``pairs``, and ``n_more``, the number of found pairs
    that are not shown.
    """
    shown = [
        {**section, "pairs": [lines_of(pair, mask) for pair in section["pairs"]]} for section in sections
    ]
    return render(TEMPLATE, title=title, sections=shown)


def _marked(words: Sequence[str], kinds: dict[int, str], mask: Mask) -> list[Mark]:
    return [Mark(mask(word), kinds.get(i, "")) for i, word in enumerate(words)]
