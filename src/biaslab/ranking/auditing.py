"""Test whether lists show each group of candidates as desired, before and after re-ranking.

A candidate counts as selected if the candidate is in the top of its list. With s_v of n_v candidates of value
v selected over all lists, the impact ratio of v is (s_v / n_v) / (s_r / n_r). The reference r is the value
with the highest rate (`biaslab.core.rates`).

If scores tie, numbers of selected candidates are expectations (`biaslab.ranking.ties`).

`biaslab.core.comparisons` tests whether and which values differ, and computes the least detectable
difference. Lists are the units, because their candidates compete. Unless a reference is named, it is the
value with the highest rate, chosen after looking; intervals of ratios are simultaneous. The interval of a
rate is Clopper and Pearson's for one list, Student's for several lists.

Bounds allow any value for unknown candidates. With u unknown candidates in the top and w below it, the share
of v is between s_v / k and (s_v + u) / k. Its rate is between s_v / (n_v + w) and (s_v + u) / (n_v + u). Its
ratio is between the least rate of v over the greatest rate of r and vice versa. All bounds are attained.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.stats

from biaslab.core.comparisons import compare_groups, ratio_intervals
from biaslab.core.errors import InputError, suggest
from biaslab.core.rates import reference_of
from biaslab.core.stats import LEVEL, holm, share_interval
from biaslab.ranking import registry, ties
from biaslab.ranking.algorithms import check_k
from biaslab.ranking.desired import read_pools
from biaslab.ranking.lists import ListFile
from biaslab.ranking.measures import discount_table
from biaslab.ranking.measuring import count_unsorted, order_of, summarize, test_table, value_table
from biaslab.ranking.pools import UNKNOWN, Pools, top
from biaslab.ranking.reranking import RANKINGS


@dataclass(frozen=True)
class Audit:
    """The results for the lists of a file; without scores, there is no ranking "after"."""

    n_lists: int
    n_candidates: int
    n_places: int  # in the tops of all lists
    n_unknown: tuple[float, float]  # candidates without a known value: in the tops (expected), below them
    values: pd.DataFrame  # value, ranking, n_lists, `measuring.VALUES` with intervals, skew
    selection: pd.DataFrame  # a row per value and ranking: see `selection_rates`
    tests: pd.DataFrame  # a row per list and value: FA*IR's p-values of the original lists, raw and corrected
    measures: pd.DataFrame  # a row per measure and ranking: means over lists
    n_unsorted: int  # lists with scores that rise from a place to the next
    p_value: float  # of no difference between the selection rates before re-ranking
    n_tied: tuple[int, int, int]  # candidates that tie for last places, these places, and lists with ties
    is_named: bool = False  # whether the reference was named in advance

    @property
    def reference(self) -> str:
        """The value that all others are compared with, by default the value with the highest rate."""
        before = self.selection[self.selection["ranking"] == RANKINGS[0]]
        return before.loc[before["is_reference"], "value"].item()


def audit_file(source: ListFile, desired: str, k: int, algorithm: str, reference: str | None = None) -> Audit:
    """Measure the top k of every list of a file as it is, and re-ranked if there are scores.

    The order is by the column of ranks, else by the scores, else by position in the file.
    """
    check_k(k)
    if registry.algorithm(algorithm).needs_protected:
        raise InputError(
            f"{algorithm}: this algorithm protects a single value; use biaslab ranking rerank, or"
            " choose another"
        )
    pools = read_pools(source, desired)
    n_places = int(np.minimum(pools.sizes, k).sum())
    _check(pools, source, n_places, reference)
    by_score = pools.scores is not None and source.columns.rank is None
    order = pools.by_score if by_score else order_of(pools, source)
    tables, counts, tied, in_top = _measure(pools, source.lists.queries, order, by_score, k, algorithm)
    counts, values, tests = counts[counts["n"] > 0], tables["values"], tables["tests"]
    below = float(np.sum(pools.groups.rows == UNKNOWN)) - in_top
    rates = [
        selection_rates(counts, name, in_top, below, n_places, reference).assign(ranking=name)
        for name in tables["measures"]["ranking"].unique()
    ]
    n, s = (_pivot(counts, column) for column in ("n", RANKINGS[0]))
    compared = compare_groups(s, n, tied.loc[n.index, "n_known"], tied.loc[n.index, "chance"])
    bounds = counts.groupby("value")[["least", "most"]].sum()
    rates[0] = rates[0].assign(
        p_value=compared.p_values,
        seen_rate=compared.least_rates,
        seen_other_rate=compared.other_rates,
        is_too_few=compared.is_too_few,
        n_selected_least=bounds["least"].to_numpy(),
        n_selected_most=bounds["most"].to_numpy(),
    )
    tests["p_value_corrected"] = holm(tests["p_value"])
    with np.errstate(divide="ignore", invalid="ignore"):
        skew = np.log(values["share"] / values["desired"])
    has_skew = (values["desired"] > 0) | (values["share"] > 0)
    values.insert(values.columns.get_loc("ranking"), "skew", skew.where(has_skew, 0.0))
    return Audit(
        counts["list"].nunique(),
        len(pools.lists),
        n_places,
        (in_top, below),
        selection=pd.concat(rates, ignore_index=True),
        n_unsorted=count_unsorted(pools, order),
        p_value=compared.p_value,
        n_tied=(int(tied["n_tied"].sum()), int(tied["n_places"].sum()), int((tied["n_tied"] > 0).sum())),
        is_named=reference is not None,
        **tables,
    )


def _measure(
    pools: Pools, queries: Sequence[str], order: np.ndarray, by_score: bool, k: int, algorithm: str
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, pd.DataFrame, float]:
    """Measure lists in `RANKINGS`, without scores only before re-ranking, averaged over orders of ties.

    Return the tables of `Audit` by name, those of `_counts`, and the top's candidates without a known value.
    """
    before = RANKINGS[0]
    rankings, tied = {before: top(pools, k, order)}, None
    if pools.scores is not None:
        rankings[RANKINGS[1]] = registry.rerank(algorithm, pools, k)[0]
        tied = ties.tied_lists(pools, queries)
    lists = {name: pd.DataFrame(registry.measure(ranking)) for name, ranking in rankings.items()}
    tests = test_table(queries, rankings[before])
    chosen = {name: ranking.by_group().astype(np.float64) for name, ranking in rankings.items()}
    attention = {name: ranking.by_group(ranking.attention) for name, ranking in rankings.items()}
    if tied is not None:
        means = _means_over_orders(tied, k, algorithm, RANKINGS if by_score else RANKINGS[1:])
        for (name, quantity), values in means.items():
            if quantity in ("chosen", "attention"):
                {"chosen": chosen, "attention": attention}[quantity][name][tied.groups] = values
            elif quantity in tests:
                tests.loc[tied.groups, quantity] = values
            else:
                lists[name].loc[tied.lists, quantity] = values
    chances = np.isin(np.arange(len(pools.lists)), rankings[before].rows).astype(np.float64)
    last = ties.LastPlaces(np.zeros(len(chances), bool), *np.zeros((2, len(pools.sizes)), np.int64))
    if by_score:
        table = discount_table(rankings[before].longest)
        chances = ties.mean_over_places(pools, k, np.ones(len(table)))
        last = ties.last_places(pools, k)
        rows = pools.groups.rows
        chosen[before] = pools.groups.sums(rows, chances)
        attention[before] = pools.groups.sums(rows, ties.mean_over_places(pools, k, table))
    if last.n_tied.any():
        of_list = np.bincount(pools.groups.lists, chosen[before], len(pools.sizes))
        tests = tests.assign(n_value=chosen[before], n_places=of_list[pools.groups.lists])
    values = [
        value_table(r, chosen[name], attention[name]).assign(ranking=name) for name, r in rankings.items()
    ]
    measures = [summarize(table).assign(ranking=name) for name, table in lists.items()]
    tables = {"values": pd.concat(values), "tests": tests, "measures": pd.concat(measures, ignore_index=True)}
    n_unknown = float(chances[pools.groups.rows == UNKNOWN].sum())
    return tables, *_counts(pools, chances, last, chosen), n_unknown


def _means_over_orders(
    tied: ties.TiedLists, k: int, algorithm: str, names: Sequence[str]
) -> dict[tuple[str, str], np.ndarray]:
    """Return means over orders of ties, by ranking and quantity, of lists and groups."""
    sums: dict[tuple[str, str], np.ndarray] = {}
    for pools in ties.orders(tied, k):
        for name in names:
            if name == RANKINGS[0]:
                rankings = top(pools, k)
                n_copies = len(pools.sizes) // len(tied.lists)
                tests = test_table([*tied.queries] * n_copies, rankings)[["p_value"]]
            else:
                rankings, tests = registry.rerank(algorithm, pools, k)[0], {}
            quantities = registry.measure(rankings) | {column: tests[column].to_numpy() for column in tests}
            quantities |= {"chosen": rankings.by_group(), "attention": rankings.by_group(rankings.attention)}
            for quantity, values in quantities.items():
                n = len(tied.lists if quantity in registry.MEASURES else tied.groups)
                by_order = values.reshape(-1, n).astype(np.float64)
                by_order[0] += sums.get((name, quantity), 0.0)
                # Order after order, so that rounding does not depend on the number of concatenated orders.
                sums[name, quantity] = np.add.accumulate(by_order, axis=0)[-1]
    return {key: total / ties.n_orders(k) for key, total in sums.items()}


def selection_rates(
    counts: pd.DataFrame,
    ranking: str,
    in_top: float,
    below: float,
    n_places: float,
    reference: str | None = None,
) -> pd.DataFrame:
    """Return rates, impact ratios, their simultaneous intervals and bounds; a row per value.

    `counts` has the columns list, value, n (candidates) and, for each ranking, the candidates in the top;
    `in_top` and `below` are the unknown candidates, `n_places` all places.
    """
    n, s = (_pivot(counts, column) for column in ("n", ranking))
    values, N, S = n.columns, n.sum().to_numpy(), s.sum().to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = S / N
        r = reference_of(rates, N) if reference is None else values.get_loc(reference)
        table = pd.DataFrame({"value": values, "n_candidates": N, "n_selected": S, "rate": rates})
        table[["rate_low", "rate_high"]] = _rate_intervals(n.to_numpy(), s.to_numpy())
        table["ratio"] = rates / rates[r]
        table[["ratio_low", "ratio_high"]] = ratio_intervals(s, n, r, is_named=reference is not None)
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
    n_lists, deviations = len(n), s - n * (S / N)  # deviations sum to 0 over the lists
    squares = n_lists / (n_lists - 1) * (deviations**2).sum(axis=0)
    half = scipy.stats.t.ppf((1 + LEVEL) / 2, n_lists - 1) * np.sqrt(squares) / N
    return np.clip(np.stack([S / N - half, S / N + half], axis=1), 0, 1)


def _counts(
    pools: Pools, chances: np.ndarray, last: ties.LastPlaces, chosen: dict[str, np.ndarray]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the candidates of each list (from 0) and value, and the ties of each list.

    The first table has the candidates, the least and the most that are selected before, and the selected by
    ranking. In the second table, chance is that of each tied candidate to get a place.
    """
    groups, n_lists = pools.groups, len(pools.sizes)
    n_tied = groups.sums(groups.rows, last.is_tied)
    sure = groups.sums(groups.rows, np.where(last.is_tied, 0.0, chances))
    of_list, places = last.n_tied[groups.lists], last.n_places[groups.lists]
    columns = {
        "list": groups.lists,
        "value": np.array(groups.names, dtype=object)[groups.values],
        "n": groups.counts,
        "least": sure + np.maximum(0, places - (of_list - n_tied)),
        "most": sure + np.minimum(n_tied, places),
    }
    tied = {
        "n_tied": last.n_tied,
        "n_places": last.n_places,
        "n_known": np.bincount(groups.lists, n_tied, n_lists).astype(np.int64),
        "chance": last.n_places / np.maximum(last.n_tied, 1),
    }
    return pd.DataFrame(columns | chosen), pd.DataFrame(tied)


def _pivot(counts: pd.DataFrame, column: str) -> pd.DataFrame:
    return counts.pivot(index="list", columns="value", values=column).fillna(0)


def _check(pools: Pools, source: ListFile, n_places: int, reference: str | None) -> None:
    """Refuse input that cannot show a difference and would therefore look fair."""
    attribute, groups, n_candidates = " x ".join(source.columns.attributes), pools.groups, len(pools.lists)
    if n_candidates < 2:
        raise InputError(f"{source.path}: the file has one candidate; give two or more")
    names = [groups.names[value] for value in np.unique(groups.values[groups.counts > 0])]
    if len(names) < 2:
        description = f"one value, '{names[0]}'" if names else "no known value"
        raise InputError(
            f"{source.path}: {attribute} has {description}; where all are alike no ranking can treat them"
            " differently: name an attribute with two values or more"
        )
    if n_places == n_candidates:
        raise InputError(
            f"{source.path}: the top includes all candidates ({n_places} places, {n_candidates} candidates),"
            " so selection rates cannot differ; set a smaller --top"
        )
    if reference is not None and reference not in names:
        near = suggest(reference, sorted(names))
        raise InputError(f"--reference {reference}: no candidate of {source.path} has this {attribute}{near}")
