"""Measure how well scores separate positive from negative texts (Kennedy et al. 2020, Tables 1, 5, Figure 2).

A score is the logit of the positive class, s(x) = logit₁ − logit₀. A text is classified as positive if its
score is above 0.

For texts with a group identifier the paper reports one number, the accuracy on news (Section 4.3). This
module adds the measures of Borkan et al. (2019, "Nuanced metrics for measuring unintended bias with real data
for text classification") and the pass rates of HateCheck (Röttger et al. 2021).
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.core.stats import LEVEL, share_interval
from biaslab.text.scores import precision_recall_f1

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokens


COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))  # the columns of the tables of a corpus


class Metrics(NamedTuple):
    """Measures of one classifier on one set of texts, as fractions."""

    n: int
    n_positive: int
    precision: float
    recall: float
    f1: float
    accuracy: float
    macro_accuracy: float


MEASURES = Metrics._fields[2:]  # the measures among the fields of `Metrics`


def measure(scores: ArrayLike, labels: ArrayLike, identifiers: ArrayLike | None = None) -> Metrics:
    """Return the measures of one classifier on one set of texts, from logits (n,) and labels (n,), 1 or 0.

    Precision and F1 without positive predictions are 0 (scikit-learn's ``zero_division=0``). The macro
    accuracy is the unweighted mean of the accuracies of the `identifiers` for which the texts were drawn.
    """
    scores, labels = check_scored(scores, labels)
    predicted = scores > 0
    is_right = predicted == labels
    rates = precision_recall_f1(predicted, labels) if labels.any() else (math.nan,) * 3
    macro_accuracy = math.nan
    if identifiers is not None:
        right = pd.Series(is_right, dtype=np.float64).groupby(np.asarray(identifiers))
        macro_accuracy = float(right.mean().mean())
    return Metrics(len(labels), int(labels.sum()), *rates, float(is_right.mean()), macro_accuracy)


def check_scored(scores: ArrayLike, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return scores as float64 and labels as bool, (n,) each."""
    scores, labels = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if scores.shape != labels.shape or scores.ndim != 1:
        raise InputError(
            f"scores of shape {scores.shape} for labels of shape {labels.shape}; pass one score per text"
        )
    if not len(scores):
        raise InputError("there are no texts to measure on; supply at least one")
    for is_bad, what in (
        (np.isnan(scores), "its score is not a number; the classifier must score every text"),
        (~np.isin(labels, (0, 1)), "its label is neither 0 nor 1"),
    ):
        if is_bad.any():
            raise InputError(f"text {np.flatnonzero(is_bad)[0] + 1}: {what}")
    return scores, labels.astype(bool)


def holding(tokens: "Tokens", ids: Sequence[int]) -> np.ndarray:
    """Return which texts contain which tokens, (n, k) bool."""
    holds = np.zeros((len(tokens), len(ids)), dtype=bool)
    for column, i in enumerate(ids):
        places = np.flatnonzero(tokens.ids == i)
        holds[np.searchsorted(tokens.offsets, places, side="right") - 1, column] = True
    return holds


def identity_table(
    scores: ArrayLike, labels: ArrayLike, holds: np.ndarray, identifiers: Sequence[str]
) -> pd.DataFrame:
    """Return the measures of every identifier.

    D⁺ and D⁻ are the positive and negative texts. Texts with index g contain the identifier; texts with index
    b (the background) do not (Borkan et al. 2019, Section 3):

    - false positive rate: share of D⁻_g classified as positive, with the Clopper-Pearson interval;
    - subgroup AUC(D⁻_g ∪ D⁺_g): how well the texts with the identifier are separated;
    - BPSN AUC(D⁺_b ∪ D⁻_g), background positive, subgroup negative: low if the identifier alone raises
      scores, so that harmless texts with it score above hateful texts without it;
    - BNSP AUC(D⁻_b ∪ D⁺_g), background negative, subgroup positive: low if the identifier lowers scores.

    `holds`, (n, k), comes from `holding`. A measure is NaN if the texts that it needs are missing.
    """
    scores, labels = check_scored(scores, labels)
    rows = []
    for name, holders in zip(identifiers, holds.T, strict=True):
        harmless = holders & ~labels
        counts = {"n": int(holders.sum()), "n_negative": int(harmless.sum())}
        rates = _rate("false_positive_rate", int((scores[harmless] > 0).sum()), counts["n_negative"])
        areas = {area: auc(scores[part], labels[part]) for area, part in areas_of(holders, labels).items()}
        rows.append({"identifier": name, **counts, **rates, **areas})
    return pd.DataFrame(rows)


def areas_of(holds: np.ndarray, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return the texts, (n,) bool, on which each of the three areas of an identifier is measured."""
    return {
        "subgroup_auc": holds,
        "bpsn_auc": np.where(labels, ~holds, holds),
        "bnsp_auc": np.where(labels, holds, ~holds),
    }


def auc_interval(scores: ArrayLike, labels: ArrayLike, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of `auc` by DeLong et al. (1988), computed on the log-odds scale.

    The bounds are NaN for fewer than two texts of either label, and for an area of 0 or 1 (no variance).
    """
    scores, labels = np.asarray(scores, np.float64), np.asarray(labels, dtype=bool)
    m, n = int(labels.sum()), int((~labels).sum())
    area = auc(scores, labels)
    if min(m, n) < 2 or not 0 < area < 1:
        return math.nan, math.nan
    ranks = scipy.stats.rankdata(scores)
    of_positive = (ranks[labels] - scipy.stats.rankdata(scores[labels])) / n
    of_negative = 1 - (ranks[~labels] - scipy.stats.rankdata(scores[~labels])) / m
    sd = math.sqrt(of_positive.var(ddof=1) / m + of_negative.var(ddof=1) / n)
    half = scipy.stats.norm.ppf((1 + level) / 2) * sd / (area * (1 - area))
    low, high = scipy.special.expit(scipy.special.logit(area) + np.array([-half, half])).tolist()
    return low, high


def auc(scores: ArrayLike, labels: ArrayLike) -> float:
    """Return the area under the ROC curve; NaN without a positive or without a negative text.

    The area is the share of pairs in which the positive text scores higher; equal scores count half.
    """
    labels = np.asarray(labels, dtype=bool)
    n_positive = int(labels.sum())
    n_pairs = n_positive * (labels.size - n_positive)
    if not n_pairs:
        return math.nan
    ranks = scipy.stats.rankdata(scores)
    return float((ranks[labels].sum() - n_positive * (n_positive + 1) / 2) / n_pairs)


def is_reversed(scores: ArrayLike, labels: ArrayLike) -> bool:
    """Return whether positive texts score lower, by the one-sided Mann-Whitney test at the 1% level."""
    labels = np.asarray(labels, dtype=bool)
    n, n_positive = labels.size, int(labels.sum())
    spread = math.sqrt((n + 1) / (12 * max(1, n_positive * (n - n_positive))))
    return bool((auc(scores, labels) - 0.5) / spread < scipy.stats.norm.ppf(0.01))


def functionality_table(scores: ArrayLike, labels: ArrayLike, functionalities: Sequence[str]) -> pd.DataFrame:
    """Return the pass rates of HateCheck's functionalities, in the order of the texts, with intervals."""
    scores, labels = check_scored(scores, labels)
    cases = pd.DataFrame(
        {"functionality": list(functionalities), "label": labels, "is_right": (scores > 0) == labels}
    )
    groups = cases.groupby("functionality", sort=False)
    is_mixed = groups["label"].nunique() > 1
    if is_mixed.any():
        raise InputError(
            f"functionality '{is_mixed.idxmax()}' has texts of both labels; use one functionality per label"
        )
    columns = {"is_hateful": ("label", "first"), "n": ("label", "size"), "passed": ("is_right", "sum")}
    table = groups.agg(**columns).reset_index()
    rates = [_rate("rate", passed, n) for passed, n in zip(table["passed"], table["n"], strict=True)]
    return table.join(pd.DataFrame(rates))


def _rate(name: str, hits: int, n: int) -> dict[str, float]:
    low, high = share_interval(hits, n)
    return {name: hits / n if n else math.nan, "ci_low": low, "ci_high": high}
