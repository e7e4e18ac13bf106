"""The sets of documents that the PPMI baseline finds (Brunet et al. 2019, Section 5.3, Table 5)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet
from biaslab.origins.sets.names import by_ppmi
from biaslab.origins.sets.selection import select_targeted


def write_ppmi_sets(scan: Path, sets: Path, sizes: list[int]) -> None:
    """Select the documents that change a bias most in the PPMI representation."""
    ppmi = read_parquet(scan, ["ppmi"])["ppmi"].to_numpy()
    write_parquet(sets, select_ppmi_sets(ppmi, scan.stem, sizes))


def select_ppmi_sets(ppmi: np.ndarray, weat: str, sizes: Sequence[int]) -> pd.DataFrame:
    """Select the documents whose removal changes the bias in the PPMI representation most.

    A document without a differential bias (NaN) is in none. No `sizes` give a table without rows.
    """
    n_ranked = int(np.isfinite(ppmi).sum())
    if sizes and max(sizes) > n_ranked:
        raise InputError(
            f"a set of {max(sizes)} documents from {n_ranked} with a differential bias by PPMI; choose"
            " smaller ppmi_sets.sizes"
        )
    return select_targeted(by_ppmi(weat), weat, ppmi, sizes)
