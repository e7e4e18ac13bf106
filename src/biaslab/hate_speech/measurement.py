"""Compute the result tables of a corpus from the predictions of all methods.

The paper reports means and standard deviations over ten seeds, without tests. Methods with the same seed
share their data and initial weights, so this module tests the differences within a seed.
"""

import json
import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError, suggest
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.corpus import HATECHECK, NEWS, Folder
from biaslab.hate_speech.methods import BOW, LINEAR, OC, SOC, VANILLA, Method, parse_method
from biaslab.hate_speech.metrics import (
    COLUMNS,
    MEASURES,
    functionality_table,
    holding,
    identity_table,
    measure,
)
from biaslab.text.corpora import TRAIN
from biaslab.text.scores import chance_probability
from biaslab.text.tokens import Tokens

_ROUNDING = 1e-12  # relative to the largest value: smaller variation counts as equal


def measure_corpus(folder: Folder, methods: Sequence[str], settings: Mapping[str, float]) -> None:
    """Write the tables of all methods of a corpus on all sets; `settings` are written to ``settings.tsv``."""
    pieces = list(folder.ids.values())
    holds = {name: holding(texts.tokens, pieces) for name, texts in folder.tested.items()}
    metrics, identities, functionalities = [], [], [pd.DataFrame(columns=COLUMNS["functionalities"])]
    for method in methods:
        n_train = len(folder.splits[TRAIN] if method in LINEAR else folder.train)
        predictions = read_parquet(folder.path / f"predictions/{method}.parquet")
        for (seed, name), table in predictions.groupby(["seed", "set"], sort=False):
            scores, labels = table.sort_values("row")["score"].to_numpy(), folder.tested[name].labels
            keys = {"method": method, "seed": seed, "set": name}
            measures = measure(scores, labels, folder.column("identifier", NEWS) if name == NEWS else None)
            p_chance = chance_probability(scores > 0, labels)
            metrics.append({**keys, "n_train": n_train, **measures._asdict(), "p_chance": p_chance})
            identities.append(identity_table(scores, labels, holds[name], list(folder.ids)).assign(**keys))
            if name == HATECHECK:
                cases = functionality_table(scores, labels, folder.column("functionality", name))
                functionalities.append(cases.assign(method=method, seed=seed))
    metrics = pd.DataFrame(metrics)
    tables = {
        "identity": pd.concat(identities, ignore_index=True),
        "functionalities": pd.concat(functionalities[1:] or functionalities, ignore_index=True),
    }
    write_tsv(folder.path / "metrics.tsv", metrics)
    for name, table in tables.items():
        write_tsv(folder.path / f"{name}.tsv", table[list(COLUMNS[name])])
    differences = [paired_differences(metrics, name) for name in (VANILLA, BOW) if name in methods]
    write_tsv(folder.path / "differences.tsv", pd.concat(differences, ignore_index=True))
    config = json.loads((folder.encoder / "config.json").read_text(encoding="utf-8"))
    encoder = {"encoder_layers": config["num_hidden_layers"], "encoder_width": config["hidden_size"]}
    table = pd.DataFrame(sorted({**settings, **encoder}.items()), columns=["setting", "value"])
    write_tsv(folder.path / "settings.tsv", table.astype({"value": float}))


def measure_encoders(
    folder: Folder, methods: Sequence[str], contexts: ContextSettings, batch_size: int
) -> None:
    """Write the tables of encoders: the importance of identifiers, and the cost of training."""
    tables = [read_tsv(folder.path / f"attributions/{name}.tsv") for name in methods]
    filled = [table for table in tables if len(table)]
    write_tsv(folder.path / "attributions.tsv", pd.concat(filled or tables[:1], ignore_index=True))
    parsed = [parse_method(name) for name in sorted(methods, key=lambda name: name != VANILLA)]
    cost = count_work(folder.train.tokens, list(folder.ids.values()), parsed, contexts, batch_size)
    write_tsv(folder.path / "cost.tsv", cost)


def count_work(
    tokens: Tokens, ids: Sequence[int], methods: Sequence[Method], contexts: ContextSettings, batch_size: int
) -> pd.DataFrame:
    """Return the number of tokens that each method reads in a step, averaged over one epoch.

    A regularized identifier is read twice in every context, with and without it. Repeated sentences count
    each time, padding does not. Column ratio is relative to the first method.
    """
    n_steps = -(-len(tokens) // batch_size)
    occurrences = np.add.reduceat(np.isin(tokens.ids, ids).astype(np.int64), tokens.offsets[:-1])
    rows = []
    for method in methods:
        read_tokens = tokens.without(ids) if method.removes_words else tokens
        n_contexts = {OC: 1, SOC: contexts.n_contexts}[method.kind] if method.explains else 0
        total = read_tokens.lengths.sum() + (2 * n_contexts * occurrences * tokens.lengths).sum()
        rows.append({"method": method.name, "n_steps": n_steps, "tokens_per_step": total / n_steps})
    table = pd.DataFrame(rows)
    return table.assign(ratio=table["tokens_per_step"] / table["tokens_per_step"].iloc[0])


class Difference(NamedTuple):
    """A mean difference over seeds, its 95% confidence interval and its two-sided p-value."""

    n_seeds: int
    mean_difference: float
    ci_low: float
    ci_high: float
    p_value: float
    n_higher: int  # seeds with the higher value


def paired_difference(values: ArrayLike, baseline: ArrayLike) -> Difference:
    """Return the paired t-test of values against a baseline's values, one value a seed.

    There is no test without variation over seeds, as for deterministic methods.
    """
    pairs = np.array([values, baseline], dtype=np.float64)
    pairs = pairs[:, ~np.isnan(pairs).any(axis=0)]
    differences = pairs[0] - pairs[1]
    n = len(differences)
    if not n:
        return Difference(0, math.nan, math.nan, math.nan, math.nan, 0)
    mean, n_higher = float(differences.mean()), int((differences > 0).sum())
    if n < 2 or np.ptp(differences) <= _ROUNDING * np.abs(pairs).max():
        return Difference(n, mean, math.nan, math.nan, math.nan, n_higher)
    p_value = float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)
    return Difference(n, mean, *mean_interval(differences), p_value, n_higher)


def paired_differences(metrics: pd.DataFrame, baseline: str) -> pd.DataFrame:
    """Return the differences (`Difference`) of all methods from the baseline, on every set and measure.

    The rows of the baseline itself are the null comparison: every second seed against the seed before, which
    differ by chance only.
    """
    methods = metrics["method"].unique()
    if baseline not in methods:
        raise InputError(f"baseline '{baseline}' has no results; run it first{suggest(baseline, methods)}")
    keys = ["method", "set", "seed"]
    duplicates = metrics[metrics.duplicated(keys)]
    if len(duplicates):
        names = ", ".join(f"{key} {duplicates.iloc[0][key]}" for key in keys)
        raise InputError(f"there are two rows of metrics for {names}; keep one")
    by_seed = metrics.set_index(keys)[list(MEASURES)].unstack("seed")
    rows = []
    for method, texts in product(methods, metrics["set"].unique()):
        if not {(method, texts), (baseline, texts)} <= set(by_seed.index):
            continue
        own, other = by_seed.loc[(method, texts)], by_seed.loc[(baseline, texts)]
        for name in MEASURES:
            values, reference = own[name], other[name]
            if method == baseline:
                n = 2 * (len(values) // 2)
                values, reference = values[1:n:2], values[:n:2]
            difference = paired_difference(values, reference)
            if difference.n_seeds:
                rows.append((method, baseline, texts, name, *difference))
    return pd.DataFrame(rows, columns=["method", "baseline", "set", "measure", *Difference._fields])
