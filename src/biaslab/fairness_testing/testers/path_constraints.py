"""Path constraints: which of them symbolic generation negates, and samples that fulfil them.

Each constraint bounds one attribute, so the values that fulfil a conjunction form one interval of integers
for each attribute. No solver is needed.
"""

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from biaslab.classifiers.domain import Domain
from biaslab.fairness_testing.testers.explanation_trees import Path

T1 = 0.3
"""The global search stops at the first constraint with less confidence."""
LOCAL_RANK, GLOBAL_RANK = 1.0, 10.0


class Choice(StrEnum):
    """Which value of its interval an attribute takes."""

    NEAREST = "nearest"
    """The one nearest to the value that the sample has."""
    LEAST = "least"
    """The one nearest to zero; the solver Z3 mostly answers so."""


class Problem(NamedTuple):
    """Constraints that a new sample must fulfil."""

    rank: float  # of the new sample in its queue; the lowest is taken first
    path: Path  # the path with one constraint negated, by which equal problems are known
    constraints: Path  # those of it which are to be solved


def local_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate each constraint of a path, keep only those on its attribute; rank by 1 + mean confidence."""
    for node, attribute in enumerate(path.attributes.tolist()):
        if attribute not in protected:
            negated = path.negated(node)
            rank = LOCAL_RANK + float(negated.confidences.mean())
            yield Problem(rank, negated, negated.take(negated.attributes == attribute))


def global_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate the last constraint of each beginning of a path, without those on protected attributes.

    One for each constraint before the first with a confidence below `T1`. The rank is 10 minus the average
    confidence of the beginning (the authors' published code).
    """
    free = path.take(~np.isin(path.attributes, list(protected)))
    for node, confidence in enumerate(free.confidences.tolist()):
        if confidence < T1:
            return
        beginning = free.take(slice(node + 1)).negated(node)
        yield Problem(GLOBAL_RANK - float(beginning.confidences.mean()), beginning, beginning)


def intervals(constraints: Path, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and greatest value of each attribute, (d,) int64, that fulfil all constraints."""
    low, high = domain.low.astype(np.int64), domain.high.astype(np.int64)
    left, right = constraints.left, ~constraints.left
    np.minimum.at(high, constraints.attributes[left], constraints.limits[left])
    np.maximum.at(low, constraints.attributes[right], constraints.limits[right] + 1)
    return low, high


def solve(constraints: Path, x: np.ndarray, domain: Domain, choice: Choice) -> np.ndarray | None:
    """Return a sample that fulfils all constraints within the domain, otherwise equal to `x`; or None."""
    low, high = intervals(constraints, domain)
    mentioned = np.unique(constraints.attributes)
    low, high = low[mentioned], high[mentioned]
    if (low > high).any():
        return None
    solution = x.copy()
    solution[mentioned] = np.clip(x[mentioned] if choice is Choice.NEAREST else 0, low, high)
    return solution
