"""The columns of tables and their meanings, from the ``columns.tsv`` in the folder of the code.

Writers and readers take the names from this file, results/README.md takes the meanings. The file counts as
code (`biaslab.run.record.code`): an edit reruns the steps of the area.
"""

import re
from pathlib import Path

from biaslab.core.files import read_text_table

FILE = "columns.tsv"
_NAMES = re.compile(r"\w+(, \w+)*")
_TABLE = re.compile(r"([\w/-]+)\.(tsv|parquet)")


def said(package: str) -> dict[str, dict[str, str]]:
    """Return the meanings in a package's ``columns.tsv``, by file and by column, as written there."""
    return _meanings(Path(__file__).parents[1].joinpath(*package.split("."), FILE))


def columns_of(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the columns of each table of a ``columns.tsv``, in order, by the table's name without suffix.

    Names in backticks and names that stand for several (TEST) are left out: not every table has them.
    """
    columns = {}
    for files, groups in _meanings(path).items():
        names = [name for group in groups if _NAMES.fullmatch(group) for name in group.split(", ")]
        tables = (_TABLE.fullmatch(file) for file in files.split(", "))
        fixed = tuple(name for name in names if "TEST" not in name)
        columns |= {table[1]: fixed for table in tables if table and names}
    return columns


def _meanings(path: Path) -> dict[str, dict[str, str]]:
    meanings: dict[str, dict[str, str]] = {}
    for _, row in read_text_table(path, ("file", "columns", "meaning")):
        meanings.setdefault(row["file"], {})[row["columns"]] = row["meaning"]
    return meanings
