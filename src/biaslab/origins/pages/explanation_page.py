"""What ``biaslab origins explain`` prints: tables on a terminal, plain text in a pipe."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from biaslab.bias.word_sets import WordSets
from biaslab.origins.pages.explanation import Document, Explanation
from biaslab.run.terminal import plain_console, plain_table

N_PAIRS = 15
"""Co-occurrences to print."""


def show(document: Document, setup: str, parts: Iterable[tuple[WordSets, float, Explanation]]) -> None:
    """Print what a document contributes to the bias of each test."""
    console = plain_console()
    console.print(Text(document.title, style="bold"))
    console.print(f"document {document.id} of setup {setup}, {len(document.tokens)} tokens in the vocabulary")
    for word_sets, baseline, explanation in parts:
        console.print()
        console.print(Text(f"{word_sets.name}: {word_sets.title}", style="bold"))
        console.print(
            f"mean effect size of the baselines {baseline:.3f};"
            " a positive ΔB raises it: removing the document lowers it"
        )
        for table in (_scores(explanation), _words(explanation), _pairs(explanation)):
            console.print()
            console.print(table)


def _scores(explanation: Explanation) -> Table:
    rows = [
        (s.estimator, _signed(s.mean), f"± {s.sd:.5f}", f"{s.rank} of {s.n_documents}")
        for s in explanation.scores.itertuples()
    ]
    return _table(["Estimator", "ΔB", "sd", "Rank (1 = raises it most)"], rows, numbers=(1, 2, 3))


def _words(explanation: Explanation) -> Table:
    rows = [(w["word"], w["set"], str(w["count"])) for w in explanation.words.to_dict("records")]
    return _table(["Word of the test", "Set", "Occurrences"], rows, numbers=(2,))


def _pairs(explanation: Explanation) -> Table:
    rows = [
        (p.word, p.context, f"{p.x:.2f}", _signed(p.contribution), f"± {p.contribution_sd:.5f}")
        for p in explanation.pairs.head(N_PAIRS).itertuples()
    ]
    headers = ["Strongest co-occurrences", "Context", "Adds to X", "Contribution", "sd"]
    return _table(headers, rows, numbers=(2, 3, 4))


def _table(headers: list[str], rows: list[tuple[str, ...]], numbers: tuple[int, ...]) -> Table:
    nothing = ("none", *[""] * (len(headers) - 1))
    return plain_table(headers, rows or [nothing], numbers, _style)


def _signed(number: float) -> str:
    return f"{number:+.5f}"


def _style(cell: str) -> str:
    """Colour what raises the bias and what lowers it, as the pages do."""
    return {"+": "dark_orange3", "-": "blue"}.get(cell[:1], "") if cell[1:2].isdigit() else ""
