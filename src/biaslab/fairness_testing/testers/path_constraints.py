"""Path constraints: explanations of labels, negated constraints, and samples that satisfy them.

An explanation is the branch of a sample in a decision tree fitted to a model's labels around the sample. The
neighbourhood is that of LIME for categorical attributes (Ribeiro et al. 2016), as used in the authors'
published code of symbolic generation. It consists of the sample itself and samples with each attribute drawn
from its distribution in the data, independently of the other attributes *and of the sample*. Neighbours are
not weighted by distance, so that only the sample's own branch makes an explanation local.

Each constraint bounds one attribute, so that a conjunction allows one interval of integers per attribute. No
solver is needed.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from biaslab.classifiers.domain import Domain
from biaslab.classifiers.models import Model
from biaslab.fairness_testing.testers import _explanation_trees_kernels
from biaslab.fairness_testing.testers.trails import Columns

T1 = 0.3
"""The global search stops at the first constraint below this confidence."""
LOCAL_RANK, GLOBAL_RANK = 1.0, 10.0


@dataclass(frozen=True)
class Path(Columns):
    """The constraints of k nodes of a tree from the root on, as a conjunction."""

    attributes: np.ndarray  # (k,) int64: the column that each node tests
    limits: np.ndarray  # (k,) int64: the limit of its value
    left: np.ndarray  # (k,) bool: True for "value ≤ limit", False for "value > limit"
    confidences: np.ndarray  # (k,) float64: share of the node's neighbours that satisfy the constraint

    def negated(self, node: int) -> "Path":
        """Return the path with one constraint negated and its confidence subtracted from 1."""
        left, confidences = self.left.copy(), self.confidences.copy()
        left[node] = not left[node]
        confidences[node] = 1.0 - confidences[node]
        return Path(self.attributes, self.limits, left, confidences)


class Explainer:
    """Explains a model's labels around samples; the columns of `data` are the attributes' distributions."""

    def __init__(self, model: Model, data: np.ndarray, n_neighbours: int) -> None:
        self.model, self.n_neighbours = model, n_neighbours
        self._columns = np.ascontiguousarray(data.T, np.int32)
        self._low, self._high = data.min(axis=0), data.max(axis=0)

    def neighbours(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the neighbourhood of a sample, (n_neighbours, d) int32; the sample is the first row."""
        d, n_rows = self._columns.shape
        rows = rng.integers(0, n_rows, size=(self.n_neighbours, d), dtype=np.uint32)
        X = self._columns.take(rows + n_rows * np.arange(d))
        X[0] = x
        return X

    def explain(self, x: np.ndarray, rng: np.random.Generator) -> Path:
        """Return the branch of a sample in the unpruned tree of its neighbourhood.

        The tree is CART with Gini's impurity (scikit-learn's ``DecisionTreeClassifier``, as in the authors'
        published code). It splits halfway between values, and breaks ties between attributes at random.
        """
        X = self.neighbours(x, rng)
        labels = self.model.labels(X)
        low = np.minimum(self._low, x)
        starts = np.concatenate([[0], np.cumsum(np.maximum(self._high, x) - low + 1, dtype=np.int64)])
        attributes, limits = np.empty((2, len(X)), np.int64)
        shares = np.empty(len(X))
        depth = _explanation_trees_kernels.grow_branch(
            X, labels, low, starts, self.model.n_classes, rng.random(len(X)), attributes, limits, shares
        )
        attributes, limits, shares = attributes[:depth].copy(), limits[:depth].copy(), shares[:depth]
        left = x[attributes] <= limits
        return Path(attributes, limits, left, np.where(left, shares, 1.0 - shares))


class Choice(StrEnum):
    """The rule for choosing the value of an attribute from its interval."""

    NEAREST = "nearest"
    """The value nearest to the sample's value."""
    LEAST = "least"
    """The value nearest to zero, the usual answer of the solver Z3."""


class Problem(NamedTuple):
    """Constraints that a new sample must satisfy."""

    rank: float  # of the new sample in its queue; the lowest is taken first
    path: Path  # the path with one constraint negated, which identifies equal problems
    constraints: Path  # the constraints to solve


def local_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate each constraint of a path, keep only those on its attribute; rank by 1 + mean confidence."""
    for node, attribute in enumerate(path.attributes.tolist()):
        if attribute not in protected:
            negated = path.negated(node)
            rank = LOCAL_RANK + float(negated.confidences.mean())
            yield Problem(rank, negated, negated.take(negated.attributes == attribute))


def global_problems(path: Path, protected: Collection[int]) -> Iterator[Problem]:
    """Negate the last constraint of each prefix of a path, without constraints on protected attributes.

    The rank is 10 minus the average confidence of the prefix (the authors' published code).
    """
    free = path.take(~np.isin(path.attributes, list(protected)))
    for node, confidence in enumerate(free.confidences.tolist()):
        if confidence < T1:
            return
        beginning = free.take(slice(node + 1)).negated(node)
        yield Problem(GLOBAL_RANK - float(beginning.confidences.mean()), beginning, beginning)


def intervals(constraints: Path, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and greatest value of each attribute, (d,) int64, under all constraints."""
    low, high = domain.low.astype(np.int64), domain.high.astype(np.int64)
    left, right = constraints.left, ~constraints.left
    np.minimum.at(high, constraints.attributes[left], constraints.limits[left])
    np.maximum.at(low, constraints.attributes[right], constraints.limits[right] + 1)
    return low, high


def solve(constraints: Path, x: np.ndarray, domain: Domain, choice: Choice) -> np.ndarray | None:
    """Return a sample that satisfies all constraints in the domain, otherwise equal to `x`; or None."""
    low, high = intervals(constraints, domain)
    mentioned = np.unique(constraints.attributes)
    low, high = low[mentioned], high[mentioned]
    if (low > high).any():
        return None
    solution = x.copy()
    solution[mentioned] = np.clip(x[mentioned] if choice is Choice.NEAREST else 0, low, high)
    return solution
