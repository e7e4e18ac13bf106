"""The linear datamodeling score of attributions (Park et al. 2023, Section 2; Ilyas et al. 2022).

An attribution assigns a number to every document. The sum over the documents of a subset of the corpus is its
prediction for an embedding trained on the subset. The score is Spearman's rank correlation, over random
subsets, of this prediction with the measurement in such embeddings, here the mean effect size of several. The
documents of a subset and those that it lacks give equivalent predictions, because their sums add up to a
constant.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import N_RESAMPLES, central_interval, standard_ranks
from biaslab.origins.attribution.estimates import SET, SUM, read
from biaslab.origins.attribution.registry import ATTRIBUTIONS, ESTIMATORS
from biaslab.origins.baseline import choose_seeds
from biaslab.origins.expansion import of_test
from biaslab.origins.sets import BASELINE, PPMI, RANDOM
from biaslab.origins.sets.selection import members
from biaslab.origins.subsets import BOUND, DOCUMENTS, OUTCOME, digest_outcomes

N_BASELINES = (1, 2, 5, 10)
"""Numbers of baselines over which an attribution is averaged, up to the number of all baselines."""

MAX_WAYS = 10  # largest number of ways to choose these baselines
N_RANDOM = 1000  # number of random attributions

_REFERENCE = (ESTIMATORS[0], SUM)
COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))


class Prediction(NamedTuple):
    """Predictions of one attribution for every subset."""

    estimator: str
    form: str  # `SUM` or `SET`
    changes: np.ndarray  # (n_baselines, n_subsets), of the effect size; one row if no baseline is needed


def mask(sets: pd.DataFrame, names: Sequence[str], n_documents: int) -> np.ndarray:
    """Return the documents that each subset lacks, (n_subsets, n_documents) bool."""
    lacks = np.zeros((len(names), n_documents), bool)
    for row, documents in enumerate(members(sets, names).values()):
        lacks[row, documents] = True
    return lacks


def observe(observed: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Return the effect sizes of a test, with a row per subset and a column per retraining."""
    wide = observed.pivot(index="set", columns="seed", values="effect_size").reindex(list(names))
    if wide.isna().to_numpy().any():
        name = wide.index[wide.isna().any(axis=1)][0]
        raise InputError(f"{name}: a retraining is missing or has no effect size; rerun the retrainings")
    return wide


def predict_subsets(
    lacks: np.ndarray,
    names: Sequence[str],
    differential_bias: pd.DataFrame,
    ppmi: pd.DataFrame,
    of_sets: pd.DataFrame,
    ppmi_of_sets: pd.DataFrame,
) -> Iterator[Prediction]:
    """Yield the predictions of every attribution for the subsets; `lacks` is the result of `mask`.

    The tables are those of one test: ``differential_bias/TEST.parquet`` and ``ppmi/TEST.parquet`` for
    documents, ``lds/predictions.tsv`` and ``lds/ppmi.tsv`` for joint removals. If PPMI is undefined without a
    document or a subset, the prediction is no change.
    """
    removed, tables = lacks.astype(np.float64).T, {"differential_bias": differential_bias, PPMI: ppmi}
    for attribution in ATTRIBUTIONS:
        yield Prediction(attribution.name, SUM, -read(attribution, tables[attribution.table]) @ removed)
    for estimator in ESTIMATORS:
        rows = of_sets[of_sets["estimator"] == estimator]
        wide = rows.pivot(index="seed", columns="set", values="predicted")
        yield Prediction(estimator, SET, wide[list(names)].to_numpy())
    without = ppmi_of_sets.set_index("set")["effect_size"]
    yield Prediction(PPMI, SET, np.nan_to_num((without[list(names)] - without[BASELINE]).to_numpy())[None])


def random_changes(lacks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the predictions of `N_RANDOM` random attributions for every subset, (N_RANDOM, n_subsets)."""
    removed = lacks.astype(np.float64).T
    return np.stack([rng.standard_normal(len(removed)) @ removed for _ in range(N_RANDOM)])


def score(
    predictions: Sequence[Prediction],
    random: np.ndarray,
    effect_sizes: np.ndarray,
    seed: int,
    weat: str,
    size: int,
) -> pd.DataFrame:
    """Score attributions of a test on the subsets that lack `size` documents: ``lds/scores.tsv``.

    `predictions` contains the summed prediction of the first of `ESTIMATORS`, the reference of ``gain``.
    `random` is the result of `random_changes`, `effect_sizes` that of `observe`. The bootstrap draws the same
    subsets for all attributions. The last row, ``random``, has the mean and the central 95% of random
    attributions instead of a bootstrap.
    """
    n = len(effect_sizes)
    draws = np.vstack([np.arange(n), stream(seed, "lds", weat, size).integers(n, size=(N_RESAMPLES, n))])
    observed = effect_sizes.mean(axis=1)
    target = standard_ranks(observed[draws])
    rows, resampled = [], {}
    for prediction in predictions:
        for k, ways in _ways(prediction, seed, weat, size):
            means = np.stack([prediction.changes[list(way)].mean(axis=0) for way in ways])
            resampled[prediction.estimator, prediction.form, k, len(ways)] = np.mean(
                [(standard_ranks(mean[draws]) * target).sum(axis=1) for mean in means], axis=0
            )
    reference = resampled[max(key for key in resampled if key[:2] == _REFERENCE)]
    for key, values in resampled.items():
        gain = values - reference
        rows.append([*key, values[0], *central_interval(values[1:]), gain[0], *central_interval(gain[1:])])
    by_chance = standard_ranks(random) @ target[0]
    rows.append(
        [RANDOM, SUM, 0, len(random), by_chance.mean(), *central_interval(by_chance), *[math.nan] * 3]
    )
    spread = observed.std(ddof=1) if n > 1 else math.nan
    about = [weat, size, n, effect_sizes.shape[1], spread, *reliability(effect_sizes)]
    return pd.DataFrame([[*about, *row] for row in rows], columns=COLUMNS["lds/scores"])


def reliability(effect_sizes: np.ndarray) -> tuple[float, float]:
    """Return the reliability of the observed means, and the ceiling that it sets for a score.

    The ceiling, its square root, is the correlation of true and observed means.
    """
    n, k = effect_sizes.shape
    if n < 2 or k < 2:
        return math.nan, math.nan
    share = float(reliability_of_means(effect_sizes.mean(axis=1), effect_sizes.var(axis=1, ddof=1), k))
    return share, math.sqrt(share)


def reliability_of_means(means: np.ndarray, variances: np.ndarray, k: int) -> np.ndarray:
    """Return the intraclass correlation of means of k retrainings along the last axis, (..., n_subsets).

    (MSB - MSW) / MSB (Shrout and Fleiss 1979, ICC(1, k)), at least 0; `variances` are the variances of the
    retrainings of each subset. NaN if all means are equal.
    """
    between, within = k * means.var(axis=-1, ddof=1), variances.mean(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(between > 0, np.maximum(0.0, (between - within) / between), np.nan)


def subset_table(
    predictions: Sequence[Prediction],
    effect_sizes: pd.DataFrame,
    sets: pd.DataFrame,
    digests: Mapping[str, str],
    weat: str,
) -> pd.DataFrame:
    """Return the subsets with mean predictions over all baselines, and observations: ``lds/removals.tsv``."""
    rows = sets.drop_duplicates("set").set_index("set").loc[list(effect_sizes.index), ["size", "replicate"]]
    rows = rows.assign(**{DOCUMENTS: pd.Series(digests)}).reset_index()
    values = effect_sizes.to_numpy()
    n_retrainings = values.shape[1]
    outcome = {
        "observed_mean": values.mean(axis=1),
        "observed_sd": values.std(axis=1, ddof=1) if n_retrainings > 1 else math.nan,
        "n_retrainings": n_retrainings,
    }
    parts = [
        rows.assign(estimator=p.estimator, form=p.form, change=p.changes.mean(axis=0), **outcome)
        for p in predictions
    ]
    table = pd.concat(parts, ignore_index=True).assign(weat=weat)
    return table.assign(**{OUTCOME: digest_outcomes(table, BOUND)})[list(COLUMNS["lds/removals"])]


def _ways(prediction: Prediction, seed: int, weat: str, size: int) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield numbers of baselines, 0 for a prediction without baselines, with ways to choose that many."""
    n = len(prediction.changes)
    if n == 1:
        yield 0, [[0]]
        return
    for k in sorted({k for k in N_BASELINES if k < n} | {n}):
        choices = choose_seeds(n, k, stream(seed, "lds baselines", weat, size, k))
        sample = stream(seed, "lds ways", weat, size, k).permutation(len(choices))[:MAX_WAYS]
        yield k, [choices[i] for i in np.sort(sample)]


def write_scores(
    retrained: list[Path],
    subsets: Path,
    differential_bias: list[Path],
    ppmi: list[Path],
    predictions: Path,
    ppmi_sets: Path,
    removals: Path,
    scores: Path,
    seed: int,
) -> None:
    """Write the linear datamodeling scores of attributions, by random subsets of the corpus.

    `differential_bias` and `ppmi` have a table of each test; `retrained` has the tables of all jobs.
    """
    columns = ("set", "weat", "seed", "effect_size", "documents_sha256")
    measured = pd.concat([read_tsv(path, columns) for path in retrained], ignore_index=True)
    tables = [measured, read_tsv(predictions), read_tsv(ppmi_sets)]
    sets, subset_tables, score_tables = read_parquet(subsets), [], []
    for path in differential_bias:
        weat = path.stem
        bias, of_sets, ppmi_of_sets = (table[table["weat"] == weat] for table in tables)
        estimates = read_parquet(path), read_parquet(of_test(ppmi, weat))
        digests = dict(zip(bias["set"], bias["documents_sha256"], strict=True))
        for size, size_sets in sets.groupby("size"):
            names = list(size_sets["set"].unique())
            lacks = mask(size_sets, names, len(estimates[0]))
            predicted = list(predict_subsets(lacks, names, *estimates, of_sets, ppmi_of_sets))
            effect_sizes = observe(bias, names)
            random = random_changes(lacks, stream(seed, "lds random", weat, size))
            subset_tables.append(subset_table(predicted, effect_sizes, size_sets, digests, weat))
            score_tables.append(score(predicted, random, effect_sizes.to_numpy(), seed, weat, size))
    write_tsv(removals, pd.concat(subset_tables, ignore_index=True))
    write_tsv(scores, pd.concat(score_tables, ignore_index=True))
