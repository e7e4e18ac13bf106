"""Cross-fitting: some baselines select documents, and the other baselines predict the removal.

The largest of many noisy estimates are too large. If the same embeddings select the documents and predict the
effect of their removal, the prediction includes the noise behind the selection. Predictions by embeddings
that did not select are free of this noise (cross-fitting: Chernozhukov et al. 2018).
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import mean_difference, mean_interval
from biaslab.origins.attribution.estimates import SET, SUM, seed_values
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.attribution.tables import estimate_sets
from biaslab.origins.baseline import choose_seeds
from biaslab.origins.expansion import of_test
from biaslab.origins.sets import INCREASE, TARGETED_KINDS

Predict = Callable[[list[np.ndarray]], np.ndarray]
"""Maps the documents of each set to the changes of the bias, (n_baselines, n_sets) float64."""

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["cross_fitting"]
PREDICTED, OBSERVED = list(COLUMNS[:-3]), list(COLUMNS[-3:])
TEXTS = ("weat", "set", "kind", "estimator", "form")


def write_cross_fitting(
    embeddings: list[Path],
    cooccurrence: Path,
    corpus: Path,
    vocabulary: Path,
    differential_bias: list[Path],
    sets: Path,
    word_sets: list[Path],
    influence: InfluenceParameters,
    estimator: str,
    seed: int,
    out: Path,
    threads: int = 1,
) -> None:
    """Write predictions of the removal of each set by baselines that selected it, and by the others."""
    scanner, tests = read_scanner(embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads)
    removed = read_parquet(sets, ["set", "weat", "kind", "size"]).drop_duplicates()
    parts = []
    for test in tests:
        values = seed_values(read_parquet(of_test(differential_bias, test.name)), estimator)
        test_sets = removed[removed["weat"] == test.name].assign(estimator=estimator)
        parts.append(cross_fit_sets(values, predictors(scanner, test, values, estimator), test_sets, seed))
    write_tsv(out, pd.concat(parts, ignore_index=True))


def predictors(scanner: Scanner, weat: WeatIndices, values: np.ndarray, estimator: str) -> dict[str, Predict]:
    """Return both predictions of an estimator for sets of documents, by name: `SUM` and `SET`."""
    return {
        SUM: lambda sets: -np.stack([values[:, s].sum(axis=1) for s in sets], axis=1),
        SET: lambda sets: -estimate_sets(estimator, scanner, weat, sets).values,
    }


def choose(
    values: np.ndarray, kind: str, size: int, n_choosing: int, rng: np.random.Generator
) -> list[tuple[list[int], np.ndarray]]:
    """Select documents by each group of `n_choosing` baselines; return the groups with (size,) int64."""
    n, sign = len(values), 1 if kind == INCREASE else -1
    groups = choose_seeds(n, n_choosing, rng)
    return [(g, np.argsort(sign * values[g].mean(axis=0), kind="stable")[:size]) for g in groups]


def own_and_others(changes: np.ndarray, choosing: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return mean predictions for each set by the baselines that selected it, and by the others."""
    selected = np.zeros(changes.shape, bool)
    for k, baselines in enumerate(choosing):
        selected[baselines, k] = True
    return tuple(np.mean(changes, axis=0, where=mask) for mask in (selected, ~selected))


def cross_fit_sets(
    values: np.ndarray, predict: Mapping[str, Predict], sets: pd.DataFrame, seed: int
) -> pd.DataFrame:
    """Predict the targeted sets of a test by baselines that selected them, and by the others."""
    n, rows = len(values), []
    numbers = sorted({1, n // 2, n - 1})  # of baselines that select
    targeted = sets[sets["kind"].isin(TARGETED_KINDS)]
    for s, k in itertools.product(targeted.itertuples(), numbers):
        choices = choose(values, s.kind, s.size, k, stream(seed, "cross-fitting", s.weat, k))
        choosing, documents = zip(*choices, strict=True)
        n_choices = len(choices)
        for form, predict_changes in predict.items():
            own, others = own_and_others(predict_changes(list(documents)), choosing)
            optimism = (own - others) * (1 if s.kind == INCREASE else -1)
            interval = mean_interval(optimism) if k in (1, n - 1) else (math.nan, math.nan)
            row = [s.weat, s.set, s.kind, s.size, s.estimator, form, k, n_choices, own.mean(), others.mean()]
            rows.append([*row, optimism.mean(), optimism.std(ddof=1), *interval])
    return pd.DataFrame(rows, columns=PREDICTED)


def with_outcomes(predictions: pd.DataFrame, baseline: pd.DataFrame, observed: pd.DataFrame) -> pd.DataFrame:
    """Add the observed change by the removal of each set to its predictions: ``cross_fitting.tsv``."""
    before = dict(list(baseline.groupby("weat")["effect_size"]))
    after = dict(list(observed.groupby(["set", "weat"])["effect_size"]))
    rows = []
    for weat, name in predictions[["weat", "set"]].drop_duplicates().to_numpy():
        if (name, weat) not in after:
            raise InputError(f"no retrained embedding of the set {name} was measured; rerun the measurement")
        rows.append([weat, name, *mean_difference(after[name, weat], before[weat])[:3]])
    changes = pd.DataFrame(rows, columns=["weat", "set", *OBSERVED])
    return predictions.merge(changes, on=["weat", "set"], validate="many_to_one")


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """Summarise, over the sets of a test, the overestimate and the part that cross-fitting removes.

    A row per test, form and ``n_choosing``: means over the sets, in the direction of the removal, of ``own``,
    ``others`` and ``observed``; ``removed``, the share of the overestimate (``own - observed``) that
    cross-fitting removes. It is NaN without an overestimate. It is given only if all baselines except one
    select, because fewer baselines select other sets than the retrained ones.
    """
    sign = np.where(table["kind"] == INCREASE, 1, -1)
    changes = table[["own", "others", "observed"]].mul(sign, axis=0)
    keys = ["weat", "form", "n_choosing"]
    groups = pd.concat([table[keys], changes], axis=1).groupby(keys, sort=False)
    means = groups.mean().assign(n_sets=groups.size()).reset_index()
    overestimate = means["own"] - means["observed"]
    is_defined = (overestimate > 0) & (means["n_choosing"] == means["n_choosing"].max())
    return means.assign(removed=((means["own"] - means["others"]) / overestimate).where(is_defined))
