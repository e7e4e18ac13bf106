"""How long a grid takes on so many cores: list scheduling of its jobs after what they wait for."""

import heapq
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from biaslab.core.errors import InputError
from biaslab.run.extras import WORKFLOW, need
from biaslab.run.root import repository

_EDGE = re.compile(r"^\s*(\d+) -> (\d+)\s*$", flags=re.M)
_NODE = re.compile(r'^\s*(\d+)\[label = "(\w+)(.*)$', flags=re.M)
_DONE = "dashed"  # the line around a job that is not to be run


class Task(NamedTuple):
    """A job of a grid: its rule, and the numbers of the jobs that must have ended before it starts."""

    rule: str
    after: tuple[str, ...] = ()


def makespan(tasks: Mapping[str, Task], seconds: Mapping[str, float], slots: int) -> float:
    """Return how many seconds jobs take on some slots; jobs of a rule that `seconds` lacks take none.

    A free slot takes the job behind which the longest chain of others waits (list scheduling; never more
    than twice as long as the best schedule: Graham 1969, doi:10.1137/0117039).
    """
    order = list(TopologicalSorter({number: task.after for number, task in tasks.items()}).static_order())
    behind: dict[str, list[str]] = {number: [] for number in tasks}
    for number, task in tasks.items():
        for other in task.after:
            behind[other].append(number)
    chains: dict[str, float] = {}
    for number in reversed(order):
        own = seconds.get(tasks[number].rule, 0.0)
        chains[number] = own + max((chains[other] for other in behind[number]), default=0.0)
    waits = {number: len(task.after) for number, task in tasks.items()}
    ready = [(-chains[number], number) for number in tasks if not waits[number]]
    heapq.heapify(ready)
    running: list[tuple[float, str]] = []
    now = 0.0
    while ready or running:
        while ready and len(running) < slots:
            number = heapq.heappop(ready)[1]
            heapq.heappush(running, (now + seconds.get(tasks[number].rule, 0.0), number))
        now, ended = heapq.heappop(running)
        for other in behind[ended]:
            waits[other] -= 1
            if not waits[other]:
                heapq.heappush(ready, (-chains[other], other))
    return now


def tasks_of(graph: str) -> dict[str, Task]:
    """Return the jobs to be run, from Snakemake's ``--dag`` in the language of Graphviz."""
    nodes = {number: rule for number, rule, style in _NODE.findall(graph) if _DONE not in style}
    after: dict[str, list[str]] = {}
    for first, then in _EDGE.findall(graph):
        if first in nodes:
            after.setdefault(then, []).append(first)
    return {number: Task(rule, tuple(after.get(number, ()))) for number, rule in nodes.items()}


def job_graph(configs: Sequence[Path], arguments: Sequence[str] = ("--forceall",)) -> str:
    """Return the graph of the jobs of a configuration, as Snakemake prints it."""
    need(WORKFLOW)
    command = [sys.executable, "-m", "snakemake", "--dag", "--snakefile", str(repository() / "Snakefile")]
    given = ["--configfile", *map(str, configs)] if configs else []  # takes all that follows
    done = subprocess.run([*command, *arguments, *given], capture_output=True, text=True, check=False)
    if done.returncode:
        last = "".join(done.stderr.strip().splitlines()[-1:])
        raise InputError(f"snakemake --dag: {last.removeprefix('biaslab: ')}")
    return done.stdout
