"""Where the walks of ADF's local phase stand, and the checks that tell them."""

from dataclasses import dataclass

import numpy as np

from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.visits import Visits


@dataclass
class Walks:
    """Where g walks stand."""

    samples: np.ndarray  # (g, d) int32
    labels: np.ndarray  # (g,) int64
    variant_labels: np.ndarray  # (g, m) int64: with each combination of protected values
    discriminatory: np.ndarray  # (g,) bool
    partners: np.ndarray  # (g, p) int32: protected values of the sample that each one is compared with

    def take(self, rows: np.ndarray) -> "Walks":
        """Return some of the walks."""
        return Walks(*(column[rows] for column in vars(self).values()))

    def put(self, rows: np.ndarray, other: "Walks") -> None:
        """Let some of the walks stand where others do."""
        for name, column in vars(self).items():
            column[rows] = getattr(other, name)


class Explorer:
    """Checks samples and notes the visits; a walk's partner may be fixed."""

    def __init__(self, subject: Subject, fixed_partner: bool, visits: Visits) -> None:
        self.subject = subject
        self.fixed_partner = fixed_partner
        self.visits = visits

    def visit(
        self, samples: np.ndarray, partners: np.ndarray, seeds: np.ndarray, queries: np.ndarray | int
    ) -> Walks:
        """Check samples and note them; `queries` were put to the model before, other than for the check."""
        found = check(self.subject, samples)
        discriminatory = found.discriminatory
        self.visits.add(samples, discriminatory, seeds, queries + found.queries)
        if not self.fixed_partner:
            values = self.subject.protected.values[found.partners]
            partners = np.where(discriminatory[:, None], values, partners)
        return Walks(samples, found.labels, found.variant_labels, discriminatory, partners)
