"""The samples that many searches generate side by side, put into the order of one search after the other."""

import numpy as np

from biaslab.fairness_testing.testers.trails import Trail, empty, join


class Visits:
    """Collects what searches in lock-step visit."""

    def __init__(self, n_attributes: int) -> None:
        self._trails = [empty(n_attributes)]

    def add(
        self, samples: np.ndarray, discriminatory: np.ndarray, seeds: np.ndarray, queries: np.ndarray
    ) -> None:
        """Note the next visits of some searches; `seeds` says which search each belongs to."""
        seeds, queries = seeds.astype(np.int32), queries.astype(np.int64)
        self._trails.append(Trail(samples.copy(), discriminatory.copy(), seeds, queries))

    def trail(self) -> Trail:
        """Return all visits, search by search, each in the order in which they were added."""
        together = join(self._trails)
        return together.part(np.argsort(together.seed, kind="stable"))
