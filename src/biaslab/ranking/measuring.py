"""Measures of each list, quantities of each value, and FA*IR tests of ranked lists."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError
from biaslab.ranking import exposure, fa_ir, registry
from biaslab.ranking.batches import Moments
from biaslab.ranking.lists import ListFile
from biaslab.ranking.pools import UNKNOWN, Pools, Rankings

VALUES = ("desired", "share", "attention", "relevance", "exposure")
"""Quantities of each value in a list: desired share, share of the top places, share of the attention in the
top, share of the relevance of all candidates (if there are scores), and exposure (mean attention of its
candidates)."""

N_SHARES = 4  # the number of shares at the start of `VALUES`; they are 0 in a list without the value


def value_table(rankings: Rankings, chosen: np.ndarray, attention: np.ndarray) -> pd.DataFrame:
    """Return value, n_lists (with the value present or desired), and `VALUES` with intervals over lists.

    `chosen` and `attention` (G,) are the expected places and attention of each group. Shares are means over
    all lists in which they are defined, exposure over lists with the value.
    """
    groups = rankings.pools.groups
    shares, attention_shares = groups.shares(chosen), groups.shares(attention)
    desired = np.where(np.isfinite(shares), groups.desired, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        exposures = np.where(groups.counts > 0, attention / groups.counts, np.nan)
    relevance = exposure.relevance_shares(rankings)
    quantities = np.stack([desired, shares, attention_shares, relevance, exposures], axis=1)  # (G, 5)
    defined = [groups.lists[np.isfinite(quantities[:, i])] for i in range(N_SHARES)]
    n_lists = np.array([len(np.unique(lists)) for lists in defined])
    rows = []
    for number, value in enumerate(groups.names):
        moments = Moments((len(VALUES),))
        moments.add(quantities[groups.values == number])
        row, absent = {"value": value, "n_lists": moments.n[0]}, n_lists - moments.n[:N_SHARES]
        zeros = np.full((absent.max(), len(VALUES)), np.nan)
        zeros[:, :N_SHARES][np.arange(len(zeros))[:, None] < absent] = 0.0
        moments.add(zeros)
        statistics = moments.columns()
        for i, name in enumerate(VALUES):
            most = 1.0 if i < N_SHARES else np.inf
            row[name] = statistics["mean"][i]
            row |= {f"{name}_{end}": np.clip(statistics[f"ci_{end}"][i], 0, most) for end in ("low", "high")}
        rows.append(row)
    return pd.DataFrame(rows)


def summarize(lists: pd.DataFrame) -> pd.DataFrame:
    """Return the means (``registry.mean_of``) of the measures over lists; `fair` is the fair value."""
    return pd.DataFrame(
        {"measure": name, "title": measure.title, "fair": measure.fair}
        | registry.mean_of(name, lists[name].to_numpy())
        for name, measure in registry.MEASURES.items()
        if name in lists
    )


def order_of(pools: Pools, source: ListFile) -> np.ndarray:
    """Return the candidates of a file, list after list, best place first."""
    ranks = source.lists.ranks
    if ranks is None:
        return np.arange(len(pools.lists))
    broken = ranks % 1 != 0
    if broken.any():
        row = int(broken.argmax())
        raise InputError(
            f"{source.where(row)}: the {source.columns.rank} {ranks[row]:g} is not a"
            " place; write whole numbers, 1 for the best, or sort the file by the scores and name them"
            " with --score"
        )
    order = np.lexsort((ranks, pools.lists))
    is_duplicate = (np.diff(ranks[order]) == 0) & (np.diff(pools.lists[order]) == 0)
    if is_duplicate.any():
        row = int(order[int(is_duplicate.argmax()) + 1])
        raise InputError(
            f"{source.where(row)}: the {source.columns.rank} {ranks[row]:g} is"
            " repeated in a list; give each candidate its own place"
        )
    return order


def count_unsorted(pools: Pools, order: np.ndarray) -> int:
    """Return the number of lists in which scores rise along an order; 0 without scores."""
    if pools.scores is None:
        return 0
    rises = (np.diff(pools.lists) == 0) & (np.diff(pools.scores[order]) > 0)
    return len(np.unique(pools.lists[1:][rises]))


def test_table(queries: Sequence[str], rankings: Rankings) -> pd.DataFrame:
    """Return FA*IR's p-value of each value in each list."""
    groups = rankings.pools.groups
    p_values = np.full(len(groups.values), np.nan)
    for name in groups.names:
        chosen = groups.of_value(name)
        present = chosen != UNKNOWN
        p_values[chosen[present]] = fa_ir.p_values(rankings, chosen)[present]
    return pd.DataFrame(
        {
            "query": np.array(queries, dtype=object)[groups.lists],
            "value": np.array(groups.names, dtype=object)[groups.values],
            "n_places": rankings.n_known[groups.lists],
            "n_value": rankings.by_group(),
            "desired": groups.desired,
            "p_value": p_values,
        }
    )
