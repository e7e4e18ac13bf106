"""What a tester is: the task that it gets, what it gives back, and the row that describes it.

Everything else asks the row; nothing depends on which tester it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.fairness_testing.names import PAPER, PUBLISHED
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail, join


@dataclass(frozen=True)
class Task:
    """What is searched, from where, and how far; a tester takes of it what it needs.

    Attributes
    ----------
    subject : Subject
    data : (N, d) int32
        The rows of the classifier's data.
    seeds : (n, d) int32
        Rows that a search starts from; none for a tester that draws its seeds.
    n_seeds : int
        How many these are, or how many a tester draws.
    hops : int
        Steps of a walk around a find.
    n_explored : int
        Different samples that a tester explores if each costs it as much as a whole walk costs others.
    n_drawn : int
        Samples that a tester draws if it does nothing but draw.
    seed : int
        Of the random numbers.
    first : int
        The number of the first seed, where these are a part of all.
    part_seeds : int, optional
        The most seeds that a tester takes before it yields what it tried, if it can be cut; all by default.
    """

    subject: Subject
    data: np.ndarray
    seeds: np.ndarray
    n_seeds: int
    hops: int
    n_explored: int
    n_drawn: int
    seed: int
    first: int = 0
    part_seeds: int | None = None

    def parts(self) -> Iterator["Task"]:
        """Yield the task cut into parts of `part_seeds` of its seeds, at least one part."""
        size = self.part_seeds or max(1, len(self.seeds))
        for begin in range(0, max(1, len(self.seeds)), size):
            seeds = self.seeds[begin : begin + size]
            yield replace(self, seeds=seeds, n_seeds=len(seeds), first=self.first + begin)


@dataclass(frozen=True)
class Part:
    """What a tester tried from some seeds.

    Attributes
    ----------
    phases : Phases
    n_seeds : int
        Seeds taken.
    starts : (n_seeds, d) int32 or None
        The samples that these seeds are, in the order of their numbers; None where a tester does not keep to
        the numbers.
    """

    phases: Phases
    n_seeds: int
    starts: np.ndarray | None


@dataclass(frozen=True)
class Tester:
    """One row of the registry.

    Attributes
    ----------
    name : str
        In files and on the command line.
    title : str
        What people call it.
    modes : mapping of str to object
        Its settings by mode; a tester with one mode has no switches and is the same in all.
    search : callable
        ``search(task, settings)`` yields the `Part` s of a search; one that cannot be cut yields one. Seeds
        searched in parts give the same trails as all at once.
    search_around : callable, optional
        ``search_around(task, settings)`` returns the `Trail` of the local phase alone, from given seeds which
        it numbers from 0 on; None without such a phase.
    search_globally : callable, optional
        ``search_globally(task, settings)`` returns the `Trail` of the global phase alone, for a tester that
        mixes its phases; None where the one in `Phases` is the same.
    draws_seeds : bool
        Whether it draws its seeds from the domain and takes no rows of the data.
    is_costly : bool
        Whether a sample costs it so much that local phases are compared on few seeds, once, and that these
        share `Task.n_explored`.
    with_bounds : callable, optional
        ``with_bounds(settings, bounds)`` returns settings with other bounds of the protected attribute, which
        are those of the authors' code; None where the code takes the domain's.
    is_proposed : bool
        Whether it is the one that the paper proposes: its quirks are repaired one at a time, and its finds
        are labelled by every rule.
    is_retrained : bool
        Whether networks are retrained with its finds.
    is_later : bool
        Whether it is younger than the paper: the paper's experiment leaves it out, and it is compared with
        the others at equal budgets alone.
    """

    name: str
    title: str
    modes: Mapping[str, Any]
    search: Callable[[Task, Any], Iterator[Part]]
    search_around: Callable[[Task, Any], Trail] | None = None
    search_globally: Callable[[Task, Any], Trail] | None = None
    draws_seeds: bool = False
    is_costly: bool = False
    with_bounds: Callable[[Any, tuple[int, int]], Any] | None = None
    is_proposed: bool = False
    is_retrained: bool = True
    is_later: bool = False

    @property
    def has_switches(self) -> bool:
        """Whether the published code and the paper differ."""
        return {PUBLISHED, PAPER} <= set(self.modes)

    def settings(self, mode: str, published_bounds: tuple[int, int] | None = None) -> Any:
        """Return the settings in a mode.

        Parameters
        ----------
        published_bounds : tuple of two int, optional
            First and last value of the protected attribute in the authors' code, where they are not those of
            its domain.
        """
        if not self.has_switches:
            return next(iter(self.modes.values()))
        settings = self.modes[mode]
        if mode == PUBLISHED and published_bounds and self.with_bounds:
            return self.with_bounds(settings, published_bounds)
        return settings


def collect(parts: Iterable[Part]) -> Phases:
    """Return what all parts of a search tried, as if they were one."""
    phases = [part.phases for part in parts]
    return Phases(join([of_part.global_ for of_part in phases]), join([of_part.local for of_part in phases]))
