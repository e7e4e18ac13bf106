"""How well attributions tell documents whose removal lowers the bias from those whose removal raises it.

The ground truth is that of single documents (`analysis` beside this module). The area under the ROC curve is
the probability that an attribution gives a document of the first kind more than one of the second, a draw
counting one half (Hanley and McNeil 1982); an attribution that knows nothing has 0.5.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval
from biaslab.origins.attribution.registry import ESTIMATORS, PREDICTING
from biaslab.origins.sets.names import PPMI, RANDOM

ALL, WITH_WORDS = "all", "random with words"
"""The documents that are told apart, besides the random ones (`RANDOM`): all, and random ones that hold words
of the test. The others are the ends of a ranking, which the estimator chose itself."""

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["single_documents/auc"]


def write_scores(documents: Path, seed: int, out: Path, ppmi: Path | None = None) -> None:
    """Tell how well attributions know whether the removal of a document lowers or raises the bias (AUC)."""
    table = read_tsv(documents, ("weat", "kind", "document", "observed", *ESTIMATORS))
    by_ppmi = None if ppmi is None else read_parquet(ppmi, ["document", "ppmi"])
    write_tsv(out, score_documents(table, by_ppmi, seed))


def area_under_curve(scores: np.ndarray, lowers: np.ndarray) -> np.ndarray:
    """Return the area under the ROC curve of each row, from the ranks (the statistic of Mann and Whitney).

    `lowers` (..., n_documents) bool are the documents that should have the larger `scores`. NaN where all
    documents are of one kind.
    """
    ranks = scipy.stats.rankdata(scores, axis=-1)
    n_lower = lowers.sum(axis=-1)
    pairs = n_lower * (lowers.shape[-1] - n_lower)
    above = (ranks * lowers).sum(axis=-1) - n_lower * (n_lower + 1) / 2
    return np.divide(above, pairs, out=np.full(np.shape(above), math.nan), where=pairs > 0)


def score_documents(documents: pd.DataFrame, ppmi: pd.DataFrame | None, seed: int) -> pd.DataFrame:
    """Score every attribution on the single documents: ``single_documents/auc.tsv``.

    All but PPMI without a table of it; a value that is missing there, because it is not defined, is taken as
    0. The bootstrap draws documents, the same for all attributions; resamples without either kind do not
    count.
    """
    told = documents[documents["observed"] != 0]
    if ppmi is not None:
        told = told.assign(**{PPMI: _by_ppmi(ppmi, documents["document"]).loc[told["document"]].to_numpy()})
    rows = []
    for weat, of_test in told.groupby("weat", sort=False):
        for among, part in kinds(of_test):
            scores = {a.name: part[a.name].to_numpy(np.float64) for a in PREDICTING if a.name in told}
            rows += areas(part, scores, weat, among, seed)
    return pd.DataFrame(rows, columns=COLUMNS)


def kinds(documents: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all of the documents that were told apart, the random ones, and those of them with words."""
    random = documents[documents["kind"] == RANDOM]
    holds = (random[list(ESTIMATORS)] != 0).any(axis=1)
    yield from ((ALL, documents), (RANDOM, random), (WITH_WORDS, random[holds]))


def areas(
    documents: pd.DataFrame, scores: Mapping[str, np.ndarray], weat: str, among: str, seed: int
) -> list[list]:
    """Return the rows of ``single_documents/auc.tsv`` of some documents, one for each of the `scores`."""
    lowers = documents["observed"].to_numpy() > 0
    rng = stream(seed, "document auc", weat, among)
    drawn = rng.integers(max(len(documents), 1), size=(N_RESAMPLES, len(documents)))
    numbers, rows = [len(documents), int(lowers.sum()), int((~lowers).sum())], []
    for name, values in scores.items():
        found = area_under_curve(values[drawn], lowers[drawn])
        value = float(area_under_curve(values, lowers))
        rows.append([weat, among, name, *numbers, value, *central_interval(found)])
    return rows


def _by_ppmi(ppmi: pd.DataFrame, documents: pd.Series) -> pd.Series:
    """Return the estimates by PPMI of some documents; there must be a row for each."""
    known = ppmi.set_index("document")["ppmi"]
    if missing := set(documents) - set(known.index):
        raise InputError(
            f"document {min(missing)} has no row in the table of PPMI; make it of the same corpus"
        )
    return known.fillna(0.0)
