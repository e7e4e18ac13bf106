"""Measure whether attributions find the planted documents (`biaslab.origins.checks.planted`).

An attribution ranks the documents. It finds the planted documents among the first k. Estimates are of
B(w) - B(w~) (Equation 5); they are positive for documents that raise the bias.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # submodules load lazily

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import TAILS, share_interval
from biaslab.origins.attribution.estimates import read_mean
from biaslab.origins.attribution.registry import ATTRIBUTIONS, TABLES
from biaslab.origins.checks.planted import CONTROL, LOWER, RAISE

EITHER = "either"
ORDERS = {RAISE: [RAISE], LOWER: [LOWER], EITHER: [RAISE, LOWER]}
"""Rankings (by descending, ascending and descending absolute estimate), and the kinds each should find."""

TEST_WORDS = "test words"
"""The ranking by the number of test words in a document: the reference that an attribution must exceed."""

MULTIPLES = (0.5, 1, 2, 5, 10)
"""Numbers k of first documents of a ranking, in multiples of the number of documents to find."""

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


def write_recall(documents: list[Path], recall: Path, pairs: Path, seed: int) -> None:
    """Write the recall of planted documents by every attribution.

    Next to each table of `documents` are the folders `TABLES`, with a table of each test.
    """
    recalls, comparisons = [], []
    for path in documents:
        listed = read_parquet(path, ["document", "kind", "weat", "source", "dose"])
        for weat in planted_tests(listed, str(path)):
            paths = {folder: path.parent / folder / f"{weat}.parquet" for folder in TABLES}
            tables = {folder: read_parquet(table) for folder, table in paths.items()}
            check(listed, {str(paths[folder]): table for folder, table in tables.items()})
            values = attributions(tables)
            recalls.append(recall_table(listed, weat, values, seed))
            comparisons.append(pair_table(listed, weat, values))
    write_tsv(recall, pd.concat(recalls, ignore_index=True))
    write_tsv(pairs, pd.concat(comparisons, ignore_index=True))


def attributions(tables: Mapping[str, pd.DataFrame]) -> dict[str, np.ndarray]:
    """Return the estimates of every attribution for every document; `tables` are those of one test."""
    values = {a.name: read_mean(a, tables[a.table]) for a in ATTRIBUTIONS}
    counts = tables["differential_bias"][[f"n_{name}" for name in "STAB"]].sum(axis=1)
    return values | {TEST_WORDS: counts.to_numpy(np.float64)}


def recall_table(
    documents: pd.DataFrame, weat: str, values: Mapping[str, np.ndarray], seed: int
) -> pd.DataFrame:
    """Count the planted documents at the top of every ranking: ``planted/recall.tsv`` of a test and dose."""
    own_kinds = np.where(documents["weat"] == weat, documents["kind"], "")
    dose, n = float(documents["dose"].iloc[0]), len(documents)
    ties = stream(seed, "recall ties", weat).random(n)
    rows = []
    for aim, kinds in ORDERS.items():
        is_target = np.isin(own_kinds, kinds)
        is_opposite = np.isin(own_kinds, list({RAISE, LOWER} - set(kinds)))
        n_planted = int(is_target.sum())
        for name, value in values.items():
            sort_key = {RAISE: -value, LOWER: value, EITHER: -np.abs(value)}[aim]
            order = np.lexsort([ties, sort_key])
            for k in sorted({k for k in (round(m * n_planted) for m in MULTIPLES) if 0 < k <= n}):
                head = order[:k]
                n_found = int(is_target[head].sum())
                row = [weat, dose, aim, name, k, n, n_planted, n_found]
                row += [int((own_kinds[head] == CONTROL).sum()), int(is_opposite[head].sum())]
                by_chance = scipy.stats.hypergeom(n, n_planted, k).ppf(TAILS) / n_planted
                row += [n_found / n_planted, *share_interval(n_found, n_planted), k / n, *by_chance]
                rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS["planted/recall"])


def pair_table(documents: pd.DataFrame, weat: str, values: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Count the copies that an attribution distinguishes from their control: ``planted/pairs.tsv``.

    An attribution that only counts words has a share of 1/2, or no copies that differ.
    """
    planted = documents[documents["weat"] == weat]
    places = {kind: part.set_index("source")["document"] for kind, part in planted.groupby("kind")}
    control, dose = places[CONTROL], float(documents["dose"].iloc[0])
    rows = []
    for kind, sign in ((RAISE, 1), (LOWER, -1)):
        copies = places[kind].loc[control.index].to_numpy()
        for name, value in values.items():
            gain = sign * (value[copies] - value[control.to_numpy()])
            n_right, n_differ = int((gain > 0).sum()), int((gain != 0).sum())
            share = n_right / n_differ if n_differ else math.nan
            row = [weat, dose, kind, name, len(control), n_differ, n_right, share]
            rows.append([*row, *share_interval(n_right, n_differ)])
    return pd.DataFrame(rows, columns=COLUMNS["planted/pairs"])


def planted_tests(documents: pd.DataFrame, where: str) -> list[str]:
    """Return the tests with planted documents; raise InputError if there are none."""
    tests = documents.loc[documents["kind"] != "", "weat"].unique().tolist()
    if not tests:
        raise InputError(
            f"{where}: the corpus has no planted documents; plant documents with the step"
            " origins.plant-documents"
        )
    return tests


def check(documents: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> None:
    """Raise InputError unless every table lists these documents in this order."""
    for name, table in tables.items():
        if not np.array_equal(table["document"], documents["document"]):
            raise InputError(
                f"{name}: the {len(table)} documents of the table differ in number or order from the"
                f" {len(documents)} documents of the planted corpus; regenerate the estimates"
            )
