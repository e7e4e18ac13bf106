"""What a suite of samples is like: how near to the data, and how different from each other.

Distances are Gower's (1971) over the attributes that are not protected: numbers differ by their distance in
the domain's range, categories by 0 or 1, and the mean is taken.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from biaslab.classifiers.schema import Category, Schema

N_ROWS = 2000
"""Different rows of the data that samples are compared with, drawn where there are more."""
N_SAMPLES = 200
"""Samples of a suite that are described, drawn where there are more, so that suites of any size compare."""
NEIGHBOUR = 10
"""The neighbour whose distance tells how dense the data are."""
DENSE = 0.95
"""Share of the data's own rows that count as lying in dense regions."""
LEVELS = 5
"""Levels that a number's range is cut into, for cells."""
MEASURES = ("nearest", "dense", "inside", "spread", "cells")
"""What is said of a suite, see `Reference.describe`."""


@dataclass(frozen=True)
class Space:
    """The attributes that are not protected."""

    columns: np.ndarray  # (k,) int64, their places in a sample
    is_category: np.ndarray  # (k,) bool
    low: np.ndarray  # (k,) float64, as high: their domain
    high: np.ndarray

    @classmethod
    def of(cls, schema: Schema, columns: np.ndarray) -> "Space":
        """Return the space of some columns of a table."""
        is_category = np.array([isinstance(schema.attributes[c], Category) for c in columns])
        low, high = (end[columns].astype(float) for end in (schema.domain.low, schema.domain.high))
        return cls(columns, is_category, low, high)

    def distances(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return Gower's distances of samples (a, d) to samples (b, d), (a, b) float64 from 0 on."""
        total = np.zeros((len(A), len(B)))
        if (~self.is_category).any():
            total += cdist(*(self._scaled(X)[:, ~self.is_category] for X in (A, B)), "cityblock")
        if n := int(self.is_category.sum()):
            total += n * cdist(*(X[:, self.columns[self.is_category]] for X in (A, B)), "hamming")
        return total / len(self.columns)

    def levels(self, X: np.ndarray) -> np.ndarray:
        """Return categories as they are and numbers by level, (n, k) int64, all moved into the domain."""
        own = np.clip(X[:, self.columns], self.low, self.high) - self.low
        sizes = self.high - self.low + 1
        return np.where(self.is_category | (sizes <= LEVELS), own, own * LEVELS // sizes).astype(np.int64)

    @property
    def n_cells(self) -> int:
        """How many pairs of levels of two attributes there are."""
        sizes = self.high - self.low + 1
        sizes = np.where(self.is_category, sizes, np.minimum(sizes, LEVELS)).astype(int).tolist()
        return sum(a * b for a, b in itertools.combinations(sizes, 2))

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return (X[:, self.columns] - self.low) / np.maximum(self.high - self.low, 1)


@dataclass(frozen=True)
class Reference:
    """The data that suites are compared with."""

    space: Space
    rows: np.ndarray  # (n, d) int32, different ones
    low: np.ndarray  # (k,) int32, as high: their range, over all rows of the data
    high: np.ndarray
    # The distance to the tenth nearest other row that the share `DENSE` of the rows does not exceed.
    dense: float

    @classmethod
    def of(cls, space: Space, X: np.ndarray, rng: np.random.Generator) -> "Reference":
        """Return the reference of data, (N, d) int32; of many rows, some are drawn."""
        own = X[:, space.columns]
        different = X[np.sort(np.unique(own, axis=0, return_index=True)[1])]
        rows = draw(different, N_ROWS, rng)
        some = draw(np.arange(len(rows)), N_SAMPLES, rng)
        to_others = space.distances(rows[some], rows)
        to_others[np.arange(len(some)), some] = np.inf
        dense = np.quantile(_kth(to_others), DENSE) if len(rows) > 1 else math.inf
        return cls(space, rows, own.min(axis=0), own.max(axis=0), float(dense))

    def describe(self, samples: np.ndarray, rng: np.random.Generator) -> dict[str, float]:
        """Describe a suite of different samples, (n, d) int32, of which `N_SAMPLES` are drawn.

        Of those: nearest (mean distance to the nearest row), dense (share not farther from its tenth nearest
        row than 95% of the rows are from theirs), inside (share with all attributes in the data's ranges),
        spread (mean distance of two), cells (share of all pairs of levels of two attributes that occur).
        Missing where there are too few.
        """
        chosen = draw(samples, N_SAMPLES, rng)
        to_rows = self.space.distances(chosen, self.rows)
        return {"n_suite": len(samples)} | self._measures(chosen, to_rows)

    def of_data(self, rng: np.random.Generator) -> dict[str, float]:
        """Describe rows of the data, each against all others."""
        some = draw(np.arange(len(self.rows)), N_SAMPLES, rng)
        to_rows = self.space.distances(self.rows[some], self.rows)
        to_rows[np.arange(len(some)), some] = np.inf
        return {"n_suite": len(self.rows)} | self._measures(self.rows[some], to_rows)

    def _measures(self, X: np.ndarray, to_rows: np.ndarray) -> dict[str, float]:
        own, n = X[:, self.space.columns], len(X)
        if not n:
            return {"n_described": 0} | dict.fromkeys(MEASURES, math.nan)
        pairs = self.space.distances(X, X)[np.triu_indices(n, 1)]
        return {
            "n_described": n,
            "nearest": float(to_rows.min(axis=1).mean()),
            "dense": float((_kth(to_rows) <= self.dense).mean()),
            "inside": float(((own >= self.low) & (own <= self.high)).all(axis=1).mean()),
            "spread": float(pairs.mean()) if n > 1 else math.nan,
            "cells": count_cells(self.space.levels(X)) / max(1, self.space.n_cells),
        }


def draw(X: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n` of some rows in their order, drawn without replacement; all where there are no more."""
    return X if len(X) <= n else X[np.sort(rng.choice(len(X), n, replace=False))]


def count_cells(levels: np.ndarray) -> int:
    """Return how many different pairs of levels of two attributes occur, of levels (n, k) int64."""
    size = int(levels.max(initial=0)) + 1
    pairs = itertools.combinations(levels.T, 2)
    return sum(len(np.unique(a * size + b)) for a, b in pairs)


def _kth(to_rows: np.ndarray) -> np.ndarray:
    """Return the distances to the `NEIGHBOUR` th nearest row, (n,); to the farthest of fewer."""
    k = min(NEIGHBOUR, int(np.isfinite(to_rows).sum(axis=1).min(initial=NEIGHBOUR)))
    return np.partition(to_rows, k - 1, axis=1)[:, k - 1]
