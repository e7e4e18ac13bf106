"""Compare predictions with retrained embeddings (Brunet et al. 2019, Section 5.2, Table 4)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.rng import stream
from biaslab.core.stats import fit_columns, welch
from biaslab.embeddings.analogies import COLUMNS as ANALOGIES
from biaslab.embeddings.batches import join_tables
from biaslab.origins.baseline import OBSERVED
from biaslab.origins.checks import cross_fitting as cross_fit
from biaslab.origins.representations import axis, transfer
from biaslab.origins.sets import BASELINE, RANDOM
from biaslab.origins.sets.selection import only_removed

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))
_SET = list(COLUMNS["perturbations"][:6])


def evaluate_retrainings(
    measured: list[Path],
    answered: list[Path],
    projected: list[Path],
    baseline: Path,
    predictions: Path,
    cross_fitted: Path,
    ppmi: Path,
    sets: Path,
    seed: int,
    observed: Path,
    observed_by_ppmi: Path,
    analogies: Path,
    projections: Path,
    frequency: Path,
    perturbations: Path,
    correlation: Path,
    cross_fitting: Path,
    changes: Path,
    responses: Path,
    measured_by_ppmi: Sequence[Path] = (),
    word2vec: Path | None = None,
) -> None:
    """Join the measurements of all embeddings, and compare them with every prediction."""
    for joined, parts in ((observed, measured), (observed_by_ppmi, measured_by_ppmi)):
        join_tables(joined, parts, OBSERVED, OBSERVED[:3], text=("set", "weat"))
    join_tables(analogies, answered, ANALOGIES, ANALOGIES[:2], text=("set",))
    axis_table = axis.join_projections(read_tsv(table, axis.PROJECTIONS, axis.TEXTS) for table in projected)
    write_tsv(projections, axis_table)
    write_tsv(frequency, axis.fit_frequency(axis_table, seed))
    before, after = read_tsv(baseline), read_tsv(observed)
    comparison = compare_sets(before, read_tsv(predictions), after)
    write_tsv(perturbations, comparison)
    write_tsv(correlation, correlate(comparison, seed))
    cross_predictions = read_tsv(cross_fitted, tuple(cross_fit.PREDICTED), cross_fit.TEXTS)
    write_tsv(cross_fitting, cross_fit.with_outcomes(cross_predictions, before, after))
    columns = ("set", "weat", "effect_size")
    glove = pd.concat([before.assign(set=BASELINE), after], ignore_index=True)
    samples = {"glove": glove, "ppmi": read_tsv(ppmi, columns)}
    if word2vec is not None:
        samples["word2vec"] = read_tsv(word2vec, columns)
    change_table = transfer.set_changes(samples, only_removed(read_parquet(sets), after["set"]))
    write_tsv(changes, change_table)
    write_tsv(responses, transfer.compare_responses(change_table, seed))


def compare_sets(baseline: pd.DataFrame, predictions: pd.DataFrame, observed: pd.DataFrame) -> pd.DataFrame:
    """Compare the predicted bias of every removed set with retrained embeddings: ``perturbations.tsv``."""
    retrained = {key: group.to_numpy() for key, group in observed.groupby(["set", "weat"])["effect_size"]}
    before = {key: group.to_numpy() for key, group in baseline.groupby("weat")["effect_size"]}
    rows = []
    for key, predicted in only_removed(predictions, observed["set"]).groupby(_SET, sort=False)["predicted"]:
        weat, name, *_ = key
        if (name, weat) not in retrained:
            raise InputError(f"no retrained embedding of the set {name} was measured; rerun the measurement")
        after, base = retrained[name, weat], before[weat]
        after_sd = after.std(ddof=1) if len(after) > 1 else np.nan
        row = [*key, predicted.mean(), predicted.std(ddof=1), after.mean(), after_sd, len(after)]
        rows.append([*row, base.mean(), base.std(ddof=1), *welch(after, base)])
    return pd.DataFrame(rows, columns=COLUMNS["perturbations"])


def correlate(perturbations: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Regress observed on predicted bias over the targeted sets of each test: ``correlation.tsv``."""
    targeted = perturbations[perturbations["kind"] != RANDOM]
    rows = []
    for (weat, estimator), group in targeted.groupby(["weat", "estimator"], sort=False):
        rng = stream(seed, "bootstrap", weat, estimator)
        fit = fit_columns(group["predicted_mean"], group["observed_mean"], rng)
        rows.append({"weat": weat, "estimator": estimator, "n_sets": len(group), **fit})
    return pd.DataFrame(rows, columns=COLUMNS["correlation"])
