"""Single documents with ground truth: retrainings that differ from the baselines by one document alone.

The paper calls a fixed seed impractical, and a typical document's effect is hidden in the variation between
seeds (Brunet et al. 2019, Section 5.2). Training here is deterministic: the embedding without the document
has the initial values, the groups and the order of records of a baseline embedding, and the difference of the
two effect sizes is the document's differential bias (Eq. 5) in that embedding.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import scipy  # loads its parts when they are used

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import fit_columns, mean_interval
from biaslab.origins.attribution.estimates import read_with_seeds
from biaslab.origins.attribution.registry import ESTIMATORS
from biaslab.origins.sets import selection
from biaslab.origins.sets.names import DECREASE, INCREASE, RANDOM, TARGETED_KINDS, single_set

_COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


def write_documents(
    differential_bias: Path, sets: Path, estimator: str, tails: int, random: int, seed: int
) -> None:
    """Select the single documents with the most influence by an estimator, and random ones of the rest."""
    column = f"{estimator}_mean"
    values = read_parquet(differential_bias, [column])[column].to_numpy()
    write_parquet(sets, select_documents(values, differential_bias.stem, tails, random, seed))


def write_comparison(
    sets: Path,
    baseline: Path,
    observed: Path,
    differential_bias: Path,
    by_seed: Path,
    documents: Path,
    correlation: Path,
    seed: int,
) -> None:
    """Compare the estimated differential bias of single documents with paired retraining."""
    table = compare_documents(
        read_parquet(sets),
        read_tsv(baseline, ("weat", "seed", "effect_size")),
        read_tsv(observed, ("set", "weat", "seed", "effect_size")),
        read_with_seeds(differential_bias, by_seed),
    )
    write_tsv(documents, table)
    write_tsv(correlation, correlate_documents(table, seed))


def select_documents(
    differential_bias: np.ndarray, weat: str, tails: int, random: int, seed: int
) -> pd.DataFrame:
    """Select the documents of both ends of the ranking, and random ones: ``single_documents/sets.parquet``.

    The replicate of a set counts from the end of the ranking.
    """
    n = len(differential_bias)
    if 2 * tails + random > n:
        raise InputError(
            f"{2 * tails + random} single documents from {n}; choose smaller single_documents.tails"
        )
    if np.isnan(differential_bias).any():
        raise InputError(f"{weat}: a document has no estimate; choose another estimator")
    order = np.argsort(differential_bias, kind="stable")
    middle = np.sort(order[tails : n - tails])
    chosen = {
        INCREASE: order[:tails],
        DECREASE: order[::-1][:tails],
        RANDOM: stream(seed, "single documents", weat).choice(middle, random, replace=False),
    }
    rows = [
        (single_set(weat, kind, rank), weat, kind, 1, rank, int(document))
        for kind in (*TARGETED_KINDS, RANDOM)
        for rank, document in enumerate(chosen[kind])
    ]
    return pd.DataFrame(rows, columns=selection.COLUMNS).astype(
        {"size": np.int64, "replicate": np.int64, "document": np.int64}
    )


def compare_documents(
    sets: pd.DataFrame, baseline: pd.DataFrame, observed: pd.DataFrame, differential_bias: pd.DataFrame
) -> pd.DataFrame:
    """Set each document's estimates beside what its removal did to the very same embeddings.

    As ``single_documents/documents.tsv``. Embeddings of `baseline` and `observed` with one seed are a
    pair; ``unpaired_sd`` is the root of the sum of both variances.
    """
    before = baseline.set_index(["weat", "seed"])["effect_size"]
    rows = []
    for s in sets.itertuples(index=False):
        is_of_set = (observed["set"] == s.set) & (observed["weat"] == s.weat)
        after = observed[is_of_set].set_index("seed")["effect_size"]
        partners = [(s.weat, seed) for seed in after.index]
        if after.empty or not all(partner in before.index for partner in partners):
            raise InputError(f"{s.set}: a retraining or its baseline is missing; measure the sets again")
        with_it, without = before.loc[partners].to_numpy(), after.to_numpy()
        change = with_it - without
        sds = [values.std(ddof=1) if len(values) > 1 else np.nan for values in (change, with_it, without)]
        document = differential_bias.loc[differential_bias["document"] == s.document].iloc[0]
        row = [s.weat, s.set, s.kind, s.replicate, s.document, document["id"], document["title"]]
        row += [len(change), change.mean(), *mean_interval(change), sds[0], np.hypot(*sds[1:])]
        rows.append(
            [*row, *(document[[f"{e}_seed{seed}" for seed in after.index]].mean() for e in ESTIMATORS)]
        )
    return pd.DataFrame(rows, columns=[*_COLUMNS["single_documents/documents"], *ESTIMATORS])


def correlate_documents(documents: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Correlate the observed differential bias with each estimate: ``single_documents/correlation.tsv``.

    Pearson's r has Fisher's interval, for four documents or more.
    """
    rows = []
    for weat, part in documents.groupby("weat", sort=False):
        ratio = (part["unpaired_sd"] ** 2).mean() / (part["observed_sd"] ** 2).mean()
        for estimator in ESTIMATORS:
            x, y = part[estimator], part["observed"]
            fit = fit_columns(x, y, stream(seed, "bootstrap", "single", weat, estimator))
            row = {"weat": weat, "estimator": estimator, "n_documents": len(part)}
            rows.append(row | pearson(x, y) | fit | {"variance_ratio": ratio})
    return pd.DataFrame(rows, columns=_COLUMNS["single_documents/correlation"])


def pearson(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Return Pearson's correlation with Fisher's interval; missing of fewer than four, or equal, values."""
    if len(x) < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return dict.fromkeys(("r", "r_ci_low", "r_ci_high"), np.nan)
    result = scipy.stats.pearsonr(x, y)
    low, high = result.confidence_interval()
    return {"r": result.statistic, "r_ci_low": low, "r_ci_high": high}
