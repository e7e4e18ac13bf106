"""Limit the resources of a step: threads, memory, run time."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Upper limits for each step; None for no limit."""

    max_threads: int | None
    max_memory: int | None  # megabytes
    max_runtime: int | None  # minutes
    cores: int | None  # of this machine, shared by the steps; None on a cluster

    def threads(self, wanted: int) -> int:
        """Return the threads of a parallel step: on this machine at most half of the cores.

        A step that needs all cores would wait until no other step runs. This never happens while steps of one
        thread can start.
        """
        shared = wanted if self.cores is None else max(1, self.cores // 2)
        return _smallest(wanted, shared, self.max_threads)

    def memory(self, megabytes: int) -> Callable[[object, int], int]:
        """Return the function for Snakemake that doubles the memory of a step at each retry."""
        return lambda wildcards, attempt: _smallest(megabytes * 2 ** (attempt - 1), self.max_memory)

    def minutes(self, most: int) -> int:
        """Return the time limit of a step in minutes."""
        return _smallest(most, self.max_runtime)


def _smallest(*numbers: int | None) -> int:
    return min(number for number in numbers if number is not None)
