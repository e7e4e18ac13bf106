"""Local explanations: the branch that a sample takes in a decision tree fitted to a model's labels around it.

The neighbourhood is that of LIME for categorical attributes (Ribeiro et al. 2016), as the authors' published
code of symbolic generation takes it: the sample itself, and samples each of whose attributes is drawn from
its distribution in the data, independent of the others *and of the sample*. They are not weighted by their
distance from the sample, so that only its own branch makes an explanation local.
"""

from dataclasses import dataclass

import numpy as np

from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers import _explanation_trees_kernels


@dataclass(frozen=True)
class Path:
    """Constraints of k nodes of a tree from the root on; together a conjunction."""

    attributes: np.ndarray  # (k,) int64: the column that each node asks for
    limits: np.ndarray  # (k,) int64: what its value is compared with
    left: np.ndarray  # (k,) bool: True for "value ≤ limit", False for "value > limit"
    confidences: np.ndarray  # (k,) float64: share of the node's neighbours which fulfil the constraint

    def __len__(self) -> int:
        return len(self.attributes)

    def take(self, nodes: np.ndarray | slice) -> "Path":
        """Return some of the constraints."""
        return Path(self.attributes[nodes], self.limits[nodes], self.left[nodes], self.confidences[nodes])

    def negated(self, node: int) -> "Path":
        """Return the path with one constraint negated, and its confidence taken from 1."""
        left, confidences = self.left.copy(), self.confidences.copy()
        left[node] = not left[node]
        confidences[node] = 1.0 - confidences[node]
        return Path(self.attributes, self.limits, left, confidences)

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Return which samples fulfil all constraints, (n,) bool."""
        return ((X[:, self.attributes] <= self.limits) == self.left).all(axis=1)


class Explainer:
    """Explains a model's labels around samples; the columns of `data` are the attributes' distributions."""

    def __init__(self, model: Model, data: np.ndarray, n_neighbours: int) -> None:
        if data.ndim != 2 or not len(data) or data.shape[1] != model.n_attributes:
            wanted = f"at least one row of {model.n_attributes} attributes"
            raise InputError(f"explanations need data with {wanted}, not of the shape {data.shape}")
        if n_neighbours < 1:
            raise InputError(f"a neighbourhood has at least the sample itself, not {n_neighbours} samples")
        self.model = model
        self.n_neighbours = n_neighbours
        self._columns = np.ascontiguousarray(data.T, np.int32)
        self._low, self._high = data.min(axis=0), data.max(axis=0)

    def neighbours(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the neighbourhood of a sample, (n_neighbours, d) int32, which comes first itself."""
        d, n_rows = self._columns.shape
        rows = rng.integers(0, n_rows, size=(self.n_neighbours, d), dtype=np.uint32)
        X = self._columns.take(rows + n_rows * np.arange(d))
        X[0] = x
        return X

    def explain(self, x: np.ndarray, rng: np.random.Generator) -> Path:
        """Return the branch of a sample in the unpruned tree of its neighbourhood.

        The tree is CART's with Gini's impurity (scikit-learn's ``DecisionTreeClassifier``, which the authors'
        published code calls): it splits halfway between values, and takes one of equally good attributes at
        random.
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
