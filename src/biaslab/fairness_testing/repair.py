"""What repair by retraining does to individuals, groups and accuracy, beside a control.

Retraining with discriminatory samples changes a network in two ways: by what is added, and by training on.
The control is retrained with nothing added (`retraining.retrain_with_nothing`). Measured is, beside accuracy,

- IF_o and IF_r, the shares of the rows of the data (original) and of uniform samples of the domain (random)
  that are discriminatory: less is fairer;
- SPD, the greatest difference between two groups in the share of rows that are predicted favourable
  (statistical parity), and EOD, the same of the rows that are so (equal opportunity): nearer 0 is fairer.

Groups are the values that the data have of the protected attributes, those with `MIN_GROUP` rows or more of
the kind that is counted: of few, a rate says nothing.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from biaslab.fairness_testing.retraining import DEFAULT, Settings, retrain, retrain_with_nothing
from biaslab.fairness_testing.testers.discrimination import discriminatory_share
from biaslab.fairness_testing.testers.subject import Subject

BEFORE, CONTROL, REPAIRED = NETWORKS = ("before", "control", "repaired")
"""The tested network, retrained with nothing added, retrained with finds and their partners."""
MEASURES = ("accuracy", "IF_o", "IF_r", "SPD", "EOD")
MIN_GROUP = 30


def repair_table(
    subject: Subject,
    X: np.ndarray,
    y: np.ndarray,
    found: np.ndarray,
    uniform: np.ndarray,
    *,
    favourable: int,
    repetitions: int,
    seed: int,
    settings: Settings = DEFAULT,
) -> pd.DataFrame:
    """Return `MEASURES` of each of `NETWORKS`, a row a repetition; the tested one has one.

    `found` are different discriminatory samples, (f, d) int32, which are labelled by the majority; `uniform`
    are samples of the domain, and `favourable` is the class that is good to get.
    """

    def row(kind: str, repetition: int, model: object) -> dict[str, object]:
        measured = measure(replace(subject, model=model), X, y, uniform, favourable)
        return {"network": kind, "repetition": repetition} | measured

    rows = [row(BEFORE, 0, subject.model)]
    for repetition in range(repetitions):
        how = {"repetition": repetition, "seed": seed, "settings": settings}
        rows.append(row(CONTROL, repetition, retrain_with_nothing(subject, X, y, **how)))
        rows.append(row(REPAIRED, repetition, retrain(subject, X, y, found, label_rule="majority", **how)))
    return pd.DataFrame(rows)


def measure(
    subject: Subject, X: np.ndarray, y: np.ndarray, uniform: np.ndarray, favourable: int
) -> dict[str, float]:
    """Return the `MEASURES` of a classifier on data, (N, d) int32, with labels, (N,) int64."""
    predicted = subject.model.labels(X)
    groups = np.unique(X[:, subject.protected.columns], axis=0, return_inverse=True)[1].ravel()
    is_good, is_so = predicted == favourable, y == favourable
    return {
        "accuracy": float(np.mean(predicted == y)),
        "IF_o": discriminatory_share(subject, X),
        "IF_r": discriminatory_share(subject, uniform),
        "SPD": _greatest_difference(is_good, groups),
        "EOD": _greatest_difference(is_good[is_so], groups[is_so]),
    }


def _greatest_difference(is_good: np.ndarray, groups: np.ndarray) -> float:
    """Return the greatest difference between the rates of two groups; NaN without two of enough rows."""
    n = np.bincount(groups)
    rates = np.bincount(groups, weights=is_good, minlength=len(n))[n >= MIN_GROUP] / n[n >= MIN_GROUP]
    return float(rates.max() - rates.min()) if len(rates) > 1 else float("nan")
