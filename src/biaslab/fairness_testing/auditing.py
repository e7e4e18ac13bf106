"""Audit of a classifier: which groups it treats differently, how often and by how much, in rows and domain.

The classifier is queried on all variants of each row that differ only in protected attributes. A row favours
a value over another if only its variant with the first value gets the favourable label. The gap of a row is
the greatest favourable probability of its variants minus the least. In addition, groups of original rows are
compared. With h_v of n_v rows predicted favourable, SPD = h_v / n_v - h_r / n_r, and the impact ratio is (h_v
/ n_v) / (h_r / n_r). The reference r is the value with the highest rate, or a named value. EOD is the
difference of the true positive rates, FPD that of the false positive rates. The average odds difference (AOD)
is their mean, in which opposite errors cancel. Intervals of groups are simultaneous (Bonferroni).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.classifiers.encoding import Rows, decode
from biaslab.classifiers.schema import Schema
from biaslab.core.comparisons import compare_groups, pair_level, ratio_intervals
from biaslab.core.errors import InputError, suggest
from biaslab.core.rates import difference_interval, reference_of, usable_references
from biaslab.core.rng import stream
from biaslab.core.stats import LEVEL, mean_interval, share_interval
from biaslab.fairness_testing.own_tables import N_UNIFORM, OwnTable
from biaslab.fairness_testing.testers.contract import Subject, uniform_fairness

BATCH = 4096
N_EXAMPLES = 10

_DIFFERENCES = (
    ("spd", "rate", "n_predicted", "n"),
    ("eod", "true_positive_rate", "n_true_positive", "n_actual"),
    ("fpd", "false_positive_rate", "n_false_positive", "n_others"),
)
"""Differences of groups: name, rate, and the counts behind the rate."""


@dataclass(frozen=True)
class Audited:
    """The results for one set of protected attributes."""

    protected: str
    n_rows: int
    n_discriminatory: int  # rows with a variant that gets another label
    uniform: tuple[float, float, float]  # discriminatory share of the domain, with its interval
    values: pd.DataFrame  # value, rate (favourable if all rows had it), favoured, disfavoured, with intervals
    pairs: pd.DataFrame  # value, other, favoured (share of rows), difference and gap with intervals
    gap: dict[str, float]  # mean, with its interval, median, upper decile and maximum over rows
    groups: pd.DataFrame  # a row per value in the rows: see `group_measures`
    p_value: float  # of no difference between the rates of the groups
    odds: tuple[float, float, float]  # the equalized odds difference, with its interval
    is_named: bool  # whether the reference was named
    examples: pd.DataFrame  # rows with the greatest gaps, as texts of the table

    @property
    def numbers(self) -> dict[str, Any]:
        """The results for machines."""
        names = ("n_rows", "n_discriminatory", "uniform", "values", "pairs", "gap", "groups", "p_value")
        share, low, high = self.uniform
        return {name: getattr(self, name) for name in names} | {
            "uniform": {"share": share, "low": low, "high": high, "n": N_UNIFORM},
            "equalized_odds": dict(zip(("difference", "low", "high"), self.odds, strict=True)),
            "examples": self.examples,
        }


def audit(
    own: OwnTable, protected: Sequence[str], favourable: int, seed: int, reference: str | None = None
) -> Audited:
    """Query a classifier on all variants of the rows of a table, and compare the groups of rows."""
    table, schema, rows, subject = own.table, own.schema, own.rows, own.subject(protected)
    X, values = table.X, subject.protected.values
    attributes = [schema.attributes[column] for column in subject.protected.columns]
    words = [[a.word(code) for a, code in zip(attributes, row, strict=True)] for row in values.tolist()]
    names = np.array([", ".join(row) for row in words], object)  # of the combinations of protected values
    positions = subject.protected.positions(X)
    p = _answers(subject, X, positions, rows)
    labels = p.argmax(axis=2)
    p, is_good = p[:, :, favourable], labels == favourable
    has_value, predicted = positions >= 0, own.labels
    groups = names[positions[has_value]], predicted[has_value] == favourable, table.y[has_value] == favourable
    measured = group_measures(*groups, reference, seed)
    gaps = p.max(axis=1) - p.min(axis=1)
    low, high = mean_interval(gaps)
    return Audited(
        protected=",".join(protected),
        n_rows=len(X),
        n_discriminatory=int((labels != predicted[:, None]).any(axis=1).sum()),
        uniform=_uniform_fairness(subject, rows, seed),
        values=_values(is_good, names),
        pairs=_pairs(p, is_good, names),
        gap={
            "mean": float(gaps.mean()),
            "low": low,
            "high": high,
            "median": float(np.median(gaps)),
            "upper_decile": float(np.quantile(gaps, 0.9)),
            "maximum": float(gaps.max()),
        },
        groups=measured,
        p_value=float(measured["p_value"].min()),
        odds=equalized_odds(measured),
        is_named=reference is not None,
        examples=_examples(subject, X, p, labels, names, schema),
    )


def group_measures(
    values: np.ndarray, predicted: np.ndarray, actual: np.ndarray, reference: str | None = None, seed: int = 0
) -> pd.DataFrame:
    """Compare groups of rows by predicted and actual labels, both bool; a row per value.

    n, n_predicted, rate, true_positive_rate, false_positive_rate, agreement. Against the reference: spd,
    ratio, eod and fpd with simultaneous intervals, and average_odds. Against all others: p_value, and the
    rate that is detected with power .80 (seen_rate, seen_other_rate; NaN for too few rows).
    """
    sums = {
        "n": np.ones(len(values), np.int64),
        "n_predicted": predicted,
        "n_actual": actual,
        "n_true_positive": predicted & actual,
        "n_false_positive": predicted & ~actual,
    }
    groups = pd.DataFrame(sums | {"agreement": predicted == actual}).groupby(values)
    table = groups[list(sums)].sum().assign(agreement=groups["agreement"].mean())
    table = table.rename_axis("value").reset_index()
    table["n_others"] = table["n"] - table["n_actual"]
    with np.errstate(divide="ignore", invalid="ignore"):
        table["rate"] = table["n_predicted"] / table["n"]
        table["true_positive_rate"] = table["n_true_positive"] / table["n_actual"]
        table["false_positive_rate"] = table["n_false_positive"] / table["n_others"]
    names = table["value"].tolist()
    if reference is not None and reference not in names:
        raise InputError(
            f"--reference {reference}: unknown group (known: {', '.join(names)}){suggest(reference, names)}"
        )
    r = reference_of(table["rate"], table["n"]) if reference is None else names.index(reference)
    best, is_named = table.iloc[r], reference is not None
    table["is_reference"] = np.arange(len(table)) == r
    references = 1 if is_named else max(1, int(usable_references(table["rate"], table["n"]).sum()))
    level = pair_level(len(table), references)
    for name, rate, hits, total in _DIFFERENCES:
        table[name] = table[rate] - best[rate]
        ends = [
            difference_interval(row[hits], row[total], best[hits], best[total], level)
            for _, row in table.iterrows()
        ]
        table[[f"{name}_low", f"{name}_high"]] = ends
    table["ratio"] = table["rate"] / best["rate"] if best["rate"] else np.nan
    table[["ratio_low", "ratio_high"]] = ratio_intervals(table["n_predicted"], table["n"], r, is_named)
    table["average_odds"] = (table["eod"] + table["fpd"]) / 2
    comparison = compare_groups(table["n_predicted"], table["n"], seed=seed)
    table["p_value"], table["seen_rate"], table["seen_other_rate"] = comparison[1:]
    intervals = [f"{name}_{end}" for name in ("spd", "eod", "fpd", "ratio") for end in ("low", "high")]
    table.loc[r, intervals] = np.nan
    return table


def equalized_odds(groups: pd.DataFrame) -> tuple[float, float, float]:
    """Return the largest difference of two groups in the true or false positive rate, with its interval.

    The interval is from the largest lower to the largest upper end of simultaneous intervals (Bonferroni).
    """
    pairs = list(itertools.combinations(groups.to_dict("records"), 2))
    level = 1 - (1 - LEVEL) / max(2 * len(pairs), 1)
    differences = []
    for (a, b), (_, rate, hits, total) in itertools.product(pairs, _DIFFERENCES[1:]):
        if a[total] and b[total]:
            low, high = difference_interval(a[hits], a[total], b[hits], b[total], level)
            differences.append((abs(a[rate] - b[rate]), max(low, -high, 0.0), max(high, -low)))
    return tuple(map(float, np.max(differences, axis=0))) if differences else (np.nan, np.nan, np.nan)


def _uniform_fairness(subject: Subject, rows: Rows | None, seed: int) -> tuple[float, float, float]:
    """Return the discriminatory share of the domain, with its interval."""
    if rows is None:
        return uniform_fairness(subject, n=N_UNIFORM, seed=seed)
    rng = stream(seed, "uniform fairness")
    X = subject.domain.draw(N_UNIFORM, rng)
    labels = _answers(subject, X, np.full(len(X), -1), rows, rows.draw(X, rng)).argmax(axis=2)
    n_found = int((labels != labels[:, :1]).any(axis=1).sum())
    return n_found / len(X), *share_interval(n_found, len(X))


def _answers(
    subject: Subject, X: np.ndarray, own: np.ndarray, rows: Rows | None, frame: pd.DataFrame | None = None
) -> np.ndarray:
    """Return the probabilities of all variants, (n, m, k); `frame` has other rows than those of the file."""
    batches = []
    frame = rows.frame if rows and frame is None else frame
    for first in tqdm(range(0, len(X), BATCH), desc="variants", unit_scale=BATCH, unit=" rows", disable=None):
        part = slice(first, first + BATCH)
        if rows is None:
            variants = subject.protected.variants(X[part])
            p = subject.model.probabilities(variants.reshape(-1, X.shape[1]))
        else:
            variants = rows.variants(frame[part], subject.protected, own[part])
            p = subject.model.table_probabilities(variants)
        batches.append(p.reshape(len(X[part]), len(subject.protected.values), -1))
    return np.concatenate(batches).astype(np.float64)


def _values(is_good: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    """Return how often each value gets the favourable label, and is favoured or disfavoured."""
    any_good, all_good = is_good.any(axis=1), is_good.all(axis=1)
    rows = []
    for number, name in enumerate(names):
        is_hit = is_good[:, number]
        row = {"value": name}
        for key, hits in (
            ("rate", is_hit),
            ("favoured", is_hit & ~all_good),
            ("disfavoured", ~is_hit & any_good),
        ):
            low, high = share_interval(int(hits.sum()), len(is_hit))
            row |= {key: hits.mean(), f"{key}_low": low, f"{key}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(p: np.ndarray, is_good: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    """Return the share of rows that favour the first value over the second, for each ordered pair.

    Intervals are simultaneous (Bonferroni), because the most different pair is chosen after looking.
    """
    rows, level = [], pair_level(len(names))
    for a, b in itertools.permutations(range(len(names)), 2):
        favoured = is_good[:, a] & ~is_good[:, b]
        difference = is_good[:, a].astype(np.float64) - is_good[:, b]
        gap = p[:, a] - p[:, b]
        low, high = share_interval(int(favoured.sum()), len(favoured), level)
        ends, gap_ends = mean_interval(difference, level), mean_interval(gap, level)
        row = {"value": names[a], "other": names[b], "n_favoured": int(favoured.sum())}
        row |= {"favoured": favoured.mean(), "favoured_low": low, "favoured_high": high}
        row |= {"difference": difference.mean(), "difference_low": ends[0], "difference_high": ends[1]}
        row |= {"gap": gap.mean(), "gap_low": gap_ends[0], "gap_high": gap_ends[1]}
        rows.append(row)
    return pd.DataFrame(rows)


def _examples(
    subject: Subject, X: np.ndarray, p: np.ndarray, labels: np.ndarray, names: np.ndarray, schema: Schema
) -> pd.DataFrame:
    """Return rows with several labels, the greatest gaps first."""
    gaps = p.max(axis=1) - p.min(axis=1)
    has_several = (labels != labels[:, :1]).any(axis=1)
    chosen = np.flatnonzero(has_several)[np.argsort(-gaps[has_several], kind="stable")[:N_EXAMPLES]]
    words = decode(X[chosen], schema).iloc[:, subject.free]
    words.insert(0, "least", names[p[chosen].argmin(axis=1)])
    words.insert(1, "p_least", p[chosen].min(axis=1))
    words.insert(2, "most", names[p[chosen].argmax(axis=1)])
    words.insert(3, "p_most", p[chosen].max(axis=1))
    return words
