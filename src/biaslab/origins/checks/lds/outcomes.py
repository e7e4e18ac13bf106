"""Digests that bind what was measured without a subset to the documents that the subset lacks."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import FLOAT_FORMAT
from biaslab.origins.sets.selection import members

DOCUMENTS, OUTCOME = "documents_sha256", "outcome_sha256"
BOUND = ("weat", DOCUMENTS, "observed_mean")
"""Columns of ``lds/removals.tsv`` that `OUTCOME` is the digest of."""
PAIRED_BOUND = ("weat", DOCUMENTS, "seed", "effect_size")
"""Those of ``lds/paired.tsv``."""


def digest_documents(documents: np.ndarray) -> str:
    """Return the SHA-256 of the numbers of documents (rising, 64-bit little-endian)."""
    return hashlib.sha256(np.ascontiguousarray(documents.astype("<i8"))).hexdigest()


def digest_outcomes(table: pd.DataFrame, bound: Sequence[str]) -> list[str]:
    """Return for each row the SHA-256 of some columns, as a table has them, divided by blanks."""
    columns = [map(_written, table[name]) for name in bound]
    return [hashlib.sha256(" ".join(row).encode()).hexdigest() for row in zip(*columns, strict=True)]


def check_outcomes(path: Path, table: pd.DataFrame, subsets: pd.DataFrame, bound: Sequence[str]) -> None:
    """Raise for a row of a file whose outcome is not that of its subset in ``lds/subsets.parquet``.

    `bound` are the columns that `OUTCOME` is the digest of.
    """
    names = table["set"].astype(str)
    digests = {name: digest_documents(np.sort(d)) for name, d in members(subsets, names.unique()).items()}
    _refuse(path, table, names.map(digests) != table[DOCUMENTS], "lacks other documents")
    wrong = np.array(digest_outcomes(table, bound)) != table[OUTCOME].to_numpy()
    _refuse(path, table, wrong, "has a changed outcome, or that of another subset")


def _refuse(path: Path, table: pd.DataFrame, wrong: Sequence[bool], problem: str) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise InputError(
            f"{path}, line {rows[0] + 2}: '{table['set'].iloc[rows[0]]}' {problem}; {len(rows)} of"
            f" {len(table)} rows do not fit lds/subsets.parquet; restore lds/, or rerun its steps"
        )


def _written(value: object) -> str:
    return FLOAT_FORMAT % (value + 0.0) if isinstance(value, float) else str(value)
