"""Whether attributions find the documents that were planted (`biaslab.origins.checks.planted.planting`).

An attribution puts the documents in order; what it finds of the planted ones is those among the first k.
Estimates are of B(w) - B(w~) (Equation 5): of a document that raises the bias they are positive.
"""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import LEVEL, share_interval
from biaslab.origins.attribution.estimates import read_mean
from biaslab.origins.attribution.registry import ATTRIBUTIONS, TABLES
from biaslab.origins.checks.planted.planting import CONTROL, LOWER, RAISE
from biaslab.origins.expansion import TEST_WORD_COUNTS

EITHER = "either"
ORDERS = {RAISE: [RAISE], LOWER: [LOWER], EITHER: [RAISE, LOWER]}
"""Orders of the documents, by falling, by rising and by falling absolute estimate, and what they look for."""

TEST_WORDS = "test words"
"""The order by how many words of the test a document holds: what an attribution must be better than."""

MULTIPLES = (0.5, 1, 2, 5, 10)
"""Numbers k of documents at the head of an order, in multiples of those that are looked for."""

_TAILS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


def write_recall(documents: list[Path], recall: Path, pairs: Path, seed: int) -> None:
    """Measure how many of the planted documents every attribution ranks first.

    `documents` are tables of the documents of corpora with planted ones, each beside the folders `TABLES`,
    which hold a table of each test.
    """
    recalls, compared = [], []
    for path in documents:
        listed = read_parquet(path, ["document", "kind", "weat", "source", "dose"])
        for weat in planted_tests(listed, str(path)):
            paths = {kind: path.parent / kind / f"{weat}.parquet" for kind in TABLES}
            tables = {kind: read_parquet(table) for kind, table in paths.items()}
            check(listed, {str(paths[kind]): table for kind, table in tables.items()})
            values = attributions(tables)
            recalls.append(recall_table(listed, weat, values, seed))
            compared.append(pair_table(listed, weat, values))
    write_tsv(recall, pd.concat(recalls, ignore_index=True))
    write_tsv(pairs, pd.concat(compared, ignore_index=True))


def attributions(tables: Mapping[str, pd.DataFrame]) -> dict[str, np.ndarray]:
    """Return what every attribution says of every document, (n_documents,) float64.

    `tables` are those of one test, by their folders. Where PPMI is not defined it counts as no change.
    """
    values = {a.name: read_mean(a, tables[a.table]) for a in ATTRIBUTIONS}
    counts = tables["differential_bias"][TEST_WORD_COUNTS].sum(axis=1)
    return values | {TEST_WORDS: counts.to_numpy(np.float64)}


def recall_table(
    documents: pd.DataFrame, weat: str, values: Mapping[str, np.ndarray], seed: int
) -> pd.DataFrame:
    """Count the planted documents at the head of every order: ``planted/recall.tsv`` of one test and dose.

    `documents` is the table of `planting.plant`. Recall has Clopper and Pearson's 95% interval, the
    chance of a random order is hypergeometric.
    """
    own = np.where(documents["weat"] == weat, documents["kind"], "")
    dose, n = float(documents["dose"].iloc[0]), len(documents)
    ties = stream(seed, "recall ties", weat).random(n)
    rows = []
    for aim, kinds in ORDERS.items():
        sought, opposite = np.isin(own, kinds), np.isin(own, list({RAISE, LOWER} - set(kinds)))
        n_planted = int(sought.sum())
        for name, value in values.items():
            falling = {RAISE: -value, LOWER: value, EITHER: -np.abs(value)}[aim]
            order = np.lexsort([ties, falling])
            for k in sorted({k for k in (round(m * n_planted) for m in MULTIPLES) if 0 < k <= n}):
                head = order[:k]
                found = int(sought[head].sum())
                row = [weat, dose, aim, name, k, n, n_planted, found]
                row += [int((own[head] == CONTROL).sum()), int(opposite[head].sum())]
                by_chance = scipy.stats.hypergeom(n, n_planted, k).ppf(_TAILS) / n_planted
                row += [found / n_planted, *share_interval(found, n_planted), k / n, *by_chance]
                rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS["planted/recall"])


def pair_table(documents: pd.DataFrame, weat: str, values: Mapping[str, np.ndarray]) -> pd.DataFrame:
    """Count the copies that are told from the control of the same document: ``planted/pairs.tsv``.

    An attribution that counts words alone has 1/2, or no copies that differ.
    """
    own = documents[documents["weat"] == weat]
    places = {kind: part.set_index("source")["document"] for kind, part in own.groupby("kind")}
    control, dose = places[CONTROL], float(documents["dose"].iloc[0])
    rows = []
    for kind, sign in ((RAISE, 1), (LOWER, -1)):
        copies = places[kind].loc[control.index].to_numpy()
        for name, value in values.items():
            gain = sign * (value[copies] - value[control.to_numpy()])
            right, differ = int((gain > 0).sum()), int((gain != 0).sum())
            share = right / differ if differ else math.nan
            row = [weat, dose, kind, name, len(control), differ, right, share, *share_interval(right, differ)]
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS["planted/pairs"])


def planted_tests(documents: pd.DataFrame, where: str) -> list[str]:
    """Return the tests that documents were planted for; raise InputError where none were."""
    tests = documents.loc[documents["kind"] != "", "weat"].unique().tolist()
    if not tests:
        raise InputError(f"{where}: no planted document; plant some with the step origins.plant-documents")
    return tests


def check(documents: pd.DataFrame, tables: Mapping[str, pd.DataFrame]) -> None:
    """Raise InputError unless every table is of these documents."""
    for name, table in tables.items():
        if not np.array_equal(table["document"], documents["document"]):
            raise InputError(f"{name}: it has {len(table)} documents, the planted corpus {len(documents)}, or"
                             " in another order; estimate them again")  # fmt: skip
