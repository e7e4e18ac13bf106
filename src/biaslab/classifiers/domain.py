"""The input domain of a classifier: named integer attributes with inclusive bounds, some protected."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Domain:
    """The Cartesian product of the attributes' valuation domains (Zhang et al. 2021, Section 2.3)."""

    names: tuple[str, ...]  # the d attributes
    low: np.ndarray  # (d,) int32, the least value of each attribute
    high: np.ndarray  # (d,) int32, the greatest value

    @property
    def n_attributes(self) -> int:
        """Number of attributes, d."""
        return len(self.names)

    def clip(self, X: np.ndarray) -> np.ndarray:
        """Return samples with every value moved to the nearest value of its domain (Algorithm 4)."""
        return np.clip(X, self.low, self.high)

    def contains(self, X: np.ndarray) -> np.ndarray:
        """Return which samples lie in the domain."""
        return ((self.low <= X) & (self.high >= X)).all(axis=1)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Return `n` samples drawn uniformly from the domain, with replacement."""
        return rng.integers(self.low, self.high, size=(n, self.n_attributes), endpoint=True, dtype=np.int32)

    def columns(self, names: Sequence[str]) -> tuple[int, ...]:
        """Return the columns of named attributes."""
        return tuple(map(self.names.index, names))


@dataclass(frozen=True)
class Protected:
    """The protected attributes that may vary within a pair of samples."""

    columns: tuple[int, ...]  # p columns
    values: np.ndarray  # (m, p) int32, all combinations of their values, ascending

    @classmethod
    def of(cls, domain: Domain, columns: Sequence[int]) -> "Protected":
        """Return the attributes in `columns` with all combinations of the values in their domains."""
        ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
        values = np.array(list(itertools.product(*ranges)), np.int32)
        return cls(tuple(columns), values.reshape(-1, len(columns)))

    def variants(self, X: np.ndarray) -> np.ndarray:
        """Return every sample with every combination of protected values."""
        variants = np.repeat(X[:, None, :], len(self.values), axis=1)
        variants[:, :, self.columns] = self.values
        return variants

    def positions(self, X: np.ndarray) -> np.ndarray:
        """Return the position of each sample's combination in `values`, (n,) int64; -1 if it is missing."""
        equal = (X[:, None, self.columns] == self.values).all(axis=2)
        return np.where(equal.any(axis=1), equal.argmax(axis=1), -1)

    def others(self, n_attributes: int) -> np.ndarray:
        """Return the columns that are not protected, ascending."""
        return np.setdiff1d(np.arange(n_attributes), self.columns)
