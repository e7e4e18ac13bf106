"""Predictions against retrained embeddings (Brunet et al. 2019, Section 5.2, Table 4)."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import bootstrap_fit, linear_fit, welch
from biaslab.origins.sets import RANDOM

_SET = ["weat", "set", "kind", "size", "replicate", "estimator"]


def write_evaluation(
    baseline: Path, predictions: Path, observed: Path, seed: int, perturbations: Path, correlation: Path
) -> None:
    """Compare predicted with observed bias: Welch's tests, correlations, slopes."""
    table = compare_sets(read_tsv(baseline), read_tsv(predictions), read_tsv(observed))
    write_tsv(perturbations, table)
    write_tsv(correlation, correlate(table, seed))


def compare_sets(baseline: pd.DataFrame, predictions: pd.DataFrame, observed: pd.DataFrame) -> pd.DataFrame:
    """Set the predicted bias of every set beside that of its retrained embeddings: ``perturbations.tsv``."""
    retrained = {key: group.to_numpy() for key, group in observed.groupby(["set", "weat"])["effect_size"]}
    before = {key: group.to_numpy() for key, group in baseline.groupby("weat")["effect_size"]}
    rows = []
    for key, predicted in predictions.groupby(_SET, sort=False)["predicted"]:
        row = dict(zip(_SET, key, strict=True))
        if (row["set"], row["weat"]) not in retrained:
            raise InputError(
                f"no retrained embedding of the set {row['set']} was measured; measure the sets again"
            )
        after, base = retrained[row["set"], row["weat"]], before[row["weat"]]
        t, p = welch(after, base)
        row |= {
            "predicted_mean": predicted.mean(),
            "predicted_sd": predicted.std(ddof=1),
            "observed_mean": after.mean(),
            "observed_sd": after.std(ddof=1) if len(after) > 1 else np.nan,
            "n_retrains": len(after),
            "baseline_mean": base.mean(),
            "baseline_sd": base.std(ddof=1),
            "welch_t": t,
            "welch_p": p,
        }
        rows.append(row)
    return pd.DataFrame(rows)


def correlate(perturbations: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Fit the observed to the predicted bias over the targeted sets of each test: ``correlation.tsv``."""
    targeted = perturbations[perturbations["kind"] != RANDOM]
    rows = []
    for (weat, estimator), group in targeted.groupby(["weat", "estimator"], sort=False):
        rng = stream(seed, "bootstrap", weat, estimator)
        fit = fit_columns(group["predicted_mean"], group["observed_mean"], rng)
        rows.append({"weat": weat, "estimator": estimator, "n_sets": len(group), **fit})
    return pd.DataFrame(rows)


def fit_columns(x: ArrayLike, y: ArrayLike, rng: np.random.Generator) -> dict[str, float]:
    """Fit y to x, with 95% bootstrap intervals over the points; named as in ``correlation.tsv``."""
    fit, interval = linear_fit(x, y), bootstrap_fit(x, y, rng)
    return {
        "r2": fit.r2,
        "r2_ci_low": interval.r2_low,
        "r2_ci_high": interval.r2_high,
        "slope": fit.slope,
        "slope_ci_low": interval.slope_low,
        "slope_ci_high": interval.slope_high,
        "intercept": fit.intercept,
    }
