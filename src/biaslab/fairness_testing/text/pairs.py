"""Discriminatory pairs of texts in words, and their file."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from biaslab.core.files import write_text

IN_DATA, GLOBAL, LOCAL = PHASES = ("data", "global", "local")
"""How a pair was found: a text of the data as it is, or by one of the two phases of the search."""


@dataclass(frozen=True)
class Pair:
    """A text and its partner, to which the classifier gives another label."""

    feature: str
    row: int  # the text of the data that the search started from, from 0
    phase: str  # of `PHASES`
    seed: list[str]  # the words of that text; as many as text and partner have
    text: list[str]
    partner: list[str]
    replaced: str  # the sensitive word of the text
    value: str  # which one the partner has in its place
    labels: list[int]  # of the text and of the partner, 0 or 1
    probabilities: list[float]  # of label 1, for both

    @property
    def changed(self) -> list[int]:
        """Positions at which the text differs from the one of the data, from 0."""
        return [i for i, words in enumerate(zip(self.seed, self.text, strict=True)) if words[0] != words[1]]

    @property
    def exchanged(self) -> list[int]:
        """Positions at which the partner differs from the text, from 0."""
        return [
            i for i, words in enumerate(zip(self.text, self.partner, strict=True)) if words[0] != words[1]
        ]


def write_pairs(path: str | os.PathLike, pairs: Iterable[Pair]) -> None:
    """Write one JSON object a line: a `Pair` and its ``changed`` positions; no word is masked here."""
    lines = (json.dumps({**asdict(pair), "changed": pair.changed}, ensure_ascii=False) for pair in pairs)
    write_text(path, "".join(f"{line}\n" for line in lines))
