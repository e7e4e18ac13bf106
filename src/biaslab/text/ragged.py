"""Store sequences of unequal length one after the other in a flat array."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np


def gather(offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions of the elements of sequences `rows` in the flat array, and their new offsets."""
    lengths = np.diff(offsets)[rows]
    gathered = np.concatenate([[0], np.cumsum(lengths)])
    shift = np.repeat(offsets[:-1][rows] - gathered[:-1], lengths)
    return np.arange(gathered[-1]) + shift, gathered


@dataclass(frozen=True)
class Ragged:
    """n sequences of ids in a flat array; further arrays of a subclass have one value for each id."""

    ids: np.ndarray  # (total,) int32
    offsets: np.ndarray  # (n + 1,) int64; sequence i has the ids from offsets[i] to offsets[i + 1] - 1

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Length of each sequence, (n,) int64."""
        return np.diff(self.offsets)

    def row(self, i: int) -> np.ndarray:
        """Return the ids of sequence `i`, (length,) int32."""
        return self.ids[self.offsets[i] : self.offsets[i + 1]]

    def take(self, rows: Sequence[int] | np.ndarray) -> Self:
        """Return the sequences `rows` (indexes), in this order; an index may occur twice."""
        where, offsets = gather(self.offsets, np.asarray(rows, np.int64))
        columns = {name: array[where] for name, array in vars(self).items() if name != "offsets"}
        return type(self)(**columns, offsets=offsets)

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the arrays under prefixed names, for a file of several sets."""
        return {f"{prefix}_{name}": array for name, array in vars(self).items()}

    @classmethod
    def of_arrays(cls, arrays: dict[str, np.ndarray], prefix: str) -> Self:
        """Return the object from the result of `arrays`."""
        return cls(*(arrays[f"{prefix}_{field.name}"] for field in fields(cls)))
