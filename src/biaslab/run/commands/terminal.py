"""Print tables on a terminal, and plain text in a pipe or file."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text


def plain_console(**options: Any) -> Console:
    """Return a console that prints text verbatim, with options of `rich.console.Console`."""
    return Console(markup=False, emoji=False, highlight=False, **options)


def page_console(width: int = 110) -> Console:
    """Return a console for pages: as wide as the terminal, or `width` without a terminal."""
    console = plain_console()
    if not console.is_terminal:
        console.width = width
    return console


def plain_table(
    headers: Sequence[str],
    rows: Iterable[Sequence[str]],
    numbers: Sequence[int],
    style: Callable[[str], str] = lambda cell: "",
) -> Table:
    """Return a table without lines; columns in `numbers` are right-aligned, `style` is that of a cell."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for k, header in enumerate(headers):
        table.add_column(header, justify="right" if k in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*[Text(cell, style=style(cell)) for cell in row])
    return table
