"""The samples that many searches generate side by side, put into the order of one search after the other."""

import numpy as np

from biaslab.fairness_testing.testers.trails import Trail


class Visits:
    """Collects what searches in lock-step visit."""

    def __init__(self, n_attributes: int) -> None:
        self._samples = [np.empty((0, n_attributes), np.int32)]
        self._discriminatory = [np.empty(0, bool)]
        self._seeds = [np.empty(0, np.int32)]
        self._queries = [np.empty(0, np.int64)]

    def add(
        self, samples: np.ndarray, discriminatory: np.ndarray, seeds: np.ndarray, queries: np.ndarray
    ) -> None:
        """Note the next visits of some searches; `seeds` says which search each belongs to."""
        self._samples.append(samples.copy())
        self._discriminatory.append(discriminatory.copy())
        self._seeds.append(seeds.astype(np.int32))
        self._queries.append(queries.astype(np.int64))

    def trail(self) -> Trail:
        """Return all visits, search by search, each in the order in which they were added."""
        seeds = np.concatenate(self._seeds)
        order = np.argsort(seeds, kind="stable")
        samples = np.concatenate(self._samples)[order]
        discriminatory = np.concatenate(self._discriminatory)[order]
        return Trail(samples, discriminatory, seeds[order], np.concatenate(self._queries)[order])
