"""The influence of co-occurrences: the bias gradient (Brunet et al. 2019, Section 3.2 and Appendix A).

A co-occurrence is a pair of words with at least one word of the bias test. X is symmetric, so that a pair of
two test words is in two rows of X. Here it is one pair, and its gradient is the sum of both.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.origins.attribution.scanner import Scanner
from biaslab.origins.sets import LOWERS, RAISES

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["bias_gradient/ends/TEST"]
N_ENDS = 50  # number of strongest co-occurrences at each end


def pair_table(scanner: Scanner, weat: WeatIndices) -> pd.DataFrame:
    """Return the gradient of the bias by every co-occurrence: ``bias_gradient/TEST.parquet``."""
    rows, values = scanner.gradients(weat)
    row_words = rows.words[rows.rows]
    keys = np.minimum(row_words, rows.columns) * rows.n_words + np.maximum(row_words, rows.columns)
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    gradients = np.stack([np.bincount(pair, weights=v, minlength=len(first)) for v in values])[:, order]
    first = first[order]
    x, mean = rows.x[first], gradients.mean(axis=0)
    sd = gradients.std(axis=0, ddof=1)
    words = np.array(scanner.words, dtype=object)
    columns = {"word": words[row_words[first]], "context": words[rows.columns[first]], "x": x}
    columns |= {"gradient_mean": mean, "gradient_sd": sd}
    return pd.DataFrame(columns | {"elasticity_mean": x * mean, "elasticity_sd": x * sd})


def strongest(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return up to `N_ENDS` pairs that raise the bias most, and as many that lower it: ``ends/TEST.tsv``."""
    return both_ends(pairs, ["elasticity_mean", "word", "context"], N_ENDS)[list(COLUMNS)]


def both_ends(table: pd.DataFrame, order: list[str], n: int) -> pd.DataFrame:
    """Return up to `n` rows that raise the bias most, and as many that lower it, with effect and rank.

    The first column of `order` is the effect on the bias; the others break ties.
    """
    ordered = table.sort_values(order)
    raising = ordered[ordered[order[0]] > 0].tail(n)[::-1].assign(effect=RAISES)
    lowering = ordered[ordered[order[0]] < 0].head(n).assign(effect=LOWERS)
    ends = pd.concat([raising, lowering], ignore_index=True)
    return ends.assign(rank=ends.groupby("effect").cumcount() + 1)


def contributions(
    tokens: Sequence[str], test: Collection[str], pairs: pd.DataFrame, window: int
) -> pd.DataFrame:
    """Split the first-order differential bias of a document into its co-occurrences (Appendix A).

    There is a row for each two in-vocabulary `tokens` at most `window` apart, if at least one is a word of
    the `test`. ``first`` and ``second`` are their positions, ``word`` and ``context`` the words. ``x`` is
    their contribution to X. ``contribution`` and ``contribution_sd`` are x times the mean and standard
    deviation of the gradient in `pairs` (`pair_table`), which must contain all pairs. The sum of the
    contributions is the document's score by the estimator ``gradient``.
    """
    distinct = set(tokens)
    relevant = pairs[pairs["word"].isin(distinct) & pairs["context"].isin(distinct)]
    gradients = {(p.word, p.context): (p.gradient_mean, p.gradient_sd) for p in relevant.itertuples()}
    rows = []
    for first, left in enumerate(tokens):
        for second in range(first + 1, min(len(tokens), first + window + 1)):
            right = tokens[second]
            if left not in test and right not in test:
                continue
            pair = (left, right) if (left, right) in gradients else (right, left)
            if pair not in gradients:
                raise InputError(
                    f"the co-occurrence of '{left}' and '{right}' has no gradient; rerun the workflow"
                )
            # A word that co-occurs with itself counts twice, because X has one entry for both directions.
            x = (2 if left == right else 1) / (second - first)
            mean, sd = gradients[pair]
            rows.append((first, second, *pair, x, x * mean, x * sd))
    columns = ["first", "second", "word", "context", "x", "contribution", "contribution_sd"]
    return pd.DataFrame(rows, columns=columns)


def token_contributions(occurrences: pd.DataFrame, n_tokens: int) -> np.ndarray:
    """Split each contribution evenly between its two tokens: (n_tokens,) float64, with the same sum."""
    half = occurrences["contribution"].to_numpy(np.float64) / 2
    places = occurrences[["first", "second"]].to_numpy(np.int64)
    return sum(np.bincount(places[:, side], weights=half, minlength=n_tokens) for side in (0, 1))
