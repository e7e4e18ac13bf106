"""Predictions against retrained embeddings (Brunet et al. 2019, Section 5.2, Table 4)."""

from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import fit_columns, welch
from biaslab.origins.sets.names import RANDOM
from biaslab.origins.sets.selection import only_removed

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
_SET = list(COLUMNS["perturbations"][:6])


def write_evaluation(
    baseline: Path, predictions: Path, observed: Path, seed: int, perturbations: Path, correlation: Path
) -> None:
    """Compare predicted with observed bias: Welch's tests, correlations, slopes."""
    table = compare_sets(read_tsv(baseline), read_tsv(predictions), read_tsv(observed))
    write_tsv(perturbations, table)
    write_tsv(correlation, correlate(table, seed))


def compare_sets(baseline: pd.DataFrame, predictions: pd.DataFrame, observed: pd.DataFrame) -> pd.DataFrame:
    """Set the predicted bias of every set beside that of its retrained embeddings: ``perturbations.tsv``.

    Where no random set was removed, there are none.
    """
    retrained = {key: group.to_numpy() for key, group in observed.groupby(["set", "weat"])["effect_size"]}
    before = {key: group.to_numpy() for key, group in baseline.groupby("weat")["effect_size"]}
    rows = []
    for key, predicted in only_removed(predictions, observed["set"]).groupby(_SET, sort=False)["predicted"]:
        weat, name, *_ = key
        if (name, weat) not in retrained:
            raise InputError(f"no retrained embedding of the set {name} was measured; measure the sets again")
        after, base = retrained[name, weat], before[weat]
        after_sd = after.std(ddof=1) if len(after) > 1 else np.nan
        row = [*key, predicted.mean(), predicted.std(ddof=1), after.mean(), after_sd, len(after)]
        rows.append([*row, base.mean(), base.std(ddof=1), *welch(after, base)])
    return pd.DataFrame(rows, columns=COLUMNS["perturbations"])


def correlate(perturbations: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Fit the observed to the predicted bias over the targeted sets of each test: ``correlation.tsv``."""
    targeted = perturbations[perturbations["kind"] != RANDOM]
    rows = []
    for (weat, estimator), group in targeted.groupby(["weat", "estimator"], sort=False):
        rng = stream(seed, "bootstrap", weat, estimator)
        fit = fit_columns(group["predicted_mean"], group["observed_mean"], rng)
        rows.append({"weat": weat, "estimator": estimator, "n_sets": len(group), **fit})
    return pd.DataFrame(rows, columns=COLUMNS["correlation"])
