"""Perturbation sets: which documents are removed (Brunet et al. 2019, Section 5.2 and Appendix C, III)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.origins.sets import DECREASE, INCREASE, RANDOM, random_set, targeted_set


def select_sets(
    differential_bias: Mapping[str, np.ndarray],
    sizes: Sequence[int],
    random_sizes: Sequence[int],
    random_sets: int,
    seed: int,
) -> pd.DataFrame:
    """Select the documents that raise a bias most, those that lower it most, and random ones.

    Parameters
    ----------
    differential_bias : mapping of str to numpy.ndarray
        For each bias test the (n_documents,) float64 mean estimates of B(w) - B(w~) (Eq. 5).

    Returns
    -------
    pandas.DataFrame
        Columns set, weat (empty for random sets), kind, size, replicate, document; one row a document of a
        set. ``decrease`` sets hold the documents that raise the bias, those with the largest differential
        bias; ``increase`` sets those that lower it: their removal does what the name says.
        Of equal documents the first in the corpus goes first.
    """
    counts = {len(values) for values in differential_bias.values()}
    if len(counts) != 1:
        raise InputError(
            f"the bias tests rank different numbers of documents ({counts}); estimate them again"
        )
    n_documents = counts.pop()
    for size in (*sizes, *random_sizes):
        if size > n_documents:
            raise InputError(
                f"a set of {size} documents from {n_documents}; choose smaller perturbation sizes"
            )
    frames = []
    for weat, values in differential_bias.items():
        if np.isnan(values).any():
            raise InputError(
                f"{weat}: document {np.isnan(values).argmax()} has no estimate; choose another estimator"
            )
        frames.append(select_targeted(weat, weat, values, sizes))
    for size in random_sizes:
        for replicate in range(random_sets):
            rng = stream(seed, "random set", size, replicate)
            chosen = rng.choice(n_documents, size, replace=False)
            frames.append(_frame(random_set(size, replicate), "", RANDOM, size, replicate, chosen))
    return pd.concat(frames, ignore_index=True)


def select_targeted(ranking: str, weat: str, values: np.ndarray, sizes: Sequence[int]) -> pd.DataFrame:
    """Select the documents at both ends of an order: those that lower a bias, and those that raise it.

    Parameters
    ----------
    ranking : str
        What the order is called, for `biaslab.origins.sets.targeted_set`: the test, or that by PPMI.
    values : numpy.ndarray
        (n_documents,) float64, what ranks the documents; NaN comes last in either direction.
    sizes : sequence of int
        Documents in the sets; none give a table without rows.

    Returns
    -------
    pandas.DataFrame
        As of :func:`select_sets`.
    """
    frames = [_frame("", weat, "", 0, 0, [])]
    for kind, scores in ((INCREASE, values), (DECREASE, -values)):
        order = np.argsort(scores, kind="stable")
        frames += [_frame(targeted_set(ranking, kind, n), weat, kind, n, 0, order[:n]) for n in sizes]
    return pd.concat(frames, ignore_index=True)


def _frame(name, weat, kind, size, replicate, documents):
    return pd.DataFrame(
        {
            "set": name,
            "weat": weat,
            "kind": kind,
            "size": size,
            "replicate": replicate,
            "document": np.sort(np.asarray(documents, dtype=np.int64)),
        }
    )


def members(sets: pd.DataFrame, names: Iterable[str] | None = None) -> dict[str, np.ndarray]:
    """Return the document numbers of each set, in the order of the table.

    Parameters
    ----------
    sets : pandas.DataFrame
        What :func:`select_sets` returned.
    names : iterable of str, optional
        The sets wanted; all by default.
    """
    groups = {str(name): group.to_numpy() for name, group in sets.groupby("set", sort=False)["document"]}
    wanted = list(groups if names is None else names)
    for name in wanted:
        if name not in groups:
            raise InputError(f"there is no perturbation set '{name}'; select the sets again")
    return {name: groups[name] for name in wanted}
