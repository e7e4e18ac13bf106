"""Further sets of texts that classifiers are tested on: news, HateCheck, test sets of other corpora."""

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.corpus import NEWS, Source, read_splits
from biaslab.text import corpora
from biaslab.text.corpora import TEST

HATECHECK = "hatecheck"
COLUMNS = ("text", "label", "row", "identifier", "functionality", "target")


def read_probes(
    files: Mapping[str, Path],
    others: Mapping[str, Source],
    terms: Collection[str],
    limit: int | None,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Read the further sets of texts: columns `COLUMNS`, "" where a set has no such text.

    News that hold another identifier than `terms` are left out, as the paper does (Section 6.1). Of more
    texts than `limit` some are drawn, with the share of positive ones, in news of every identifier, kept.
    """
    tables = {
        name: _read_news(file, terms) if name == NEWS else corpora.read_hatecheck(file)
        for name, file in files.items()
    }
    tables |= {name: read_splits(source, seed)[TEST] for name, source in others.items()}
    return {
        name: _cut(table.reindex(columns=COLUMNS, fill_value="").reset_index(drop=True), name, limit, seed)
        for name, table in tables.items()
    }


def _read_news(file: Path, terms: Collection[str]) -> pd.DataFrame:
    table = corpora.read_news(file)
    table = table[table["identifier"].isin(list(terms))]
    if table.empty:
        raise InputError(
            f"{file}: no text is about one of the identifiers; name other news, or null for none"
        )
    return table


def _cut(table: pd.DataFrame, name: str, limit: int | None, seed: int) -> pd.DataFrame:
    if limit is None or limit >= len(table):
        return table
    strata = table["identifier"] if name == NEWS else table["functionality"] + table["label"].astype(str)
    rows = draw_evenly(strata.to_numpy(), limit, stream(seed, "cut", name))
    return table.iloc[rows].reset_index(drop=True)


def draw_evenly(strata: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows, (n,) int64, sorted, so that every stratum keeps its share, to one row."""
    _, codes, sizes = np.unique(np.asarray(strata, str), return_inverse=True, return_counts=True)
    wanted, rest = np.divmod(n * sizes, len(strata))  # the shares in whole rows, and what they fall short by
    shortest = np.lexsort((rng.permutation(len(sizes)), -rest))
    wanted[shortest[: n - wanted.sum()]] += 1
    order = rng.permutation(len(strata))
    order = order[np.argsort(codes[order], kind="stable")]  # stratum by stratum, at random inside
    place = np.arange(len(strata)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place < np.repeat(wanted, sizes)])
