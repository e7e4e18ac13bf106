"""Print the results of the commands ``train`` and ``explain``; write pages and figures of explanations.

Blue phrases lower the score of the positive class, red phrases raise it. One scale serves all explanations.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from biaslab.core.files import render, write_text
from biaslab.core.tables import text_columns
from biaslab.hate_speech.hierarchy import Explained, Phrase, collapse, colours, scale_of
from biaslab.run.commands.terminal import page_console, plain_table

if TYPE_CHECKING:
    from rich.console import Console

    from biaslab.hate_speech.contexts import ContextSettings
    from biaslab.hate_speech.own_training import Trained

TEMPLATE = Path(__file__).parent / "hierarchy.html.j2"

Mask = Callable[[str], str]


def show_explanations(
    sentences: Sequence[Explained], contexts: "ContextSettings", identifiers: Collection[str], mask: Mask
) -> None:
    """Print the hierarchies of sentences on one scale of colours, and the importance of each phrase."""
    page = page_console()
    scale = scale_of(sentences)
    page.print(
        f"Importance φ by {_name_explanation(contexts)}. Red speaks for the positive class, blue against it;"
        f" the strongest colour is {scale:.3f}"
    )
    for explained in sentences:
        page.print()
        masked = explained.masked(mask)
        page.print(to_terminal(masked, scale), crop=False)
        for level, phrases in enumerate(collapse(explained.levels)):  # readable without colours
            named = [(" ".join(masked.words[start:end]), phi) for start, end, phi in phrases]
            page.print(Text(f"{f'level {level}' if level else 'words'}: {_list_phrases(named)}", style="dim"))
        terms = [
            (masked.words[start], phi)
            for start, _, phi in explained.levels[0]
            if explained.words[start] in identifiers
        ]
        if terms:
            page.print(Text(f"identifiers: {_list_phrases(terms)}"))
        for limit in explained.limits:
            page.print(limit)


def write_explanations(
    stem: Path, sentences: Sequence[Explained], contexts: "ContextSettings", mask: Mask
) -> None:
    """Write the hierarchies as a figure (.svg, .pdf, .png), a page (.html) and numbers (.tsv)."""
    from biaslab.hate_speech.report.hierarchies import build_panels, draw_panels

    methods = ["soc" if contexts.radius else "oc"] * len(sentences)
    draw_panels(build_panels("own", methods, sentences, mask), stem)
    masked = [explained.masked(mask) for explained in sentences]
    write_text(f"{stem}.html", to_html(masked, f"Importance by {_name_explanation(contexts)}"))


def show_training(page: "Console", trained: "Trained", out: Path) -> None:
    """Print the texts of a training, how much of them was read, the folder, and the validations."""
    description = trained.description
    for name, counts in description["texts"].items():
        suffix = f", {counts['n_with_identifier']:,} with an identifier" if description["identifiers"] else ""
        page.print(f"{name}: {counts['n']:,} texts, {counts['n_positive']:,} of them positive{suffix}")
    page.print(trained.lengths.sentence())
    page.print(f"{description['method']}: in {out}" + (", finished before" if trained.was_there else ""))
    if not trained.history["is_best"].any():
        page.print("No validation classified a positive text correctly: train longer, or with more texts.")
    named = trained.history.assign(best=trained.history["is_best"].map({True: "best", False: ""}))
    head = {"Step": "{step:,}", "Epoch": "{epoch}", "Loss": "{loss:.4f}", "Regularizer": "{regularizer:.4f}"}
    head |= {name.title(): f"{{{name}:.1%}}" for name in ("precision", "recall")}
    cells = text_columns(named, head | {"F1": "{f1:.1%}", "": "{best}"})
    page.print()
    page.print(Text("Validations", style="bold"))
    page.print(plain_table(list(cells.columns), cells.to_numpy().tolist(), range(1, cells.shape[1])))


def to_terminal(explained: Explained, scale: float | None = None, width: int = 100) -> Text:
    """Return the explanation as rich text: a line a level, words aligned, in blocks of at most `width`."""
    scale = scale or scale_of([explained])
    starts = [0]
    for word in explained.words:
        starts.append(starts[-1] + cell_len(word) + 3)  # a space on each side and one between cells
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
    """Return an HTML page with explanations on one scale; text is escaped, and the page loads no files."""
    scale, tables = scale_of(explained), []
    for explanation in explained:
        rows = [_cells(level, explanation.words, scale) for level in explanation.rows()]
        rows[-1][0]["label"] = f"s(x) = {explanation.score:+.2f}"
        tables.append(rows)
    legend = [colours(step / 10 * scale, scale)[0] for step in range(-10, 11)]
    return render(TEMPLATE, heading=heading, tables=tables, scale=scale, legend=legend)


def _name_explanation(contexts: "ContextSettings") -> str:
    if not contexts.radius:
        return "occlusion (OC)"
    n, radius = contexts.samples, contexts.radius
    return f"sampling and occlusion (SOC, {n} contexts, {radius} word pieces on each side)"


def _list_phrases(phrases: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{words} {phi:+.3f}" for words, phi in phrases)


def _cells(level: Sequence[Phrase], words: Sequence[str], scale: float) -> list[dict]:
    """Return the cells of a row of a table, including the empty cells between phrases."""
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
    """Return the columns [begin, end) of blocks that fit, each with at least one entire word."""
    blocks, begin = [], 0
    for start, end in pairwise(starts):
        if end - 1 - begin > width and start > begin:
            blocks.append((begin, start))
            begin = start
    return [*blocks, (begin, starts[-1])]


def _style(phi: float, scale: float) -> str:
    background, text = colours(phi, scale)
    return f"{text} on {background}"
