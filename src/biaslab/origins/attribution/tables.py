"""Estimates of the attributions for documents and sets of documents: functions, steps and tables."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet, write_tsv
from biaslab.origins.attribution import ppmi as ppmi_scan
from biaslab.origins.attribution import unrolled
from biaslab.origins.attribution.estimates import Estimates, from_values
from biaslab.origins.attribution.influence import DifferentialBias
from biaslab.origins.attribution.registry import ESTIMATORS, UNROLLED
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.sets import PPMI
from biaslab.origins.sets.selection import COLUMNS, members

_OWN = {PPMI: ppmi_scan, UNROLLED: unrolled}  # attributions with their own module


def attribute_documents(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    documents: Path,
    vocabulary: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    by_seed: Path,
    scan: Path,
    threads: int = 1,
) -> None:
    """Write the differential bias of every document: estimated, and exact in the PPMI representation."""
    scanner, (test,) = read_scanner(
        embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads
    )
    titles = read_parquet(documents, ["document", "id", "title"])
    write_documents(scanner, test, titles, out, by_seed)
    by_ppmi = ppmi_scan.differential_bias(scanner.x, scanner.tokens, scanner.offsets, test, threads)
    write_parquet(scan, titles.assign(ppmi=by_ppmi))


def predict_removals(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    sets: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    ppmi: Path,
    threads: int = 1,
) -> None:
    """Write the bias after the removal of every set: predicted, and exact in the PPMI representation."""
    scanner, tests = read_scanner(embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads)
    removed = read_parquet(sets)
    write_tsv(out, set_table(scanner, tests, removed))
    counted = scanner.x, scanner.tokens, scanner.offsets
    write_tsv(ppmi, ppmi_scan.measure_sets(*counted, members(removed), tests, threads))


def write_documents(
    scanner: Scanner, weat: WeatIndices, documents: pd.DataFrame, out: Path, by_seed: Path
) -> None:
    """Write the differential bias of every document: means over the baselines, and estimates by baseline.

    Estimates by baseline are in their own large file, because figures, tables and claims need only the means.
    """
    table = document_table(scanner, weat, documents)
    counts = count_test_words(scanner.tokens, scanner.offsets, weat)
    seed_columns = table.columns[table.columns.str.contains(r"_seed\d+$")]
    write_parquet(out, table.drop(columns=seed_columns).join(counts))
    write_parquet(by_seed, table[["document", *seed_columns]])


def document_table(scanner: Scanner, weat: WeatIndices, documents: pd.DataFrame) -> pd.DataFrame:
    """Return the estimates of every attribution for every document: mean, sd, and by baseline."""
    columns = {name: documents[name] for name in ("document", "id", "title")}
    for name in ESTIMATORS:
        values = estimate_documents(name, scanner, weat).values
        if len(documents) != values.shape[1]:
            raise InputError(
                f"the table lists {len(documents)} documents and the corpus has {values.shape[1]};"
                " regenerate the corpus"
            )
        columns |= {f"{name}_mean": values.mean(axis=0), f"{name}_sd": values.std(axis=0, ddof=1)}
        columns |= {f"{name}_seed{k}": estimates for k, estimates in enumerate(values)}
    return pd.DataFrame(columns)


def count_test_words(tokens: np.ndarray, offsets: np.ndarray, weat: WeatIndices) -> pd.DataFrame:
    """Count the words of a test in every document (Brunet et al. 2019, Section 5.5).

    ``n_S`` to ``n_B``: occurrences of the words of a set. ``rarest_S`` to ``rarest_B``: occurrences of its
    rarest word, which has the largest id, because ids are sorted by decreasing frequency.
    """
    sets = {"S": weat.S, "T": weat.T, "A": weat.A, "B": weat.B}
    counts = {f"n_{name}": _count(tokens, offsets, ids) for name, ids in sets.items()}
    rarest = {name: ids.max(keepdims=True) for name, ids in sets.items()}
    counts |= {f"rarest_{name}": _count(tokens, offsets, ids) for name, ids in rarest.items()}
    return pd.DataFrame(counts)


def _count(tokens: np.ndarray, offsets: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Return the number of tokens of every document that are in `ids`."""
    is_counted = np.zeros(1 + max(tokens.max(initial=0), ids.max()), bool)
    is_counted[ids] = True
    places = np.flatnonzero(is_counted[tokens])
    return np.diff(np.searchsorted(places, offsets))


def set_table(scanner: Scanner, weats: Sequence[WeatIndices], sets: pd.DataFrame) -> pd.DataFrame:
    """Predict the effect size of the tests after the removal of every set: ``predictions.tsv``.

    A targeted set is predicted only for its own test.
    """
    set_rows = sets.drop_duplicates("set")[list(COLUMNS[:-1])]
    frames = []
    for weat in weats:
        test_rows = set_rows[set_rows["weat"].isin(["", weat.name])].assign(weat=weat.name)
        units = list(members(sets, test_rows["set"]).values())
        by_estimator = {name: estimate_sets(name, scanner, weat, units) for name in ESTIMATORS}
        for seed in range(len(by_estimator[ESTIMATORS[0]].bias)):
            for name, estimates in by_estimator.items():
                predicted, fallbacks = estimates.without[seed], estimates.fallbacks[seed]
                frames.append(
                    test_rows.assign(estimator=name, seed=seed, predicted=predicted, fallback_words=fallbacks)
                )
    return pd.concat(frames, ignore_index=True)


def estimate_documents(name: str, scanner: Scanner, weat: WeatIndices) -> Estimates:
    """Return the estimates of an attribution for every document."""
    if name in _OWN:
        return _OWN[name].estimate_documents(scanner, weat)
    return _select(name, scanner.scan(weat))


def estimate_sets(name: str, scanner: Scanner, weat: WeatIndices, sets: Sequence[np.ndarray]) -> Estimates:
    """Return the estimates of an attribution for the joint removal of each set of documents."""
    if name in _OWN:
        return _OWN[name].estimate_sets(scanner, weat, sets)
    return _select(name, scanner.scan(weat, sets))


def _select(name: str, by_baseline: Sequence[DifferentialBias]) -> Estimates:
    values = np.stack([bias.values[:, ESTIMATORS.index(name)] for bias in by_baseline])
    fallbacks = np.stack([bias.fallbacks for bias in by_baseline]) if name == "newton" else 0
    return from_values(np.array([bias.baseline for bias in by_baseline]), values, fallbacks)
