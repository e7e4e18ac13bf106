"""Whether lists show each group of candidates as they should, before and after re-ranking.

Selection rates count a candidate of a value as selected where it is in the top of its list. With s_v of n_v
candidates selected over all lists, the impact ratio of v is (s_v / n_v) / (s_r / n_r), r the value with the
highest rate (`biaslab.core.rates`).

Intervals: of a rate in one list by Clopper and Pearson, of a ratio the score interval. Of several lists
both are by Student's t over lists, whose candidates compete: the deviation of
list l is s_vl / s_v - n_vl / n_v for the logarithm of a rate, and the difference of two of them for a ratio.

Bounds: whoever is unknown may have any value. With u unknown candidates in the top and w below it, the share
of v is between s_v / k and (s_v + u) / k, its rate between s_v / (n_v + w) and (s_v + u) / (n_v + u), and its
ratio between the least rate of v over the greatest of r and the other way round; all are reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.core.errors import InputError
from biaslab.core.rates import ratio_interval, reference_of
from biaslab.core.stats import LEVEL, holm, share_interval
from biaslab.ranking import registry
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import choose, group
from biaslab.ranking.lists import ListFile
from biaslab.ranking.measuring import (
    add_values,
    directions_of,
    list_table,
    order_of,
    summarize,
    test_table,
    value_table,
)
from biaslab.ranking.moments import Moments
from biaslab.ranking.pools import UNKNOWN, Pools, Rankings, Settings, top
from biaslab.ranking.reranking import RANKINGS


@dataclass(frozen=True)
class Audit:
    """What was found in the lists of a file; of a ranking "after" nothing without scores."""

    n_lists: int
    n_candidates: int
    n_places: int  # of the tops of all lists
    n_unknown: tuple[int, int]  # candidates without a known value: in the tops, below them
    values: pd.DataFrame  # value, ranking, n_lists, `measuring.VALUES` with intervals, skew
    selection: pd.DataFrame  # a row a value and ranking: see `selection_rates`
    tests: (
        pd.DataFrame
    )  # a row a list and value: FA*IR's p-values of the lists as they are, and corrected ones
    measures: pd.DataFrame  # a row a measure and ranking: means over lists
    n_unsorted: int  # lists whose scores do not fall from place to place

    @property
    def reference(self) -> str:
        """The value with the highest selection rate before re-ranking."""
        before = self.selection[self.selection["ranking"] == RANKINGS[0]]
        return before.loc[before["is_reference"], "value"].item()


def audit_file(source: ListFile, desired: str, k: int, algorithm: str, settings: Settings) -> Audit:
    """Measure the top k of every list of a file as it is, and re-ranked where there are scores.

    The order is that of the column of ranks, else of the scores, else of the file. Files in which nothing
    could be found are refused: of one candidate or one value, or with everybody in the top.
    """
    check_k(k)
    if registry.algorithm(algorithm).needs_protected:
        raise InputError(f"{algorithm}: serves one value alone; see biaslab ranking rerank, or name another")
    target = choose(desired, source)
    is_scored = source.columns.score is not None
    names = RANKINGS if is_scored else RANKINGS[:1]
    moments: dict[str, dict[str, Moments]] = {name: {} for name in names}
    lists: dict[str, list[pd.DataFrame]] = {name: [] for name in names}
    counts, tests, unknown, n_unsorted = [], [], np.zeros(4, np.int64), 0
    for some in source.lists():
        pools = Pools(some.offsets, group(some, target, source), some.scores, settings)
        order = order_of(some, pools, source)
        if is_scored and source.columns.rank is None:
            order = pools.by_score
        n_unsorted += int(directions_of(some, order)[0])
        rankings = {names[0]: top(pools, order, k)}
        if is_scored:
            rankings[names[1]] = registry.rerank(algorithm, pools, k)[0]
        for name, of in rankings.items():
            lists[name].append(list_table(some.queries, of))
            add_values(moments[name], of)
        counts.append(_counts(rankings))
        tests.append(test_table(some.queries, rankings[names[0]]))
        hidden = int((pools.groups.rows == UNKNOWN).sum())
        n_hidden_top = int((rankings[names[0]].groups == UNKNOWN).sum())
        unknown += [n_hidden_top, hidden - n_hidden_top, len(pools.lists), len(rankings[names[0]].rows)]
    table = _numbered(counts)
    in_top, below, n_candidates, n_places = unknown.tolist()
    _check(table, source, n_candidates, n_places)
    selection = [selection_rates(table, name, in_top, below, n_places).assign(ranking=name) for name in names]
    found = pd.concat(tests, ignore_index=True)
    for name in ("p_value", "p_value_pool"):
        found[f"{name}_corrected"] = holm(found[name])
    measured = [summarize(pd.concat(lists[name], ignore_index=True)).assign(ranking=name) for name in names]
    return Audit(
        table["list"].nunique(),
        n_candidates,
        n_places,
        (in_top, below),
        pd.concat([_with_skew(value_table(moments[name])).assign(ranking=name) for name in names]),
        pd.concat(selection, ignore_index=True),
        found,
        pd.concat(measured, ignore_index=True),
        n_unsorted,
    )


def selection_rates(
    counts: pd.DataFrame, ranking: str, in_top: int, below: int, n_places: int
) -> pd.DataFrame:
    """Return rates, impact ratios, their intervals and bounds; a row a value.

    `counts` has the columns list, value, n (candidates) and, for each ranking, those in the top; `in_top` and
    `below` are the unknown candidates, `n_places` all places.
    """
    n, s = (_pivot(counts, column) for column in ("n", ranking))
    values, N, S = n.columns, n.sum().to_numpy(), s.sum().to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = S / N
        r = reference_of(rates, N)
        table = pd.DataFrame({"value": values, "n_candidates": N, "n_selected": S, "rate": rates})
        table[["rate_low", "rate_high"]] = _rate_intervals(n.to_numpy(), s.to_numpy())
        table["ratio"] = rates / rates[r]
        table[["ratio_low", "ratio_high"]] = _ratio_intervals(n.to_numpy(), s.to_numpy(), r)
        table["share_least"], table["share_most"] = S / n_places, (S + in_top) / n_places
        least, most = S / (N + below), (S + in_top) / (N + in_top)
        table["rate_least"], table["rate_most"] = least, most
        table["ratio_least"], table["ratio_most"] = least / most[r], most / least[r]
    table.loc[r, ["ratio_low", "ratio_high", "ratio_least", "ratio_most"]] = np.nan
    table["is_reference"] = np.arange(len(table)) == r
    return table


def _rate_intervals(n: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the interval of the rate of each value, (n_values, 2), from counts (n_lists, n_values)."""
    N, S = n.sum(axis=0), s.sum(axis=0)
    if len(n) == 1:
        return np.array([share_interval(int(a), int(b)) for a, b in zip(S, N, strict=True)])
    half = _half(s - n * (S / N)) / N
    return np.clip(np.stack([S / N - half, S / N + half], axis=1), 0, 1)


def _ratio_intervals(n: np.ndarray, s: np.ndarray, r: int) -> np.ndarray:
    """Return the interval of each value's ratio to value r, (n_values, 2)."""
    N, S = n.sum(axis=0), s.sum(axis=0)
    if len(n) == 1:
        return np.stack(ratio_interval(S, N, S[r], N[r]), axis=1)
    deviations = s / S - n / N
    middle = np.log(S / N) - np.log(S[r] / N[r])
    half = np.where(S > 0, _half(deviations - deviations[:, [r]]), np.nan)
    return np.exp(np.stack([middle - half, middle + half], axis=1))


def _half(deviations: np.ndarray) -> np.ndarray:
    """Return half the width of the interval of sums over lists, from deviations that sum to 0."""
    n_lists = len(deviations)
    squares = n_lists / (n_lists - 1) * (deviations**2).sum(axis=0)
    return scipy.stats.t.ppf((1 + LEVEL) / 2, n_lists - 1) * np.sqrt(squares)


def _counts(rankings: dict[str, Rankings]) -> pd.DataFrame:
    """Return candidates and places of each group; lists are numbered from 0."""
    groups = next(iter(rankings.values())).pools.groups
    columns = {"list": groups.lists, "value": np.array(groups.names, dtype=object)[groups.values]}
    return pd.DataFrame(
        columns | {"n": groups.counts} | {name: of.by_group() for name, of in rankings.items()}
    )


def _numbered(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return all parts in one, the lists numbered on."""
    first = 0
    for part in parts:
        last = int(part["list"].max()) + 1 if len(part) else 0
        part["list"] += first
        first += last
    table = pd.concat(parts, ignore_index=True)
    return table[table["n"] > 0]


def _pivot(counts: pd.DataFrame, column: str) -> pd.DataFrame:
    return counts.pivot(index="list", columns="value", values=column).fillna(0)


def _with_skew(values: pd.DataFrame) -> pd.DataFrame:
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.log(values["share"] / values["desired"])
    there = (values["desired"] > 0) | (values["share"] > 0)
    return values.assign(skew=skew.where(there, 0.0))


def _check(counts: pd.DataFrame, source: ListFile, n_candidates: int, n_places: int) -> None:
    """Refuse what would look fair because nothing could be found."""
    attribute = " x ".join(source.columns.attributes)
    if n_candidates < 2:
        raise InputError(f"{source.path}: one candidate; a ranking to audit has two or more")
    names = counts["value"].unique()
    if len(names) < 2:
        known = f"one value, '{names[0]}'" if len(names) else "no known value"
        raise InputError(
            f"{source.path}: {attribute} has {known}; where all are alike no ranking can treat them"
            " differently: name an attribute with two values or more"
        )
    if n_places == n_candidates:
        raise InputError(
            f"{source.path}: everybody is in the top ({n_places} places, {n_candidates} candidates), so that"
            " no selection can differ; ask for a smaller --top"
        )
