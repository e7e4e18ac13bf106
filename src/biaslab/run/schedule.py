"""How long a grid takes on so many cores: list scheduling of its jobs after what they wait for."""

import heapq
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from biaslab.core.errors import InputError

_EDGE = re.compile(r"^\s*(\d+) -> (\d+)\s*$", flags=re.M)
_NODE = re.compile(r'^\s*(\d+)\[label = "(\w+)', flags=re.M)


class Step(NamedTuple):
    """Equal jobs of one rule.

    Attributes
    ----------
    jobs : int
        How many.
    seconds : float
        What each takes on one core.
    after : tuple of str
        Rules of which all jobs must have ended before one of these starts.
    """

    jobs: int
    seconds: float
    after: tuple[str, ...] = ()


def makespan(steps: Mapping[str, Step], slots: int) -> float:
    """Return how many seconds the jobs of all steps take on some slots.

    A free slot takes the job behind which the longest chain of others still waits (list scheduling; never
    more than twice as long as the best schedule: Graham 1969, doi:10.1137/0117039).

    Parameters
    ----------
    steps : mapping of str to Step
        By their rules; what is waited for and is not among them counts for nothing.
    slots : int
        Jobs that run at once.

    Raises
    ------
    ValueError
        When steps wait for each other.
    """
    waits = {rule: {other for other in step.after if other in steps} for rule, step in steps.items()}
    chains = _chains(steps, waits)
    left = {rule: step.jobs for rule, step in steps.items()}
    ready = [(-chains[rule], rule, steps[rule].jobs) for rule in sorted(steps) if not waits[rule]]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < slots:
            chain, rule, jobs = heapq.heappop(ready)
            heapq.heappush(running, (now + steps[rule].seconds, rule))
            if jobs > 1:
                heapq.heappush(ready, (chain, rule, jobs - 1))
        now, ended = heapq.heappop(running)
        left[ended] -= 1
        if not left[ended]:
            for rule in sorted(r for r, waited in waits.items() if ended in waited):
                waits[rule].remove(ended)
                if not waits[rule]:
                    heapq.heappush(ready, (-chains[rule], rule, steps[rule].jobs))
    return now


def after_of(graph: str) -> dict[str, tuple[str, ...]]:
    """Return all rules that come before each, sorted.

    Parameters
    ----------
    graph : str
        The graph of rules as Snakemake prints it (``--rulegraph``, in the language of Graphviz).
    """
    names = dict(_NODE.findall(graph))
    direct: dict[str, set[str]] = {name: set() for name in names.values()}
    for first, then in _EDGE.findall(graph):
        direct[names[then]].add(names[first])
    before: dict[str, set[str]] = {}
    for rule in TopologicalSorter(direct).static_order():
        before[rule] = direct[rule].union(*(before[other] for other in direct[rule]))
    return {rule: tuple(sorted(rules)) for rule, rules in before.items()}


def rule_graph(configs: Sequence[Path]) -> str:
    """Return the graph of rules of a configuration, as Snakemake prints it.

    Parameters
    ----------
    configs : sequence of path
        Laid over config.yaml.

    Raises
    ------
    InputError
        When Snakemake finds something wrong.
    """
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "--forceall", "--configfile"]
    done = subprocess.run([*command, *map(str, configs)], capture_output=True, text=True, check=False)
    if done.returncode:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise InputError(f"snakemake --rulegraph: {last.removeprefix('biaslab: ')}")
    return done.stdout


def _chains(steps: Mapping[str, Step], waits: Mapping[str, Iterable[str]]) -> dict[str, float]:
    """Return the seconds of the longest chain of steps that begins with each."""
    chains: dict[str, float] = {}
    for rule in reversed(list(TopologicalSorter(waits).static_order())):
        behind = [chains[other] for other, waited in waits.items() if rule in waited]
        chains[rule] = steps[rule].seconds + max(behind, default=0.0)
    return chains
