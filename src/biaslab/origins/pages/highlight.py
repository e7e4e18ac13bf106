"""A document as one page that needs nothing else: each token coloured by what it contributes to a bias."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from biaslab.bias.names import LOWERS, RAISES
from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.files import render, write_text
from biaslab.core.io import read_tsv, write_tsv
from biaslab.origins.pages.explanation import (
    Corpus,
    Document,
    Explanation,
    explain,
    extremes,
    read_gradients,
)
from biaslab.origins.report.results import Setup
from biaslab.run.area import Unit

TEMPLATE = Path(__file__).parent / "context.html.j2"

LEVELS = 5
"""Shades of each colour."""

N_PAIRS = 20
"""Co-occurrences that a page lists."""


class Token(NamedTuple):
    """A token, ready to be shown."""

    text: str
    level: str  # class of its colour: up1 to up5, down1 to down5, or empty
    contribution: str
    sets: str  # of the test that it belongs to


def write_gradients(setup: str, folder: Path, word_sets: list[Path], out: Path) -> None:
    """Keep the gradients of the co-occurrences in the documents that raise and lower a bias most.

    From these few the pages are made, also where another run made the gradients, whose table is large.
    """
    test = read_word_sets(word_sets[0])
    corpus = Corpus(Setup(Unit(setup), folder))
    numbers = extremes(corpus.setup, test.name).values()
    tokens = {token for number in numbers for token in corpus.document(number).tokens}
    gradients = read_gradients(corpus.setup, test)
    kept = gradients["word"].isin(tokens) & gradients["context"].isin(tokens)
    write_tsv(out, gradients.loc[kept, ["word", "context", "gradient_mean", "gradient_sd"]])


def write_extremes(
    setup: str, folder: Path, word_sets: list[Path], gradients: Path, raises: Path, lowers: Path
) -> None:
    """Write the documents that raise and lower a bias most as pages, from the folder of a setup's results."""
    test = read_word_sets(word_sets[0])
    corpus = Corpus(Setup(Unit(setup), folder))
    baseline = corpus.setup.baseline_mean(test.name)
    pairs = read_tsv(gradients, text=("word", "context"))
    for effect, number in extremes(corpus.setup, test.name).items():
        document = corpus.document(number)
        part = (test, baseline, explain(corpus, document, test, pairs))
        write_page({RAISES: raises, LOWERS: lowers}[effect], setup, document, [part])


def write_page(
    path: str | os.PathLike,
    setup: str,
    document: Document,
    parts: Sequence[tuple[WordSets, float, Explanation]],
) -> None:
    """Write the page of a document; the same results give the same bytes.

    `parts` are for each test its words, the mean effect size of the baselines, and what the document
    contributes.
    """
    sections = [
        {
            "test": word_sets,
            "baseline": typeset(baseline),
            "scores": explanation.scores.to_dict("records"),
            "words": explanation.words.to_dict("records"),
            "pairs": explanation.pairs.head(N_PAIRS).to_dict("records"),
            "total": typeset(float(explanation.by_token.sum())),
            "tokens": shown_tokens(document.tokens, explanation.by_token, word_sets),
            "largest": typeset(float(np.abs(explanation.by_token).max(initial=0))).lstrip("+"),
        }
        for word_sets, baseline, explanation in parts
    ]
    page = render(TEMPLATE, setup=setup, document=document, sections=sections, levels=LEVELS, typeset=typeset)
    write_text(path, page)


def shown_tokens(tokens: Sequence[str], by_token: np.ndarray, word_sets: WordSets) -> list[Token]:
    """Give each token the class of its colour, its number, and the sets of the test it belongs to."""
    sets: dict[str, list[str]] = {}
    for name, words in word_sets.sets.items():
        for word in words:
            sets.setdefault(word, []).append(name)
    largest = np.abs(by_token).max(initial=0)
    levels = (
        np.ceil(LEVELS * np.abs(by_token) / largest).astype(int) if largest else np.zeros(len(tokens), int)
    )
    return [
        Token(
            word,
            f"{'up' if value > 0 else 'down'}{level}" if value else "",
            typeset(value) if value else "",
            ", ".join(sets.get(word, [])),
        )
        for word, value, level in zip(tokens, by_token.tolist(), levels, strict=True)
    ]


def typeset(number: float) -> str:
    """Write a number with three digits, its sign and a true minus."""
    return f"{number:+.3g}".replace("-", "−")
