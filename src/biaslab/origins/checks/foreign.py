"""Scores of documents from elsewhere, put to the tests that the attributions of a run were put to.

A file names each document of the corpus once, with a number: how much the bias falls without it, in any unit.
It is scored beside the run's own attributions, on the same subsets and resamples, and beside what knows
nothing of the test: the lengths of the documents, random numbers, and influence on another test.
"""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval
from biaslab.origins.attribution.estimates import SUM, read_mean
from biaslab.origins.attribution.registry import ATTRIBUTIONS
from biaslab.origins.checks.lds.analysis import mask, standard_ranks
from biaslab.origins.checks.single_documents.auc import area_under_curve
from biaslab.origins.sets import RANDOM

YOURS, LENGTH = "yours", "length"
"""What tables call the scores of the file, and those that are the documents' lengths."""

COLUMNS = ["weat", "check", "n_removed", "attribution", "form", "n", "value", "ci_low", "ci_high", "ceiling"]


def write_scored(scores: Path, results: Path, weat: str, seed: int, out: Path) -> pd.DataFrame:
    """Score a file on what a run has measured of a setup, whose folder is `results`; write and return it."""
    documents = read_parquet(results / "documents.parquet", ["document", "id", "n_tokens"])
    given = {YOURS: read_scores(scores, documents), LENGTH: documents["n_tokens"].to_numpy(np.float64)}
    given[RANDOM] = stream(seed, "foreign", "random").standard_normal(len(documents))
    for other in sorted((results / "differential_bias").glob("*.parquet")):
        if other.stem != weat:
            given[f"{ATTRIBUTIONS[0].name} of {other.stem}"] = read_mean(ATTRIBUTIONS[0], read_parquet(other))
    removals, subsets = results / "lds/removals.tsv", results / "lds/subsets.parquet"
    single = results / "single_documents/documents.tsv"
    tables = []
    if removals.exists():
        reliable = read_tsv(results / "lds/scores.tsv", ("weat", "size", "ceiling"))
        tables.append(score_subsets(given, read_tsv(removals), read_parquet(subsets), reliable, weat, seed))
    if single.exists():
        tables.append(score_single(given, read_tsv(single), weat, seed))
    tables = [table for table in tables if len(table)]
    if not tables:
        raise InputError(
            f"{results}: nothing was retrained for {weat}; run a setup that has lds or single_documents"
        )
    found = pd.concat(tables, ignore_index=True)
    write_tsv(out, found)
    return found


def read_scores(path: Path, documents: pd.DataFrame) -> np.ndarray:
    """Read the columns document (an id, as in documents.parquet) and score: (n_documents,) float64."""
    rows = read_text_table(path, ())
    if not rows or not {"document", "score"} <= set(rows[0][1]):
        raise InputError(f"{path}: no file with the columns document and score, divided by a tab; write one")
    known, scores = set(documents["id"].astype(str)), {}
    for line, row in rows:
        document = row["document"]
        if document not in known:
            raise InputError(f"{path}, line {line}: no document {document!r} in the corpus; use its ids")
        if document in scores:
            raise InputError(f"{path}, line {line}: document {document!r} again; name it once")
        scores[document] = pd.to_numeric(row["score"], errors="coerce")
        if not np.isfinite(scores[document]):
            raise InputError(f"{path}, line {line}: the score {row['score']!r} is no finite number")
    if missing := sorted(known - set(scores)):
        raise InputError(
            f"{path}: {len(missing)} of {len(known)} documents have no score, {missing[0]!r} is one; add them"
        )
    return documents["id"].astype(str).map(scores).to_numpy(np.float64)


def score_subsets(
    given: dict[str, np.ndarray],
    removals: pd.DataFrame,
    subsets: pd.DataFrame,
    reliable: pd.DataFrame,
    weat: str,
    seed: int,
) -> pd.DataFrame:
    """Return the linear datamodeling score of `given` scores and of the run's own attributions of a test."""
    rows = []
    for size, of_size in removals[removals["weat"] == weat].groupby("size"):
        observed = of_size.drop_duplicates("set").set_index("set")["observed_mean"]
        names, n = list(observed.index), len(observed)
        removed = mask(subsets[subsets["size"] == size], names, len(given[YOURS])).astype(np.float64).T
        changes = {(name, SUM): -values @ removed for name, values in given.items()}
        for key, part in of_size.groupby(["estimator", "form"], sort=False):
            changes[key] = part.set_index("set")["change"][names].to_numpy()
        drawn = np.vstack([np.arange(n), stream(seed, "lds", weat, size).integers(n, size=(N_RESAMPLES, n))])
        target = standard_ranks(observed.to_numpy()[drawn])
        of_test = reliable[(reliable["weat"] == weat) & (reliable["size"] == size)]
        for (name, form), change in changes.items():
            values = (standard_ranks(change[drawn]) * target).sum(axis=1)
            interval = central_interval(values[1:])
            rows.append([weat, "lds", size, name, form, n, values[0], *interval, of_test["ceiling"].iloc[0]])
    return pd.DataFrame(rows, columns=COLUMNS)


def score_single(given: dict[str, np.ndarray], single: pd.DataFrame, weat: str, seed: int) -> pd.DataFrame:
    """Return the AUC of `given` scores and of the run's own on single documents that were drawn at random."""
    part = single[(single["weat"] == weat) & (single["kind"] == RANDOM) & (single["observed"] != 0)]
    if not len(part):
        return pd.DataFrame(columns=COLUMNS)
    found = {name: values[part["document"]] for name, values in given.items()}
    found |= {a.name: part[a.name].to_numpy() for a in ATTRIBUTIONS if a.name in part.columns}
    lowers, n = part["observed"].to_numpy() > 0, len(part)
    drawn = stream(seed, "document auc", weat, RANDOM).integers(n, size=(N_RESAMPLES, n))
    rows = []
    for name, scores in found.items():
        interval = central_interval(area_under_curve(scores[drawn], lowers[drawn]))
        value = float(area_under_curve(scores, lowers))
        rows.append([weat, "auc", 1, name, "", n, value, *interval, math.nan])
    return pd.DataFrame(rows, columns=COLUMNS)
