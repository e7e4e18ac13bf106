"""Which estimator is right: each against the retrained embeddings (Table 4, and over the same sets)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.core.stats import linear_fit, rank_correlation
from biaslab.core.tables import Table, text_columns
from biaslab.origins.attribution.registry import ESTIMATED
from biaslab.origins.checks.retraining.analysis import COLUMNS
from biaslab.origins.report.results import FIT_SHOWN, Setup, rows_of_tests
from biaslab.origins.sets.names import PPMI, RANDOM

_CORRELATION_NOTE = (
    "Least squares of the observed on the predicted mean effect size, a point a targeted set; intervals "
    "by bootstrap. A slope of 1 says that predictions have the right size. Estimators: "
    + ", ".join(f"{a.name} {a.about}" for a in ESTIMATED)
    + "."
)
_NOTE = (
    "Over the targeted sets, a point a set: the mean effect size that an estimator predicts over the "
    "baseline embeddings, and the mean that retrained embeddings have. r² and slope are those of Table 4, a "
    "slope above 1 says that predictions fall short. Rank correlation is Spearman's, of predicted and "
    "observed effect sizes. Same sign: sets whose predicted and observed change from the mean of the "
    "baselines have the same sign. Mean error: mean absolute difference of predicted and observed effect "
    "size. The rows ppmi are additive: the mean of the baselines minus the sum of the differential biases of "
    "the set's documents, each exact but in the PPMI representation, whose effect sizes have another scale."
)


def correlation(setups: Sequence[Setup]) -> Table:
    """Table 4: how well predicted mean biases explain the observed ones over the targeted sets."""
    data = rows_of_tests(setups, "correlation", *COLUMNS["correlation"][1:])
    shown = {"Setup": "{setup}", "WEAT": "{weat}", "Estimator": "{estimator}", "Sets": "{n_sets}"} | FIT_SHOWN
    title = "Correlation of approximated and validated mean biases"
    return Table(data, text_columns(data, shown), title, _CORRELATION_NOTE)


def compare_estimators(setups: Sequence[Setup]) -> Table:
    """Set the estimators side by side for every setup and test."""
    columns = ("set", "kind", "estimator", "predicted_mean", "observed_mean", "baseline_mean")
    parts = []
    for setup in setups:
        sets = setup.parquet("perturbation_sets")
        for weat in setup.weats:
            ours = setup.of_weat("perturbations", weat, *columns)
            if setup.has("ppmi/{test}.parquet"):
                ours = pd.concat([ours, predict_by_ppmi(ours, sets, setup.ppmi(weat))])
            measured = agreement(ours)
            measured.insert(0, "setup", setup.name)
            measured.insert(1, "weat", weat)
            parts.append(measured)
    data = pd.concat(parts, ignore_index=True)
    shown = {
        "Setup": "{setup}",
        "WEAT": "{weat}",
        "Estimator": "{estimator}",
        "Sets": "{n_sets}",
        "r²": "{r2:.3f}",
        "Slope": "{slope:.2f}",
        "Rank correlation": "{spearman:.3f}",
        "Same sign": "{n_same_sign} of {n_sets}",
        "Mean error": "{mean_absolute_error:.3f}",
    }
    return Table(data, text_columns(data, shown), "Estimators against retrained embeddings", _NOTE)


def predict_by_ppmi(perturbations: pd.DataFrame, sets: pd.DataFrame, ppmi: pd.DataFrame) -> pd.DataFrame:
    """Predict the bias after the removal of every set from the PPMI representation, document by document.

    A row a set, with the columns of `perturbations` (one test): the baseline's mean minus the sum of the
    documents' differential biases, NaN where that of a document is undefined.
    """
    bias_of = ppmi.set_index("document")["ppmi"]
    sums = (
        bias_of.loc[sets["document"]].groupby(sets["set"].to_numpy()).agg(lambda part: part.sum(skipna=False))
    )
    rows = perturbations.drop_duplicates("set").assign(estimator=PPMI)
    return rows.assign(predicted_mean=rows["baseline_mean"] - rows["set"].map(sums))


def agreement(perturbations: pd.DataFrame) -> pd.DataFrame:
    """Measure how predictions for the targeted sets of one test agree with what was observed, by estimator.

    Sets without a prediction are left out. ``r2``, ``slope`` and ``spearman`` are NaN for fewer than two
    sets, or when one of them is constant; ``n_same_sign`` counts sets whose predicted and observed change
    from the baseline have the same sign.
    """
    rows = []
    targeted = perturbations[perturbations["kind"] != RANDOM].dropna(subset="predicted_mean")
    for estimator, sets in targeted.groupby("estimator", sort=False):
        predicted, observed = sets["predicted_mean"].to_numpy(), sets["observed_mean"].to_numpy()
        before, fit = sets["baseline_mean"].to_numpy(), linear_fit(predicted, observed)
        rows.append(
            {
                "estimator": estimator,
                "n_sets": len(sets),
                "r2": fit.r2,
                "slope": fit.slope,
                "spearman": rank_correlation(predicted, observed),
                "n_same_sign": int((np.sign(predicted - before) == np.sign(observed - before)).sum()),
                "mean_absolute_error": float(np.abs(predicted - observed).mean()),
            }
        )
    return pd.DataFrame(rows)
