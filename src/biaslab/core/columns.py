"""The columns of tables, said once with their meanings: in a ``columns.tsv`` beside the code that has them.

Writers and readers take the names from there, results/README.md the meanings. The file counts as code
(`biaslab.run.code`): an edit reruns the steps of the area.
"""

import re
from pathlib import Path

from biaslab.core.files import read_text_table

FILE = "columns.tsv"
_NAMES = re.compile(r"\w+(, \w+)*")
_TABLE = re.compile(r"([\w/-]+)\.(tsv|parquet)")


def said(package: str) -> dict[str, dict[str, str]]:
    """Return the meanings of columns, by the files that have them and by the columns, as they are written."""
    return _meanings(Path(__file__).parents[1].joinpath(*package.split("."), FILE))


def columns_of(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table of a ``columns.tsv``, in order, by the table's name without suffix.

    Left out is what not every such table has: names in backticks, and those that stand for several (TEST).
    """
    found = {}
    for files, groups in _meanings(path).items():
        names = [name for group in groups if _NAMES.fullmatch(group) for name in group.split(", ")]
        tables = (_TABLE.fullmatch(file) for file in files.split(", "))
        found |= {t[1]: tuple(name for name in names if "TEST" not in name) for t in tables if t and names}
    return found


def _meanings(path: Path) -> dict[str, dict[str, str]]:
    meanings: dict[str, dict[str, str]] = {}
    for _, row in read_text_table(path, ("file", "columns", "meaning")):
        meanings.setdefault(row["file"], {})[row["columns"]] = row["meaning"]
    return meanings
