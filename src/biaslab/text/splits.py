"""Splits of a table of texts into parts: stratified by label, or without a group in two parts."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from biaslab.core.errors import InputError
from biaslab.core.rng import stream


def split_random(
    labels: ArrayLike, sizes: Sequence[tuple[int, int]], rng: np.random.Generator
) -> list[np.ndarray]:
    """Draw disjoint parts, each of given numbers of texts and, among these, of positive texts (label 1)."""
    labels = np.asarray(labels)
    positives, negatives = (rng.permutation(np.flatnonzero(labels == code)) for code in (1, 0))
    for n, n_positive in sizes:
        if not 0 <= n_positive <= n:
            raise InputError(f"a part of {n} texts cannot have {n_positive} positive ones; correct its size")
    wanted = {
        "positive": (len(positives), sum(n_positive for _, n_positive in sizes)),
        "negative": (len(negatives), sum(n - n_positive for n, n_positive in sizes)),
    }
    for what, (there, asked) in wanted.items():
        if asked > there:
            raise InputError(f"the parts ask for {asked} {what} texts and there are {there}; ask for fewer")
    parts, first, second = [], 0, 0
    for n, n_positive in sizes:
        some = positives[first : first + n_positive], negatives[second : second + n - n_positive]
        first, second = first + n_positive, second + n - n_positive
        parts.append(np.sort(np.concatenate(some)))
    return parts


def split_shares(labels: ArrayLike, shares: Sequence[float], rng: np.random.Generator) -> list[np.ndarray]:
    """Divide all texts by shares of sum 1, so that every part has its share of both labels; rows rise."""
    labels = np.asarray(labels)
    n_positive = int((labels == 1).sum())
    positive, negative = (np.diff(_bounds(n, shares)) for n in (n_positive, len(labels) - n_positive))
    sizes = list(zip((positive + negative).tolist(), positive.tolist(), strict=True))
    _check_filled([n for n, _ in sizes], shares)
    return split_random(labels, sizes, rng)


def split_grouped(groups: ArrayLike, shares: Sequence[float], rng: np.random.Generator) -> list[np.ndarray]:
    """Divide texts by shares of sum 1, about, so that no group has texts in two parts; rows rise."""
    _, codes, sizes = np.unique(np.asarray(groups, dtype=str), return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    middle = np.empty(len(sizes))
    middle[order] = np.cumsum(sizes[order]) - sizes[order] / 2
    bounds = np.cumsum(_checked(shares))[:-1] * len(codes)
    part = np.searchsorted(bounds, middle, side="right")[codes]
    parts = [np.flatnonzero(part == i) for i in range(len(shares))]
    _check_filled([len(rows) for rows in parts], shares)
    return parts


def cut(labels: ArrayLike, n: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw `n` texts (None: all) with the same share of positive ones, one or more of each label there is."""
    labels = np.asarray(labels)
    if n is None or n >= len(labels):
        return np.arange(len(labels))
    there = int((labels == 1).sum())
    least, most = min(there, 1), n - min(len(labels) - there, 1)
    if most < least:
        raise InputError(f"{n} texts cannot have one of each label; take more")
    n_positive = min(max(round(n * there / len(labels)), least), most)
    return split_random(labels, [(n, n_positive)], rng)[0]


def draw(table: pd.DataFrame, limit: int | None, seed: int) -> pd.DataFrame:
    """Return at most `limit` labelled texts, drawn with the share of positive ones kept, in their order."""
    return table.iloc[cut(table["label"], limit, stream(seed, "limit"))].reset_index(drop=True)


def _checked(shares: Sequence[float]) -> np.ndarray:
    shares = np.asarray(shares, float)
    if not len(shares) or not (shares > 0).all() or not np.isclose(shares.sum(), 1):
        raise InputError(f"the shares {shares.tolist()} of the parts must be above 0 and sum to 1")
    return shares


def _bounds(n: int, shares: Sequence[float]) -> np.ndarray:
    """Return where each part of `n` things begins and the last one ends."""
    bounds = np.rint(np.concatenate([[0.0], np.cumsum(_checked(shares))]) * n).astype(np.int64)
    bounds[-1] = n
    return bounds


def _check_filled(sizes: Sequence[int], shares: Sequence[float]) -> None:
    if 0 in sizes:
        share = shares[list(sizes).index(0)]
        raise InputError(f"the part with the share {share:g} would be empty; give more texts or groups")
