"""Estimates of attributions for documents and sets, as arrays and as columns of stored tables."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.origins.attribution.registry import Attribution

SUM, SET = "sum", "set"
"""Predictions for a set: the sum of the estimates of its documents, or the estimate of the joint removal."""


class Estimates(NamedTuple):
    """Estimates of an attribution for the removal of units: documents or sets of documents.

    There is a row for each of n baselines, or a single row if the attribution needs no baseline.
    """

    bias: np.ndarray  # (n,) float64, B(w), in the representation of the attribution
    values: np.ndarray  # (n, n_units) float64, B(w) - B(w~) (Eq. 5)
    without: np.ndarray  # (n, n_units) float64, B(w~)
    fallbacks: np.ndarray  # (n, n_units) int64, number of words with the estimate of another attribution


def from_values(bias: np.ndarray, values: np.ndarray, fallbacks: np.ndarray | int = 0) -> Estimates:
    """Return estimates from the bias and its differences."""
    return Estimates(
        bias, values, bias[:, None] - values, np.broadcast_to(np.asarray(fallbacks, np.int64), values.shape)
    )


def read(attribution: Attribution, table: pd.DataFrame) -> np.ndarray:
    """Return the estimates of an attribution from a table of a test, (n, n_documents) float64."""
    if attribution.per_baseline:
        return seed_values(table, attribution.name)
    return read_mean(attribution, table)[None]


def read_mean(attribution: Attribution, table: pd.DataFrame) -> np.ndarray:
    """Return the mean over the baselines from a table of a test, (n_documents,) float64."""
    if attribution.per_baseline:
        return table[f"{attribution.name}_mean"].to_numpy(np.float64)
    return np.nan_to_num(table[attribution.name].to_numpy(np.float64))


def seed_values(table: pd.DataFrame, column: str) -> np.ndarray:
    """Return the estimates of every document by each baseline, (n_baselines, n_documents) float64."""
    columns = [c for c in table.columns if c.startswith(f"{column}_seed")]
    if len(columns) < 2:
        raise InputError(
            f"{column}: expected at least 2 baselines in the table, found {len(columns)}; increase baselines"
        )
    return table[columns].to_numpy(np.float64).T
