"""What a tester is: the task that it gets, what it gives back, and the row that describes it.

Everything else asks the row; nothing depends on which tester it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.fairness_testing.names import PUBLISHED
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail, join


@dataclass(frozen=True)
class Task:
    """What is searched, from where, and how far; a tester takes of it what it needs."""

    subject: Subject
    data: np.ndarray  # (N, d) int32, the rows of the classifier's data
    seeds: np.ndarray  # (n, d) int32: rows that a search starts from; none for a tester that draws its seeds
    n_seeds: int  # how many these are, or how many a tester draws
    hops: int  # steps of a walk around a find
    n_explored: int  # different samples to explore, if each costs as much as a whole walk costs others
    n_drawn: int  # samples that a tester draws if it does nothing but draw
    seed: int
    first: int = 0  # the number of the first seed, where these are a part of all
    part_seeds: int | None = None  # most seeds taken before what was tried is yielded, if it can be cut

    def parts(self) -> Iterator["Task"]:
        """Yield the task cut into parts of `part_seeds` of its seeds, at least one part."""
        size = self.part_seeds or max(1, len(self.seeds))
        for begin in range(0, max(1, len(self.seeds)), size):
            seeds = self.seeds[begin : begin + size]
            yield replace(self, seeds=seeds, n_seeds=len(seeds), first=self.first + begin)


@dataclass(frozen=True)
class Tester:
    """One row of the registry."""

    name: str  # in files and on the command line
    title: str  # what people call it
    # Its settings by mode; a tester with one mode has no switches and is the same in both.
    modes: Mapping[str, Any]
    # Yields what was tried from some seeds after the other; a search that cannot be cut yields once. Seeds
    # searched in parts give the same trails as all at once.
    search: Callable[[Task, Any], Iterator[Phases]]
    # The local phase alone, from given seeds which it numbers from 0 on; None without such a phase.
    search_around: Callable[[Task, Any], Trail] | None = None
    # The global phase alone, of a tester that mixes its phases; None where the one in `Phases` is the same.
    search_globally: Callable[[Task, Any], Trail] | None = None
    draws_seeds: bool = False  # from the domain; it takes no rows of the data
    # Whether a sample, or a seed, costs so much that local phases are compared on few seeds, once, which
    # share `Task.n_explored`, and that a small budget of queries would be spent before anything is found.
    is_costly: bool = False
    # Returns settings with other bounds of the protected attribute, those of the authors' code; None where
    # the code takes the domain's.
    with_bounds: Callable[[Any, tuple[int, int]], Any] | None = None
    # Whether the paper proposes it: its quirks are repaired one at a time, and its finds are labelled by
    # every rule.
    is_proposed: bool = False
    is_retrained: bool = True  # whether networks are retrained with its finds
    # Whether it is younger than the paper: the paper's experiment leaves it out, and it is compared with the
    # others at equal budgets alone.
    is_later: bool = False

    def settings(self, mode: str, published_bounds: tuple[int, int] | None = None) -> Any:
        """Return the settings in a mode; the bounds are those of the authors' code, if not the domain's."""
        if len(self.modes) == 1:
            return next(iter(self.modes.values()))
        settings = self.modes[mode]
        if mode == PUBLISHED and published_bounds and self.with_bounds:
            return self.with_bounds(settings, published_bounds)
        return settings


def collect(parts: Iterable[Phases]) -> Phases:
    """Return what all parts of a search tried, as if they were one."""
    parts = list(parts)
    global_, local = ([getattr(part, name) for part in parts] for name in ("global_", "local"))
    return Phases(join(global_), join(local), sum(part.n_idle for part in parts))
