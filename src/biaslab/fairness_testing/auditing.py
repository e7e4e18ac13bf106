"""Whom a classifier treats differently, how often and how badly, in the rows of a table and in its domain.

Of each row all variants are asked about that differ in protected attributes alone. One value is favoured
over another in a row whose variant with the one gets the favourable label and that with the other does not.
The gap of a row is the greatest favourable probability of its variants minus the least. Beside this, groups
of rows are compared as they are: with h_v of n_v rows predicted favourable, SPD = h_v / n_v - h_r / n_r and
the impact ratio (h_v / n_v) / (h_r / n_r), r the value with the highest rate; EOD is the difference of the
true positive rates, and the average odds difference the mean of that of true and of false positive rates.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from biaslab.classifiers.encoding import Data, decode
from biaslab.classifiers.schema import Schema
from biaslab.core.errors import InputError
from biaslab.core.rates import difference_interval, ratio_interval, reference_of
from biaslab.core.stats import mean_interval, share_interval
from biaslab.fairness_testing.judging import MIN_SAMPLES, no_all_clear, value_names
from biaslab.fairness_testing.testers.random_search import uniform_fairness
from biaslab.fairness_testing.testers.subject import Subject

BATCH = 4096
N_UNIFORM = 10_000
N_EXAMPLES = 10


@dataclass(frozen=True)
class Audited:
    """What was found for one set of protected attributes."""

    protected: str
    n_rows: int
    n_discriminatory: int  # rows of which some variant gets another label
    uniform: tuple[float, float, float]  # share of the domain that is discriminatory, with its interval
    values: pd.DataFrame  # value, rate (favourable if all rows had it), favoured, disfavoured, with intervals
    pairs: pd.DataFrame  # value, other, favoured (share of rows), difference and gap with intervals
    gap: dict[str, float]  # mean, with its interval, median, upper decile and maximum over rows
    groups: pd.DataFrame  # a row a value that rows have: see `group_measures`
    examples: pd.DataFrame  # rows with the greatest gaps, in the words of the table

    @property
    def most_favoured(self) -> pd.Series:
        """The pair with the greatest difference."""
        return self.pairs.loc[self.pairs["difference"].idxmax()]


def favourable_class(schema: Schema, name: str | None) -> int:
    """Return the place of the favourable class, the last where none is named."""
    if name is None and len(schema.classes) > 2:
        raise InputError(f"{schema.name}: {len(schema.classes)} classes; name the good one with --favourable")
    if name is not None and name not in schema.classes:
        raise InputError(f"--favourable {name}: no class of {schema.name} ({', '.join(schema.classes)})")
    return len(schema.classes) - 1 if name is None else schema.classes.index(name)


def check(labels: np.ndarray, table: Data, schema: Schema, groups: Sequence[Sequence[str]]) -> None:
    """Refuse a table of which finding nothing would say little."""
    if reason := no_all_clear(labels, table.X, schema, groups):
        raise InputError(
            f"{reason.rstrip('.')}; bring {MIN_SAMPLES} rows or more, with several values and answers:"
            " nothing could be found in these"
        )


def audit(subject: Subject, table: Data, schema: Schema, favourable: int, seed: int, name: str) -> Audited:
    """Ask a classifier about all variants of the rows of a table, and compare the groups of rows."""
    X, names = table.X, value_names(subject, schema)
    p, labels = _answers(subject, X)
    p, is_good = p[:, :, favourable], labels == favourable
    own = subject.protected.positions(X)
    known = own >= 0
    predicted = subject.model.labels(X)
    gaps = p.max(axis=1) - p.min(axis=1)
    low, high = mean_interval(gaps)
    return Audited(
        protected=name,
        n_rows=len(X),
        n_discriminatory=int((labels != predicted[:, None]).any(axis=1).sum()),
        uniform=uniform_fairness(subject, n=N_UNIFORM, seed=seed),
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
        groups=group_measures(
            names[own[known]], predicted[known] == favourable, table.y[known] == favourable
        ),
        examples=_examples(subject, X, p, labels, names, schema),
    )


def group_measures(values: np.ndarray, predicted: np.ndarray, actual: np.ndarray) -> pd.DataFrame:
    """Compare groups of rows by what was predicted and what is so, both bool; a row a value.

    n, n_predicted, rate, true_positive_rate, false_positive_rate, agreement; and against the value with the
    highest rate: spd, ratio, eod with their intervals, average_odds.
    """
    rows = []
    for value in np.unique(values):
        mine = values == value
        good, true = mine & actual, predicted[mine] == actual[mine]
        rows.append(
            {
                "value": value,
                "n": int(mine.sum()),
                "n_predicted": int(predicted[mine].sum()),
                "n_actual": int(good.sum()),
                "n_true_positive": int(predicted[good].sum()),
                "n_false_positive": int(predicted[mine & ~actual].sum()),
                "agreement": float(true.mean()),
            }
        )
    table = pd.DataFrame(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        table["rate"] = table["n_predicted"] / table["n"]
        table["true_positive_rate"] = table["n_true_positive"] / table["n_actual"]
        table["false_positive_rate"] = table["n_false_positive"] / (table["n"] - table["n_actual"])
    r = reference_of(table["rate"], table["n"])
    best = table.iloc[r]
    table["is_reference"] = np.arange(len(table)) == r
    for name, rate, hits, of in (
        ("spd", "rate", "n_predicted", "n"),
        ("eod", "true_positive_rate", "n_true_positive", "n_actual"),
    ):
        table[name] = table[rate] - best[rate]
        ends = [difference_interval(row[hits], row[of], best[hits], best[of]) for _, row in table.iterrows()]
        table[[f"{name}_low", f"{name}_high"]] = ends
    table["ratio"] = table["rate"] / best["rate"] if best["rate"] else np.nan
    ends = ratio_interval(table["n_predicted"], table["n"], best["n_predicted"], best["n"])
    table["ratio_low"], table["ratio_high"] = ends
    table["average_odds"] = (table["eod"] + table["false_positive_rate"] - best["false_positive_rate"]) / 2
    intervals = [f"{name}_{end}" for name in ("spd", "eod", "ratio") for end in ("low", "high")]
    table.loc[r, intervals] = np.nan
    return table


def _answers(subject: Subject, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (n, m, k) and labels (n, m) of all variants."""
    found = []
    for first in tqdm(range(0, len(X), BATCH), desc="variants", unit_scale=BATCH, unit=" rows", disable=None):
        variants = subject.protected.variants(X[first : first + BATCH])
        n, m, d = variants.shape
        found.append(subject.model.probabilities(variants.reshape(n * m, d)).reshape(n, m, -1))
    p = np.concatenate(found).astype(np.float64)
    return p, p.argmax(axis=2)


def _values(is_good: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    """Return how often each value gets the favourable label, and is (dis)favoured beside some other."""
    some, every = is_good.any(axis=1), is_good.all(axis=1)
    rows = []
    for number, name in enumerate(names):
        mine = is_good[:, number]
        row = {"value": name}
        for key, hits in (("rate", mine), ("favoured", mine & ~every), ("disfavoured", ~mine & some)):
            low, high = share_interval(int(hits.sum()), len(mine))
            row |= {key: hits.mean(), f"{key}_low": low, f"{key}_high": high}
        rows.append(row)
    return pd.DataFrame(rows)


def _pairs(p: np.ndarray, is_good: np.ndarray, names: np.ndarray) -> pd.DataFrame:
    """Return, for each ordered pair of values, in which share of the rows one is favoured over the other."""
    rows = []
    for a, b in itertools.permutations(range(len(names)), 2):
        favoured = is_good[:, a] & ~is_good[:, b]
        difference = is_good[:, a].astype(np.float64) - is_good[:, b]
        gap = p[:, a] - p[:, b]
        low, high = share_interval(int(favoured.sum()), len(favoured))
        ends, gap_ends = mean_interval(difference), mean_interval(gap)
        row = {"value": names[a], "other": names[b], "n_favoured": int(favoured.sum())}
        row |= {"favoured": favoured.mean(), "favoured_low": low, "favoured_high": high}
        row |= {"difference": difference.mean(), "difference_low": ends[0], "difference_high": ends[1]}
        row |= {"gap": gap.mean(), "gap_low": gap_ends[0], "gap_high": gap_ends[1]}
        rows.append(row)
    return pd.DataFrame(rows)


def _examples(
    subject: Subject, X: np.ndarray, p: np.ndarray, labels: np.ndarray, names: np.ndarray, schema: Schema
) -> pd.DataFrame:
    """Return rows that get several labels, those with the greatest gaps first."""
    gaps = p.max(axis=1) - p.min(axis=1)
    several = (labels != labels[:, :1]).any(axis=1)
    chosen = np.flatnonzero(several)[np.argsort(-gaps[several], kind="stable")[:N_EXAMPLES]]
    words = decode(X[chosen], schema).iloc[:, subject.free]
    words.insert(0, "least", names[p[chosen].argmin(axis=1)])
    words.insert(1, "p_least", p[chosen].min(axis=1))
    words.insert(2, "most", names[p[chosen].argmax(axis=1)])
    words.insert(3, "p_most", p[chosen].max(axis=1))
    return words
