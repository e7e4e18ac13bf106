"""Which estimator is right: each against the retrained embeddings, over the same perturbation sets."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from biaslab.core.tables import Table, text_columns
from biaslab.origins.results import Setup

_NOTE = (
    "Over the targeted sets, a point a set: the mean effect size that an estimator predicts over the "
    "baseline embeddings, and the mean that retrained embeddings have. r² and slope are those of Table 4, a "
    "slope above 1 says that predictions fall short. Rank correlation is Spearman's, of predicted and "
    "observed effect sizes. Same sign: sets whose predicted and observed change from the mean of the "
    "baselines have the same sign. Mean error: mean absolute difference of predicted and observed effect "
    "size."
)


def compare_estimators(setups: Sequence[Setup]) -> Table:
    """Set the estimators side by side for every setup and test."""
    parts = []
    for setup in setups:
        for weat in setup.weats:
            columns = ("kind", "estimator", "predicted_mean", "observed_mean", "baseline_mean")
            measured = agreement(setup.of_weat("perturbations", weat, *columns))
            fits = setup.of_weat("correlation", weat, "estimator", "n_sets", "r2", "slope")
            fits = fits[["weat", "estimator", "n_sets", "r2", "slope"]]
            part = fits.merge(measured, on="estimator", validate="one_to_one")
            part.insert(0, "setup", setup.name)
            parts.append(part)
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


def agreement(perturbations: pd.DataFrame) -> pd.DataFrame:
    """Measure how predictions for the targeted sets of one test agree with what was observed.

    Parameters
    ----------
    perturbations : pandas.DataFrame
        ``kind``, ``estimator``, ``predicted_mean``, ``observed_mean``, ``baseline_mean``; a row a set and
        estimator.

    Returns
    -------
    pandas.DataFrame
        A row an estimator, in the order of their first rows: ``estimator``; ``spearman``, the rank
        correlation of predicted and observed mean (NaN for fewer than two sets, or when one of them is
        constant); ``n_same_sign``, sets whose predicted and observed change from the baseline have the same
        sign; ``mean_absolute_error`` of the predicted mean.
    """
    rows = []
    targeted = perturbations[perturbations["kind"] != "random"]
    for estimator, sets in targeted.groupby("estimator", sort=False):
        predicted, observed = sets["predicted_mean"].to_numpy(), sets["observed_mean"].to_numpy()
        before = sets["baseline_mean"].to_numpy()
        rows.append(
            {
                "estimator": estimator,
                "spearman": _spearman(predicted, observed),
                "n_same_sign": int((np.sign(predicted - before) == np.sign(observed - before)).sum()),
                "mean_absolute_error": float(np.abs(predicted - observed).mean()),
            }
        )
    return pd.DataFrame(rows)


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])
