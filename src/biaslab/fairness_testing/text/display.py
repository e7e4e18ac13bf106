"""Discriminatory pairs with what was changed in them marked: in the terminal, and as HTML.

Colours are never alone: in the terminal brackets tell the same, on the page underlining does.
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
"""A word that the search put in place of another; the sensitive word in which text and partner differ."""

_BRACKETS = {"": ("", ""), SUBSTITUTED: ("[", "]"), EXCHANGED: ("<", ">")}
_STYLES = {"": "", SUBSTITUTED: "bold cyan", EXCHANGED: "bold magenta"}

Mask = Callable[[str], str]


@dataclass(frozen=True)
class Mark:
    """A word as it is shown, and why it is marked: `SUBSTITUTED`, `EXCHANGED`, or "" where it is not."""

    word: str
    kind: str = ""


@dataclass(frozen=True)
class Line:
    """A text as it is shown."""

    name: str  # what it is: a row of the data (from 1), the text that was found, or its partner
    words: list[Mark]
    label: int | None = None  # what the classifier calls it; None for the text of the data, which was changed
    probability: float | None = None  # of label 1

    @property
    def answer(self) -> str:
        """The label in words; "" where it is not told."""
        return "" if self.label is None else f"label {self.label} (p = {self.probability:.3f})"


def lines_of(pair: Pair, mask: Mask = str) -> list[Line]:
    """Return a pair line by line: the text of the data where it was changed, the text found, its partner."""
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
    """Return a pair for rich's console, a line each of `lines_of`."""
    shown = Text()
    for line in lines_of(pair, mask):
        shown.append(f"  {line.name:<10}", "dim")
        for number, mark in enumerate(line.words):
            opening, closing = _BRACKETS[mark.kind]
            shown.append(" " if number else "")
            shown.append(f"{opening}{mark.word}{closing}", _STYLES[mark.kind])
        shown.append(f"  {line.answer}\n" if line.answer else "\n", "dim")
    shown.right_crop(1)
    return shown


def legend() -> Text:
    """Return what the marks in the terminal mean."""
    return Text.assemble(
        ("<sensitive word>", _STYLES[EXCHANGED]),
        " exchanged between a text and its partner;  ",
        ("[word]", _STYLES[SUBSTITUTED]),
        " put in place of another",
    )


def first_of_each_seed(pairs: Sequence[Pair]) -> list[Pair]:
    """Return pairs to look at, one a text of the data: as it is, else a global find, else a local one."""
    seen: set[tuple[str, int]] = set()
    first = []
    for pair in sorted(pairs, key=lambda pair: PHASES.index(pair.phase)):
        if (pair.feature, pair.row) not in seen:
            seen.add((pair.feature, pair.row))
            first.append(pair)
    return first


def to_html(title: str, sections: Sequence[Mapping[str, Any]], mask: Mask = str) -> str:
    """Return a page that needs no other file.

    A section has the ``feature``, ``facts`` (names and what was found), ``terms`` (rows with term, n_texts,
    n_flips, share, ci_low and ci_high; the terms are masked), ``pairs``, and ``n_more``, the number of pairs
    that were found and are not shown.
    """
    shown = [
        {**section, "pairs": [lines_of(pair, mask) for pair in section["pairs"]]} for section in sections
    ]
    return render(TEMPLATE, title=title, sections=shown)


def _marked(words: Sequence[str], kinds: dict[int, str], mask: Mask) -> list[Mark]:
    return [Mark(mask(word), kinds.get(i, "")) for i, word in enumerate(words)]
