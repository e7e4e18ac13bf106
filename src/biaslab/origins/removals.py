"""What the removal of documents takes from the co-occurrences of the words of a bias test."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Removals:
    """What the removal of each unit (a document, or a set of them) takes from the rows of a bias test."""

    unit_starts: np.ndarray  # (n_units + 1,) int64, where each unit's touched rows begin in `slots`
    slots: np.ndarray  # (n_pairs,) int32, the numbers of the touched rows
    entry_starts: np.ndarray  # (n_pairs + 1,) int64, where each touched row's entries begin
    places: np.ndarray  # (n_entries,) int64, the touched entries
    counts: np.ndarray  # (n_entries,) int64, what is taken from them, in units of 1 / `WeatRows.unit`

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        """The arrays, in this order, as the kernels take them."""
        return self.unit_starts, self.slots, self.entry_starts, self.places, self.counts

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self.unit_starts) - 1
