"""The columns of an area's tables, each said once with its meaning: in ``columns.tsv`` of its package.

Writers and readers take the names from there, results/README.md the meanings. No digest of code covers the
file: to reword a meaning reruns nothing, and a table with other columns is refused where it is read.
"""

import re
from pathlib import Path

from biaslab.core.files import read_text_table

_NAMES = re.compile(r"\w+(, \w+)*")


def said(package: str) -> dict[str, dict[str, str]]:
    """Return the meanings of columns, by the files that have them and by the columns, as they are written."""
    folder = Path(__file__).parents[1].joinpath(*package.split("."))
    meanings: dict[str, dict[str, str]] = {}
    for _, row in read_text_table(folder / "columns.tsv", ("file", "columns", "meaning")):
        meanings.setdefault(row["file"], {})[row["columns"]] = row["meaning"]
    return meanings


def columns_of(package: str) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table of an area, in their order, by the table's name without suffix.

    Left out is what not every such table has: names in backticks, and those that stand for several (TEST).
    """
    found = {}
    for files, groups in said(package).items():
        names = [name for group in groups if _NAMES.fullmatch(group) for name in group.split(", ")]
        for file in files.split(", "):
            if re.fullmatch(r"\w+\.(tsv|parquet)", file):
                found[file.partition(".")[0]] = tuple(name for name in names if "TEST" not in name)
    return found
