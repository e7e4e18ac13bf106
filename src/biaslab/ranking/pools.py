"""Lists of candidates as algorithms take them, and rankings of them as measures take them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from biaslab.core.errors import InputError

UNKNOWN = -1
"""The group of a candidate whose value is unknown: it keeps its place, and no share counts it."""


def attention_of_places(n: int) -> np.ndarray:
    """Return the attention of the places 1 to n, 1 / log2(j + 1) of place j, (n,) float64."""
    return 1 / np.log2(np.arange(1, n + 1) + 1)


@dataclass(frozen=True)
class Settings:
    """What some algorithms and measures want to know, besides the lists and the desired shares."""

    protected: str | None = None  # the protected value, of FA*IR
    alpha: float = 0.1  # significance of FA*IR's minima, between 0 and 1

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha is {self.alpha:g}; give a significance between 0 and 1")


@dataclass(frozen=True)
class Groups:
    """The values that each list has or should have: G groups, those of a list side by side, by name."""

    list_groups: np.ndarray  # (n_lists + 1,) int64: the first group of each list
    names: list[str]  # the values
    values: np.ndarray  # (G,) int64: the value of each group, as an index into `names`
    rows: np.ndarray  # (n,) int64: group of each candidate, `UNKNOWN` for one without
    counts: np.ndarray  # (G,) int64: candidates; 0 where a list lacks a value that is desired
    desired: np.ndarray  # (G,) float64: shares; one in sum over a list that has groups

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each group, (G,) int64."""
        sizes = np.diff(self.list_groups)
        return np.repeat(np.arange(len(sizes)), sizes)

    def over_lists(self, reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
        """Return e.g. ``np.minimum`` over the groups of each list, (n_lists,); NaN where there are none."""
        out = np.full(len(self.list_groups) - 1, np.nan)
        filled = np.diff(self.list_groups) > 0
        out[filled] = reduce.reduceat(values, self.list_groups[:-1][filled]) if filled.any() else np.nan
        return out

    def shares(self, sums: np.ndarray) -> np.ndarray:
        """Return sums of each group over those of all groups of its list, (G,); NaN where these are 0."""
        totals = np.bincount(self.lists, sums, len(self.list_groups) - 1)[self.lists]
        return np.divide(sums, totals, out=np.full(len(totals), np.nan), where=totals > 0)

    def of_value(self, name: str | None) -> np.ndarray:
        """Return the group that has a value in each list, (n_lists,) int64; `UNKNOWN` in one without it."""
        found = np.full(len(self.list_groups) - 1, UNKNOWN)
        if name in self.names:
            groups = np.flatnonzero(self.values == self.names.index(name))
            found[self.lists[groups]] = groups
        return found


@dataclass(frozen=True)
class Pools:
    """Candidates of some lists, list after list: n candidates."""

    offsets: np.ndarray  # (n_lists + 1,) int64: where each list begins and ends
    groups: Groups
    scores: np.ndarray | None = None  # (n,) float64
    settings: Settings = field(default_factory=Settings)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Candidates of each list, (n_lists,) int64."""
        return np.diff(self.offsets)

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each candidate, (n,) int64."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def by_score(self) -> np.ndarray:
        """Candidates list after list, each best first; of equal scores the earlier is the better."""
        return np.lexsort((-self.scores, self.lists))

    @cached_property
    def by_group(self) -> np.ndarray:
        """Known candidates group after group, each best first."""
        groups = self.groups.rows[self.by_score]
        return self.by_score[np.argsort(groups, kind="stable")][np.count_nonzero(groups == UNKNOWN) :]


@dataclass(frozen=True)
class Rankings:
    """The top places of some lists: P places, list after list."""

    pools: Pools
    n_places: np.ndarray  # (n_lists,) int64: no more than a list has candidates
    rows: np.ndarray  # (P,) int64: the candidate at each place
    found: dict[Callable, np.ndarray] = field(default_factory=dict)  # see `once`

    @cached_property
    def lists(self) -> np.ndarray:
        """The list of each place, (P,) int64."""
        return np.repeat(np.arange(len(self.n_places)), self.n_places)

    @cached_property
    def n_known(self) -> np.ndarray:
        """Places of each list whose candidate has a known value, (n_lists,) int64."""
        return np.bincount(self.lists[self.groups != UNKNOWN], minlength=len(self.n_places))

    @cached_property
    def groups(self) -> np.ndarray:
        """The group at each place, (P,) int64."""
        return self.pools.groups.rows[self.rows]

    @cached_property
    def attention(self) -> np.ndarray:
        """The attention of each place, (P,) float64."""
        return self.table_at_places(attention_of_places(self.longest))

    @property
    def longest(self) -> int:
        """Places of the longest list."""
        return int(self.n_places.max())

    def table_at_places(self, table: np.ndarray) -> np.ndarray:
        """Return a number that depends on the place alone, given for the longest list, for every place."""
        return table[places_of(self.n_places)]

    def once(self, compute: Callable[["Rankings"], np.ndarray]) -> np.ndarray:
        """Return what a function says of these rankings; it is asked once."""
        if compute not in self.found:
            self.found[compute] = compute(self)
        return self.found[compute]

    def by_group(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return sums (numbers of places without `weights`) over the places of each group, (G,)."""
        known = self.groups != UNKNOWN
        some = None if weights is None else weights[known]
        return np.bincount(self.groups[known], some, len(self.pools.groups.counts))


def starts_of(sizes: np.ndarray) -> np.ndarray:
    """Return where things of these sizes begin when they stand side by side, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes)])


def places_of(sizes: np.ndarray) -> np.ndarray:
    """Return 0, 1, … of each list, one after the other."""
    starts = starts_of(sizes)
    return np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)


def top(pools: Pools, k: int, order: np.ndarray | None = None) -> Rankings:
    """Return the top k of each list in an order of all candidates, (n,) int64, list after list.

    The order is by default that of the scores.
    """
    order = pools.by_score if order is None else order
    n_places = np.minimum(pools.sizes, k)
    return Rankings(pools, n_places, order[places_of(n_places) + np.repeat(pools.offsets[:-1], n_places)])
