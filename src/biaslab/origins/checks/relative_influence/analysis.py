"""Which documents relative influence puts first (`biaslab.origins.attribution.relative`)."""

from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import EFFECTS
from biaslab.core.columns import columns_of
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rankings import TOP
from biaslab.core.stats import mean_interval, rank_correlation
from biaslab.origins.attribution.estimates import read_with_seeds, seed_values
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.attribution.relative import RELATIVE
from biaslab.origins.grid.expansion import TEST_WORD_COUNTS, of_test

_INFLUENCE = ESTIMATORS[0]
COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["relative_influence/comparison"]


def compare_orders(
    weat: str, differential_bias: pd.DataFrame, relative: pd.DataFrame, documents: pd.DataFrame
) -> pd.DataFrame:
    """Compare the documents that relative influence puts first with those that influence does.

    As ``relative_influence/comparison.tsv``, of documents that hold a word of the test; the first row is
    of all of them, with no order.
    """
    counts = differential_bias[TEST_WORD_COUNTS].sum(axis=1).to_numpy()
    held = np.flatnonzero(counts > 0)
    described = {"tokens": documents["n_tokens"].to_numpy(np.float64)[held], "test_words": counts[held]}
    tables = {_INFLUENCE: differential_bias} | dict.fromkeys(RELATIVE, relative)
    influence = seed_values(differential_bias, _INFLUENCE)[:, held]
    ends, rows = {}, []
    rows.append([weat, "all", "", 0, len(held), *[np.nan] * 3, *_means(described, slice(None)), np.nan])
    for order, table in tables.items():
        by_seed = seed_values(table, order)[:, held]
        found = [rank_correlation(a, b) for a, b in zip(by_seed, influence, strict=True)]
        agreement = [np.mean(found), *mean_interval(found)]
        sorted_documents = np.argsort(table[f"{order}_mean"].to_numpy()[held], kind="stable")
        for top in (n for n in TOP if 2 * n <= len(held)):
            for tail, part in zip(EFFECTS, (slice(-top, None), slice(top)), strict=True):
                chosen = sorted_documents[part]
                first = ends.setdefault((tail, top), chosen)
                overlap = len(np.intersect1d(chosen, first)) / top
                rows.append([weat, order, tail, top, top, *agreement, *_means(described, chosen), overlap])
    return pd.DataFrame(rows, columns=COLUMNS)


def _means(described: dict[str, np.ndarray], chosen: np.ndarray | slice) -> list[float]:
    """Return the mean of each description of some documents, with its interval."""
    return [value for of in described.values() for value in (of[chosen].mean(), *mean_interval(of[chosen]))]


def write_orders(
    differential_bias: list[Path],
    influence_by_seed: list[Path],
    relative: list[Path],
    relative_by_seed: list[Path],
    documents: Path,
    comparison: Path,
) -> None:
    """Compare the documents that relative influence puts first with those that influence does."""
    tokens = read_parquet(documents, ["n_tokens"])
    parts = []
    for path in differential_bias:
        files = (of_test(part, path.stem) for part in (influence_by_seed, relative, relative_by_seed))
        by_seed, *of_relative = files
        parts.append(
            compare_orders(path.stem, read_with_seeds(path, by_seed), read_with_seeds(*of_relative), tokens)
        )
    write_tsv(comparison, pd.concat(parts, ignore_index=True))
