"""Lists of candidates as input of algorithms, and their rankings as input of measures."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from biaslab.core.errors import InputError
from biaslab.ranking.measures import discount_table

UNKNOWN = -1  # the group of a candidate with an unknown value, who keeps the place and is in no share


@dataclass(frozen=True)
class Settings:
    """Parameters of some algorithms and measures, besides the lists and the desired shares."""

    protected: str | None = None  # the protected value, of FA*IR
    alpha: float = 0.1  # significance of FA*IR's minima, between 0 and 1

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha is {self.alpha:g}; give a significance between 0 and 1")


@dataclass(frozen=True)
class Groups:
    """The present or desired values of each list: G groups, adjacent by list, sorted by name."""

    list_groups: np.ndarray  # (n_lists + 1,) int64: the first group of each list
    names: list[str]  # the values
    values: np.ndarray  # (G,) int64: the value of each group, as an index into `names`
    rows: np.ndarray  # (n,) int64: group of each candidate, `UNKNOWN` without a group
    counts: np.ndarray  # (G,) int64: candidates; 0 if a list lacks a desired value
    desired: np.ndarray  # (G,) float64: shares; they sum to one over a list that has groups

    @classmethod
    def of_all_values(cls, names: list[str], rows: np.ndarray, desired: np.ndarray) -> "Groups":
        """Return groups of every value in every list; `desired` (n_lists, m) has shares of the values."""
        n_lists, m = desired.shape
        counts = np.bincount(rows[rows != UNKNOWN], minlength=desired.size)
        values = np.tile(np.arange(m), n_lists)
        return cls(np.arange(n_lists + 1) * m, names, values, rows, counts, desired.ravel())

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each group, (G,) int64."""
        sizes = np.diff(self.list_groups)
        return np.repeat(np.arange(len(sizes)), sizes)

    def over_lists(self, reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Reduce values, e.g. by ``np.minimum``, over the groups of each list, (n_lists,); NaN if empty."""
        out = np.full(len(self.list_groups) - 1, np.nan)
        filled = np.diff(self.list_groups) > 0
        out[filled] = reduce.reduceat(values, self.list_groups[:-1][filled]) if filled.any() else np.nan
        return out

    def sums(self, groups: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return sums of weights (without `weights`: numbers) of entries in known groups, (G,)."""
        is_known = groups != UNKNOWN
        return np.bincount(groups[is_known], None if weights is None else weights[is_known], len(self.counts))

    def shares(self, sums: np.ndarray) -> np.ndarray:
        """Return the share of each group in the sum over its list, (G,); NaN if the sum is 0."""
        totals = np.bincount(self.lists, sums, len(self.list_groups) - 1)[self.lists]
        return np.divide(sums, totals, out=np.full(len(totals), np.nan), where=totals > 0)

    def of_value(self, name: str | None) -> np.ndarray:
        """Return the group of a value in each list, (n_lists,) int64; `UNKNOWN` in a list without it."""
        groups_of_lists = np.full(len(self.list_groups) - 1, UNKNOWN)
        if name in self.names:
            groups = np.flatnonzero(self.values == self.names.index(name))
            groups_of_lists[self.lists[groups]] = groups
        return groups_of_lists


@dataclass(frozen=True)
class Pools:
    """The n candidates of lists, list after list."""

    offsets: np.ndarray  # (n_lists + 1,) int64: where each list begins and ends
    groups: Groups
    scores: np.ndarray | None = None  # (n,) float64
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of candidates of each list, (n_lists,) int64."""
        return np.diff(self.offsets)

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each candidate, (n,) int64."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def take(self, lists: np.ndarray) -> "Pools":
        """Return some of the lists; indices may be repeated."""
        groups, candidates = self.groups, members_of(self.offsets, lists)
        members, starts = members_of(groups.list_groups, lists), starts_of(np.diff(groups.list_groups)[lists])
        rows, shifts = (
            groups.rows[candidates],
            np.repeat(starts[:-1] - groups.list_groups[lists], self.sizes[lists]),
        )
        part = Groups(
            starts,
            groups.names,
            groups.values[members],
            np.where(rows == UNKNOWN, UNKNOWN, rows + shifts),
            groups.counts[members],
            groups.desired[members],
        )
        return Pools(starts_of(self.sizes[lists]), part, self.scores[candidates], self.settings)

    @cached_property
    def by_score(self) -> np.ndarray:
        """Candidates, list after list, best first; of equal scores the earlier candidate is better."""
        return np.lexsort((-self.scores, self.lists))

    @cached_property
    def by_group(self) -> np.ndarray:
        """Known candidates, group after group, best first."""
        groups = self.groups.rows[self.by_score]
        return self.by_score[np.argsort(groups, kind="stable")][np.count_nonzero(groups == UNKNOWN) :]


@dataclass(frozen=True)
class Rankings:
    """The top places of lists: P places, list after list."""

    pools: Pools
    n_places: np.ndarray  # (n_lists,) int64: at most the number of candidates of the list
    rows: np.ndarray  # (P,) int64: the candidate at each place

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each place, (P,) int64."""
        return np.repeat(np.arange(len(self.n_places)), self.n_places)

    @cached_property
    def n_known(self) -> np.ndarray:
        """The number of places of each list with a known value, (n_lists,) int64."""
        return np.bincount(self.lists[self.groups != UNKNOWN], minlength=len(self.n_places))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group at each place, (P,) int64."""
        return self.pools.groups.rows[self.rows]

    @cached_property
    def attention(self) -> np.ndarray:
        """The attention of each place, (P,) float64: 1 / log2(j + 1) of place j."""
        return self.table_at_places(discount_table(self.longest))

    @property
    def longest(self) -> int:
        """The number of places of the longest list."""
        return int(self.n_places.max())

    def table_at_places(self, table: np.ndarray) -> np.ndarray:
        """Return the entries of a table by place (for the longest list) at every place."""
        return table[places_of(self.n_places)]

    def by_group(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return sums of weights (without `weights`: numbers) of the places of each group, (G,)."""
        return self.pools.groups.sums(self.groups, weights)


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return the starts of adjacent blocks of these sizes, and the end of the last block."""
    return np.concatenate([[0], np.cumsum(sizes)])


def places_of(sizes: np.ndarray) -> np.ndarray:
    """Return 0, 1, … for each list, concatenated."""
    starts = starts_of(sizes)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)


def members_of(starts: np.ndarray, blocks: np.ndarray) -> np.ndarray:
    """Return the entries of some of the adjacent blocks with these starts, block after block."""
    sizes = np.diff(starts)[blocks]
    return places_of(sizes) + np.repeat(starts[blocks], sizes)


def top(pools: Pools, k: int, order: np.ndarray | None = None) -> Rankings:
    """Return the top k of each list; `order` has all candidates, list after list, by default by score."""
    order = pools.by_score if order is None else order
    n_places = np.minimum(pools.sizes, k)
    return Rankings(pools, n_places, order[places_of(n_places) + np.repeat(pools.offsets[:-1], n_places)])
