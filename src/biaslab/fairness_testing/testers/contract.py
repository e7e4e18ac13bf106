"""The contract of a tester: its task, its result, and the row that describes it to all other code."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.fairness_testing.names import PUBLISHED
from biaslab.fairness_testing.testers.discrimination import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail, join


@dataclass(frozen=True)
class Task:
    """The scope of a search; a tester uses only the fields that it needs."""

    subject: Subject
    data: np.ndarray  # (N, d) int32, the rows of the classifier's data
    seeds: np.ndarray  # (n, d) int32: rows from which a search starts; none for a tester that draws its seeds
    n_seeds: int  # number of seeds, or of seeds to draw
    seed: int
    hops: int = 0  # steps of a walk around a find
    n_explored: int = 0  # distinct samples to explore, if each costs as much as a walk of other testers
    n_drawn: int = 0  # samples to draw for a tester that only draws
    first: int = 0  # the number of the first seed, if these seeds are a part
    part_seeds: int | None = None  # largest number of seeds per yielded part, if the search can be cut

    def parts(self) -> Iterator["Task"]:
        """Yield the task cut into parts of `part_seeds` of its seeds, at least one part."""
        size = self.part_seeds or max(1, len(self.seeds))
        for begin in range(0, max(1, len(self.seeds)), size):
            seeds = self.seeds[begin : begin + size]
            yield replace(self, seeds=seeds, n_seeds=len(seeds), first=self.first + begin)


@dataclass(frozen=True)
class Tester:
    """A row of the registry."""

    name: str  # in files and on the command line
    title: str  # display name
    # Settings by mode; a tester with one mode has no switches and is the same in both modes.
    modes: Mapping[str, Any]
    # Yields the trails of the seeds in sequence; a search that cannot be cut yields once. Seeds searched in
    # parts give the same trails as all seeds at once.
    search: Callable[[Task, Any], Iterator[Phases]]
    # The local phase alone, from given seeds, numbered from 0; None without such a phase.
    search_around: Callable[[Task, Any], Trail] | None = None
    # The global phase alone, for a tester that mixes its phases; None if it equals the one in `Phases`.
    search_globally: Callable[[Task, Any], Trail] | None = None
    draws_seeds: bool = False  # from the domain, instead of rows of the data
    # Whether a sample, or a seed, costs so much that local phases are compared once, on few seeds that share
    # `Task.n_explored`, and that a small budget of queries is spent before the first find.
    is_costly: bool = False
    # Returns settings with the protected attribute's bounds of the authors' code; None if the code uses the
    # domain's bounds.
    with_bounds: Callable[[Any, tuple[int, int]], Any] | None = None
    # Whether the paper proposes the tester: its quirks are ablated one at a time, and its finds are labelled
    # by every rule.
    is_proposed: bool = False
    is_retrained: bool = True  # whether networks are retrained with its finds
    # Whether the tester is younger than the paper: the paper's experiment excludes it, and it is compared
    # only at equal budgets.
    is_later: bool = False

    def settings(self, mode: str, published_bounds: tuple[int, int] | None = None) -> Any:
        """Return the settings in a mode; the bounds are the authors' code's, if not the domain's."""
        if len(self.modes) == 1:
            return next(iter(self.modes.values()))
        settings = self.modes[mode]
        if mode == PUBLISHED and published_bounds and self.with_bounds:
            return self.with_bounds(settings, published_bounds)
        return settings


def collect(parts: Iterable[Phases]) -> Phases:
    """Return the trails of all parts of a search as a single part."""
    parts = list(parts)
    global_, local = ([getattr(part, name) for part in parts] for name in ("global_", "local"))
    return Phases(join(global_), join(local), sum(part.n_idle for part in parts))
