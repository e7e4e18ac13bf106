"""The co-occurrences that matter most: what tables and figures show of the bias gradient."""

from pathlib import Path

import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.io import read_parquet, write_tsv

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["bias_gradient/ends/TEST"]

N_ENDS = 50
"""Co-occurrences at each end."""


def write_ends(pairs: Path, out: Path) -> None:
    """Write the pairs with the largest and the smallest elasticity: ``bias_gradient/ends/TEST.tsv``."""
    write_tsv(out, ends(read_parquet(pairs), N_ENDS))


def ends(pairs: pd.DataFrame, n: int) -> pd.DataFrame:
    """Return up to `n` pairs at each end that raise and lower the bias, the strongest first."""
    ordered = pairs.sort_values(["elasticity_mean", "word", "context"])
    raising = ordered[ordered["elasticity_mean"] > 0].tail(n)[::-1].assign(effect="raises")
    lowering = ordered[ordered["elasticity_mean"] < 0].head(n).assign(effect="lowers")
    found = pd.concat([raising, lowering], ignore_index=True)
    return found.assign(rank=found.groupby("effect").cumcount() + 1)[list(COLUMNS)]
