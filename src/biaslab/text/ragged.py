"""Sequences of unequal length, one after the other in a flat array."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np


def gather(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where the elements of some sequences stand in the flat array, and their offsets then."""
    lengths = np.diff(offsets)[rows]
    gathered = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(offsets[:-1][rows] - gathered[:-1], lengths)
    return np.arange(gathered[-1]) + shift, gathered


@dataclass(frozen=True)
class Ragged:
    """n sequences of ids, one after the other; further arrays of a subclass have a value for each id."""

    ids: np.ndarray  # (total,) int32
    offsets: np.ndarray  # (n + 1,) int64; sequence i has the ids from offsets[i] to offsets[i + 1] - 1

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Ids of each sequence, (n,) int64."""
        return np.diff(self.offsets)

    def row(self, i: int) -> np.ndarray:
        """Return the ids of sequence `i`, (length,) int32."""
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    def take(self, rows: Sequence[int] | np.ndarray) -> Self:
        """Return the sequences `rows` (indexes), in this order; an index may occur twice."""
        where, offsets = gather(self.offsets, np.asarray(rows, np.int64))
        taken = {name: array[where] for name, array in vars(self).items() if name != "offsets"}
        return type(self)(**taken, offsets=offsets)

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the arrays by the names that they have in a file of several sets."""
        return {f"{prefix}_{name}": array for name, array in vars(self).items()}

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], prefix: str) -> Self:
        """Return what `arrays` was made from."""
        return cls(*(arrays[f"{prefix}_{field.name}"] for field in fields(cls)))
