"""Cross-fitting: documents chosen by some baselines, their removal predicted by the others.

The largest of many noisy estimates are too large: where the same embeddings choose the documents of a set
and predict what their removal does, noise that put a document into the set is counted as its effect.
Predictions of embeddings that had no part in the choice are free of that (cross-fitting: Chernozhukov et al.
2018).
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
from biaslab.origins.attribution.asking import of_sets
from biaslab.origins.attribution.estimates import SET, SUM, seed_values
from biaslab.origins.attribution.scanner import Scanner, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters
from biaslab.origins.baseline import choose_seeds
from biaslab.origins.expansion import of_test
from biaslab.origins.sets import INCREASE, TARGETED_KINDS

Predict = Callable[[list[np.ndarray]], np.ndarray]
"""What makes of the documents of each set the changes of the bias, (n_baselines, n_sets) float64."""

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
    """Let some baselines choose the documents of each set, and the others predict what their removal does."""
    scanner, tests = read_scanner(embeddings, cooccurrence, corpus, vocabulary, word_sets, influence, threads)
    removed = read_parquet(sets, ["set", "weat", "kind", "size"]).drop_duplicates()
    parts = []
    for test in tests:
        values = seed_values(read_parquet(of_test(differential_bias, test.name)), estimator)
        chosen = removed[removed["weat"] == test.name].assign(estimator=estimator)
        parts.append(cross_fit_sets(values, predictors(scanner, test, values, estimator), chosen, seed))
    write_tsv(out, pd.concat(parts, ignore_index=True))


def predictors(scanner: Scanner, weat: WeatIndices, values: np.ndarray, estimator: str) -> dict[str, Predict]:
    """Return both predictions of an estimator for sets of documents, by their names `SUM` and `SET`."""
    return {
        SUM: lambda sets: -np.stack([values[:, s].sum(axis=1) for s in sets], axis=1),
        SET: lambda sets: -of_sets(estimator, scanner, weat, sets).values,
    }


def choose(
    values: np.ndarray, kind: str, size: int, n_choosing: int, rng: np.random.Generator
) -> list[tuple[list[int], np.ndarray]]:
    """Choose a set of documents by some baselines, in several ways: these baselines, and (size,) int64.

    From `values` (n_baselines, n_documents), estimates of B(w) - B(w~) (Eq. 5). The removal is to raise
    or lower the bias, as `kind` says. `rng` draws the ways where there are very many (`choose_seeds`).
    """
    n, sign = len(values), 1 if kind == INCREASE else -1
    ways = choose_seeds(n, n_choosing, rng)
    return [(a, np.argsort(sign * values[a].mean(axis=0), kind="stable")[:size]) for a in ways]


def own_and_others(changes: np.ndarray, choosing: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means of what the baselines that chose each set predict for it, and the others."""
    chose = np.zeros(changes.shape, bool)
    for k, baselines in enumerate(choosing):
        chose[baselines, k] = True
    return tuple(np.mean(changes, axis=0, where=who) for who in (chose, ~chose))


def cross_fit_sets(
    values: np.ndarray,
    predict: Mapping[str, Predict],
    sets: pd.DataFrame,
    seed: int,
) -> pd.DataFrame:
    """Predict the targeted sets of a test by baselines that chose them, and by the others.

    `predict` holds by its name what predicts the change B(w~) - B(w) of each set. `sets` has a row a set
    of the test: weat, set, kind, size, and the estimator behind `values`. Return the rows of
    ``cross_fitting/predictions.tsv``.
    """
    n, rows = len(values), []
    numbers = sorted({1, n // 2, n - 1})  # of baselines that choose
    targeted = sets[sets["kind"].isin(TARGETED_KINDS)]
    for s, k in itertools.product(targeted.itertuples(), numbers):
        ways = choose(values, s.kind, s.size, k, stream(seed, "cross-fitting", s.weat, k))
        choosing, documents = zip(*ways, strict=True)
        for form, changes_of in predict.items():
            own, others = own_and_others(changes_of(list(documents)), choosing)
            optimism = (own - others) * (1 if s.kind == INCREASE else -1)
            interval = mean_interval(optimism) if k in (1, n - 1) else (math.nan, math.nan)
            row = [s.weat, s.set, s.kind, s.size, s.estimator, form, k, len(ways), own.mean(), others.mean()]
            rows.append([*row, optimism.mean(), optimism.std(ddof=1), *interval])
    return pd.DataFrame(rows, columns=PREDICTED)


def with_outcomes(predictions: pd.DataFrame, baseline: pd.DataFrame, observed: pd.DataFrame) -> pd.DataFrame:
    """Set the change without each set beside its predictions: the rows of ``cross_fitting.tsv``.

    `baseline` and `observed` are the tables of the effect sizes before and after.
    """
    before = dict(list(baseline.groupby("weat")["effect_size"]))
    after = dict(list(observed.groupby(["set", "weat"])["effect_size"]))
    rows = []
    for weat, name in predictions[["weat", "set"]].drop_duplicates().to_numpy():
        if (name, weat) not in after:
            raise InputError(f"no retrained embedding of the set {name} was measured; measure the sets again")
        rows.append([weat, name, *mean_difference(after[name, weat], before[weat])[:3]])
    changes = pd.DataFrame(rows, columns=["weat", "set", *OBSERVED])
    return predictions.merge(changes, on=["weat", "set"], validate="many_to_one")


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """Add up, over the sets of a test, by how much predictions overshoot, and what cross-fitting takes away.

    A row a test, form and ``n_choosing``: means over the sets, in the direction of the removal, of
    ``own``, ``others`` and ``observed``; ``removed``, the share of the overestimate (``own - observed``)
    that goes with cross-fitting, NaN where there is none. Only where all baselines but one choose: fewer
    find other sets than those that were retrained.
    """
    sign = np.where(table["kind"] == INCREASE, 1, -1)
    changes = table[["own", "others", "observed"]].mul(sign, axis=0)
    keys = ["weat", "form", "n_choosing"]
    groups = pd.concat([table[keys], changes], axis=1).groupby(keys, sort=False)
    means = groups.mean().assign(n_sets=groups.size()).reset_index()
    overestimate = means["own"] - means["observed"]
    is_told = (overestimate > 0) & (means["n_choosing"] == means["n_choosing"].max())
    return means.assign(removed=((means["own"] - means["others"]) / overestimate).where(is_told))
