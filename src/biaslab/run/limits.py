"""What a step may ask for: threads, memory, run time."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What no step asks for more than; None for no limit."""

    max_threads: int | None
    max_memory: int | None  # megabytes
    max_runtime: int | None  # minutes
    cores: int | None  # of this machine, which the steps share; None where a cluster runs them

    def threads(self, wanted: int) -> int:
        """Return the threads of a step that can use several: on this machine at most half of the cores.

        A step that wanted all of them would wait until no other runs, which is never as long as there are
        steps of one thread to start.
        """
        shared = wanted if self.cores is None else max(1, self.cores // 2)
        return _least(wanted, shared, self.max_threads)

    def memory(self, megabytes: int) -> Callable[[object, int], int]:
        """Return how to say the memory that a step needs: twice as much at each retry."""
        return lambda wildcards, attempt: _least(megabytes * 2 ** (attempt - 1), self.max_memory)

    def minutes(self, most: int) -> int:
        """Return how long a step may run."""
        return _least(most, self.max_runtime)


def _least(*numbers: int | None) -> int:
    return min(number for number in numbers if number is not None)
