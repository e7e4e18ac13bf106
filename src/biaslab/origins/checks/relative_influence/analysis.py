"""Relative influence of documents (RelatIF: Barshan et al. 2020).

Influence functions favour documents that change a model much in any respect. Relative influence asks which
document has the most influence for the change that it makes, and divides its influence by the length of the
step delta that its removal makes in the parameters (Equation 8 of Brunet et al. 2019):

``theta``
    |delta|, the Euclidean length (theta-relative influence).
``l``
    The root of delta^T H delta (l-relative influence). The loss is quadratic in the vectors of the words that
    move, with Hessian H, so that half of the square is by how much the step raises the training loss from its
    minimum.

The parameters are the vectors of the test's words, all that moves in Brunet et al.'s approximation.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import EFFECTS
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_parquet, write_tsv
from biaslab.core.rankings import TOP
from biaslab.core.stats import mean_interval, rank_correlation
from biaslab.origins.attribution.scanner import read_scanner
from biaslab.origins.checks.cross_fitting.analysis import seed_values
from biaslab.origins.grid import ESTIMATORS, TEST_WORD_COUNTS, of_test
from biaslab.origins.settings import InfluenceParameters

RELATIVE = THETA, L = ("theta", "l")
"""By what length influence is divided."""

_INFLUENCE = ESTIMATORS[0]
COLUMNS = ["weat", "order", "tail", "top", "n_documents", "spearman", "spearman_ci_low", "spearman_ci_high"]
COLUMNS += [f"{what}{part}" for what in ("tokens", "test_words") for part in ("_mean", "_ci_low", "_ci_high")]
COLUMNS += ["overlap"]


def write_relative(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    differential_bias: Path,
    vocabulary: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    out: Path,
    threads: int = 1,
) -> None:
    """Divide the influence of every document by how far its removal moves the words of the test."""
    scanner, (test,) = read_scanner(
        embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads
    )
    write_parquet(out, relative_table(read_parquet(differential_bias), scanner.step_lengths(test)))


def relative_table(differential_bias: pd.DataFrame, lengths: Sequence[np.ndarray]) -> pd.DataFrame:
    """Divide influence by the lengths of the documents' steps: ``relative_influence/TEST.parquet``.

    `lengths` (n_documents, 2) are `theta` and `l` of each of the baselines of `differential_bias`; 0
    where nothing moves.
    """
    influence = seed_values(differential_bias, _INFLUENCE)
    if influence.shape != (len(lengths), len(lengths[0])):
        raise InputError(
            f"the differential bias is of {influence.shape[0]} baselines and {influence.shape[1]} documents,"
            f" the embeddings are {len(lengths)} and the corpus has {len(lengths[0])}; estimate it again"
        )
    columns = {name: differential_bias[name] for name in ("document", "id", "title")}
    for k, name in enumerate(RELATIVE):
        by = np.stack([of[:, k] for of in lengths])
        values = np.divide(influence, by, out=np.zeros_like(influence), where=by > 0)
        columns |= {f"{name}_mean": values.mean(axis=0), f"{name}_sd": values.std(axis=0, ddof=1)}
        columns |= {f"{name}_seed{s}": of for s, of in enumerate(values)}
    return pd.DataFrame(columns | {"step_mean": np.mean([of[:, 0] for of in lengths], axis=0)})


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
    differential_bias: list[Path], relative: list[Path], documents: Path, comparison: Path
) -> None:
    """Compare the documents that relative influence puts first with those that influence does."""
    tokens = read_parquet(documents, ["n_tokens"])
    parts = [
        compare_orders(path.stem, read_parquet(path), read_parquet(of_test(relative, path.stem)), tokens)
        for path in differential_bias
    ]
    write_tsv(comparison, pd.concat(parts, ignore_index=True))
