"""The subject of a test: a classifier, the domain of its samples, and the attributes that vary in a pair."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model


@dataclass(frozen=True)
class Subject:
    """A classifier under test, the domain of its samples, and the attributes that vary within a pair."""

    model: Model
    domain: Domain
    protected: Protected

    @cached_property
    def free(self) -> np.ndarray:
        """The columns that are not protected, (d - p,) int64, in ascending order."""
        return self.protected.others(self.domain.n_attributes)
