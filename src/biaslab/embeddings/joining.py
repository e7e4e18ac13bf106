"""Tables of batches of embeddings, joined."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from biaslab.core.io import read_tsv, write_tsv


def join_tables(
    out: Path, tables: Sequence[Path], columns: Sequence[str], keys: Sequence[str], text: tuple[str, ...]
) -> None:
    """Join tables with the same columns, and sort their rows; no tables give one without rows."""
    parts = [read_tsv(table, tuple(columns), text) for table in tables]
    joined = pd.concat(parts) if parts else pd.DataFrame(columns=list(columns))
    write_tsv(out, joined[list(columns)].sort_values(list(keys), ignore_index=True))
