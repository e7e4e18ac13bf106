"""Which co-occurrences matter: the bias gradient (Brunet et al. 2019, Section 3.2 and Appendix A).

A co-occurrence is a pair of words of which one at least belongs to the bias test. X is symmetric, so that a
pair of two words of the test is in two rows of X: here it is one pair, and its gradient is the sum of both.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.columns import columns_of
from biaslab.core.errors import InputError
from biaslab.origins.attribution.scanner import Scanner

COLUMNS = columns_of(Path(__file__).with_name("columns.tsv"))["bias_gradient/ends/TEST"]
N_ENDS = 50
"""Co-occurrences at each end that are written as the strongest."""


def pair_table(scanner: Scanner, weat: WeatIndices) -> pd.DataFrame:
    """Lay out the gradient of the bias by every co-occurrence: ``bias_gradient/TEST.parquet``."""
    rows, values = scanner.gradients(weat)
    of_places = rows.words[rows.rows]
    keys = np.minimum(of_places, rows.columns) * rows.n_words + np.maximum(of_places, rows.columns)
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    gradients = np.stack([np.bincount(pair, weights=v, minlength=len(first)) for v in values])[:, order]
    first = first[order]
    x, mean = rows.x[first], gradients.mean(axis=0)
    sd = gradients.std(axis=0, ddof=1)
    words = np.array(scanner.words, dtype=object)
    columns = {"word": words[of_places[first]], "context": words[rows.columns[first]], "x": x}
    columns |= {"gradient_mean": mean, "gradient_sd": sd}
    return pd.DataFrame(columns | {"elasticity_mean": x * mean, "elasticity_sd": x * sd})


def strongest(pairs: pd.DataFrame, n: int = N_ENDS) -> pd.DataFrame:
    """Return up to `n` pairs that raise and that lower the bias, the strongest first: ``ends/TEST.tsv``."""
    ordered = pairs.sort_values(["elasticity_mean", "word", "context"])
    raising = ordered[ordered["elasticity_mean"] > 0].tail(n)[::-1].assign(effect="raises")
    lowering = ordered[ordered["elasticity_mean"] < 0].head(n).assign(effect="lowers")
    found = pd.concat([raising, lowering], ignore_index=True)
    return found.assign(rank=found.groupby("effect").cumcount() + 1)[list(COLUMNS)]


def contributions(
    tokens: Sequence[str], test: Collection[str], pairs: pd.DataFrame, window: int
) -> pd.DataFrame:
    """Split the first-order differential bias of a document into its co-occurrences (Appendix A).

    Of its `tokens` that are in the vocabulary, a row for each two at most `window` apart of which one at
    least is a word of the `test`: ``first`` and ``second``, their positions; ``word`` and ``context``;
    ``x``, what they add to X; ``contribution`` and ``contribution_sd``, x times the mean and standard
    deviation of the gradient in `pairs` (`pair_table`), which has to have them all. The contributions add
    up to the document's score by the estimator ``gradient``.
    """
    here = set(tokens)
    relevant = pairs[pairs["word"].isin(here) & pairs["context"].isin(here)]
    known = {(p.word, p.context): (p.gradient_mean, p.gradient_sd) for p in relevant.itertuples()}
    rows = []
    for first, left in enumerate(tokens):
        for second in range(first + 1, min(len(tokens), first + window + 1)):
            right = tokens[second]
            if left not in test and right not in test:
                continue
            pair = (left, right) if (left, right) in known else (right, left)
            if pair not in known:
                raise InputError(
                    f"the co-occurrence of '{left}' and '{right}' has no gradient; run the workflow again"
                )
            # A word that meets itself is counted from either side, and X has one place for both.
            x = (2 if left == right else 1) / (second - first)
            mean, sd = known[pair]
            rows.append((first, second, *pair, x, x * mean, x * sd))
    columns = ["first", "second", "word", "context", "x", "contribution", "contribution_sd"]
    return pd.DataFrame(rows, columns=columns)


def token_contributions(found: pd.DataFrame, n_tokens: int) -> np.ndarray:
    """Split every contribution evenly between its two tokens: (n_tokens,) float64, with the same sum."""
    half = found["contribution"].to_numpy(np.float64) / 2
    places = found[["first", "second"]].to_numpy(np.int64)
    return sum(np.bincount(places[:, side], weights=half, minlength=n_tokens) for side in (0, 1))
