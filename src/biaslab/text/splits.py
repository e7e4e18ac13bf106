"""Split a table of texts into parts: stratified by label, or with every group in one part."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError
from biaslab.core.rng import stream


def split_random(
    labels: ArrayLike, sizes: Sequence[tuple[int, int]], rng: np.random.Generator
) -> list[np.ndarray]:
    """Draw disjoint parts; `sizes` has the numbers of texts and of positive texts (label 1) in each part."""
    labels = np.asarray(labels)
    positives, negatives = (rng.permutation(np.flatnonzero(labels == code)) for code in (1, 0))
    for n, n_positive in sizes:
        if not 0 <= n_positive <= n:
            raise InputError(f"a part of {n} texts cannot have {n_positive} positive ones; correct its size")
    counts = {
        "positive": (len(positives), sum(n_positive for _, n_positive in sizes)),
        "negative": (len(negatives), sum(n - n_positive for n, n_positive in sizes)),
    }
    for what, (n_there, n_asked) in counts.items():
        if n_asked > n_there:
            raise InputError(
                f"the parts request {n_asked} {what} texts, {n_there} are available; request fewer"
            )
    parts, first, second = [], 0, 0
    for n, n_positive in sizes:
        drawn = positives[first : first + n_positive], negatives[second : second + n - n_positive]
        first, second = first + n_positive, second + n - n_positive
        parts.append(np.sort(np.concatenate(drawn)))
    return parts


def split_shares(labels: ArrayLike, shares: Sequence[float], rng: np.random.Generator) -> list[np.ndarray]:
    """Divide all texts by shares of sum 1, with the same share of both labels; rows are ascending."""
    labels = np.asarray(labels)
    n_positive = int((labels == 1).sum())
    ends = np.append(np.cumsum(_check_shares(shares))[:-1], 1.0)
    positive, negative = (
        np.diff(np.rint(ends * n).astype(np.int64), prepend=0) for n in (n_positive, len(labels) - n_positive)
    )
    sizes = list(zip((positive + negative).tolist(), positive.tolist(), strict=True))
    _check_filled([n for n, _ in sizes], shares)
    return split_random(labels, sizes, rng)


def split_grouped(groups: ArrayLike, shares: Sequence[float], rng: np.random.Generator) -> list[np.ndarray]:
    """Divide texts by approximate shares of sum 1, with every group in one part; rows are ascending."""
    _, codes, sizes = np.unique(np.asarray(groups, dtype=str), return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    middle = np.empty(len(sizes))
    middle[order] = np.cumsum(sizes[order]) - sizes[order] / 2
    bounds = np.cumsum(_check_shares(shares))[:-1] * len(codes)
    part = np.searchsorted(bounds, middle, side="right")[codes]
    parts = [np.flatnonzero(part == i) for i in range(len(shares))]
    _check_filled([len(rows) for rows in parts], shares)
    return parts


def cut(labels: ArrayLike, n: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw `n` texts (None: all), keeping the share of positive texts and at least one of each label."""
    labels = np.asarray(labels)
    if n is None or n >= len(labels):
        return np.arange(len(labels))
    n_positive_texts = int((labels == 1).sum())
    least, most = min(n_positive_texts, 1), n - min(len(labels) - n_positive_texts, 1)
    if most < least:
        raise InputError(f"{n} texts cannot have one of each label; request more")
    n_positive = min(max(round(n * n_positive_texts / len(labels)), least), most)
    return split_random(labels, [(n, n_positive)], rng)[0]


def draw(table: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Return at most `limit` labelled texts in order, drawn with the share of positive texts kept."""
    return table.iloc[cut(table["label"], limit, stream(seed, "limit"))].reset_index(drop=True)


def _check_shares(shares: Sequence[float]) -> np.ndarray:
    shares = np.asarray(shares, float)
    if not len(shares) or not (shares > 0).all() or not np.isclose(shares.sum(), 1):
        raise InputError(f"the shares {shares.tolist()} of the parts must be above 0 and sum to 1")
    return shares


def _check_filled(sizes: Sequence[int], shares: Sequence[float]) -> None:
    if 0 in sizes:
        share = shares[list(sizes).index(0)]
        raise InputError(f"the part with the share {share:g} would be empty; supply more texts or groups")
