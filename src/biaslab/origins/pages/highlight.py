"""Show the contribution of a document to a bias: on a page with coloured tokens, and on a terminal."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from rich.text import Text

from biaslab.bias.word_sets import read_word_sets
from biaslab.core.files import render, write_text
from biaslab.core.io import read_tsv, write_parquet, write_tsv
from biaslab.origins.attribution.scanner import read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.checks import bias_gradient
from biaslab.origins.pages.explanation import Corpus, Document, Explanation, explain, extremes
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import LOWERS, RAISES
from biaslab.run.area import Unit
from biaslab.run.commands.terminal import plain_console, plain_table

TEMPLATE = Path(__file__).parent / "context.html.j2"

LEVELS = 5  # number of shades of each colour
N_PAIRS = 20  # number of co-occurrences on a page
N_PRINTED = 15  # number of co-occurrences on a terminal


class Token(NamedTuple):
    """A token as text for a page."""

    text: str
    level: str  # colour class: up1 to up5, down1 to down5, or empty
    contribution: str
    sets: str  # names of the test sets that contain the token


def estimate_gradient(
    setup: str,
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    documents: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    pairs: Path,
    strongest: Path,
    of_documents: Path,
    threads: int = 1,
) -> None:
    """Write the contribution of every co-occurrence to a bias, of the strongest, and of those on pages."""
    files = cooccurrence, corpus, vocabulary
    scanner, (test,) = read_scanner(embeddings, *files, word_sets, influence, threads)
    gradients = bias_gradient.pair_table(scanner, test)
    write_parquet(pairs, gradients)
    write_tsv(strongest, bias_gradient.strongest(gradients))
    write_gradients(setup, documents.parent, test.name, gradients, of_documents)


def write_gradients(setup: str, folder: Path, test: str, gradients: pd.DataFrame, out: Path) -> None:
    """Write the gradients of the co-occurrences in the documents that raise and lower a bias most.

    Pages need only these few gradients. Therefore a run can reuse an archived run without its large table of
    all gradients.
    """
    corpus = Corpus(Setup(Unit(setup), folder))
    numbers = extremes(corpus.setup, test).values()
    tokens = {token for number in numbers for token in corpus.document(number).tokens}
    is_needed = gradients["word"].isin(tokens) & gradients["context"].isin(tokens)
    write_tsv(out, gradients.loc[is_needed, ["word", "context", "gradient_mean", "gradient_sd"]])


def write_extremes(
    setup: str, folder: Path, word_sets: list[Path], gradients: Path, raises: Path, lowers: Path
) -> None:
    """Write pages of the documents that raise and lower a bias most; `folder` contains a setup's results."""
    test = read_word_sets(word_sets[0])
    corpus = Corpus(Setup(Unit(setup), folder))
    pairs = read_tsv(gradients, text=("word", "context"))
    for effect, number in extremes(corpus.setup, test.name).items():
        document = corpus.document(number)
        page = {RAISES: raises, LOWERS: lowers}[effect]
        write_page(page, setup, document, [explain(corpus, document, test, pairs)])


def write_page(path: str | os.PathLike, setup: str, document: Document, parts: Sequence[Explanation]) -> None:
    """Write the page of a document, a part for each test; the same results give the same bytes."""
    sections = [
        {
            "test": explanation.test,
            "baseline": typeset(explanation.baseline),
            "scores": explanation.scores.to_dict("records"),
            "words": explanation.words.to_dict("records"),
            "pairs": explanation.pairs.head(N_PAIRS).to_dict("records"),
            "total": typeset(float(explanation.by_token.sum())),
            "tokens": shown_tokens(document.tokens, explanation),
            "largest": typeset(float(np.abs(explanation.by_token).max(initial=0))).lstrip("+"),
        }
        for explanation in parts
    ]
    page = render(TEMPLATE, setup=setup, document=document, sections=sections, levels=LEVELS, typeset=typeset)
    write_text(path, page)


def shown_tokens(tokens: Sequence[str], explanation: Explanation) -> list[Token]:
    """Return each token with its colour class, its contribution, and the test sets that contain it."""
    by_token, sets = explanation.by_token, {}
    for name, words in explanation.test.sets.items():
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
    """Format a number with three digits, its sign and a typographic minus."""
    return f"{number:+.3g}".replace("-", "−")


def print_document(document: Document, setup: str, parts: Iterable[Explanation]) -> None:
    """Print the contribution of a document to the bias of each test: tables on a terminal, text in a pipe."""
    console = plain_console()
    console.print(Text(document.title, style="bold"))
    console.print(f"Document {document.id} of setup {setup}, {len(document.tokens)} tokens in the vocabulary")
    for explanation in parts:
        scores = [
            (s.estimator, f"{s.mean:+.5f}", f"± {s.sd:.5f}", f"{s.rank} of {s.n_documents}")
            for s in explanation.scores.itertuples()
        ]
        words = [(w["word"], w["set"], str(w["count"])) for w in explanation.words.to_dict("records")]
        pairs = [
            (p.word, p.context, f"{p.x:.2f}", f"{p.contribution:+.5f}", f"± {p.contribution_sd:.5f}")
            for p in explanation.pairs.head(N_PRINTED).itertuples()
        ]
        console.print()
        console.print(Text(f"{explanation.test.name}: {explanation.test.title}", style="bold"))
        console.print(
            f"Mean effect size of the baselines: {explanation.baseline:.3f}."
            " A document with a positive ΔB raises the effect size."
        )
        for headers, rows, numbers in (
            (["Estimator", "ΔB", "sd", "Rank (1 = raises the bias most)"], scores, (1, 2, 3)),
            (["Word of the test", "Set", "Occurrences"], words, (2,)),
            (["Strongest co-occurrences", "Context", "Adds to X", "Contribution", "sd"], pairs, (2, 3, 4)),
        ):
            empty_row = ("none", *[""] * (len(headers) - 1))
            console.print()
            console.print(plain_table(headers, rows or [empty_row], numbers, _style))


def _style(cell: str) -> str:
    """Return the colour of a number by its effect on the bias, as on pages."""
    return {"+": "dark_orange3", "-": "blue"}.get(cell[:1], "") if cell[1:2].isdigit() else ""
