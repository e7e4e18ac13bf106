"""The check of all testers: samples that differ only in protected attributes must get the same label."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing.testers.trails import Columns, Trail


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


BATCH = 8192
"""Samples per batch; results do not depend on it."""


@dataclass(frozen=True)
class Check(Columns):
    """The check of n samples against m combinations of protected values."""

    labels: np.ndarray  # (n,) int64, the samples' own
    variant_labels: np.ndarray  # (n, m) int64: their labels with each combination
    queries: np.ndarray  # (n,) int64: model queries for each
    # (n, k) and (n, m, k): the outputs behind the labels; None if not requested.
    outputs: np.ndarray | None = None
    variant_outputs: np.ndarray | None = None

    @property
    def flips(self) -> np.ndarray:
        """Whether a combination gives a sample another label, (n, m) bool."""
        return self.variant_labels != self.labels[:, None]

    @property
    def discriminatory(self) -> np.ndarray:
        """Whether samples are discriminatory, (n,) bool (Definition 2.1)."""
        return self.flips.any(axis=1)

    @property
    def partners(self) -> np.ndarray:
        """The first combination with another label, (n,) int64; -1 if there is none."""
        return np.where(self.discriminatory, self.flips.argmax(axis=1), -1)


def check(subject: Subject, X: np.ndarray, with_outputs: bool = False) -> Check:
    """Check samples, (n, d) int32 (Algorithm 2); a sample that is none of its variants is also queried."""
    protected = subject.protected
    n, m = len(X), len(protected.values)
    variants = protected.variants(X)
    own = protected.positions(X)
    is_variant = own >= 0
    queried = np.concatenate([variants.reshape(n * m, X.shape[1]), X[~is_variant]])
    queries = m + (~is_variant).astype(np.int64)

    def split(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        of_variants = answers[: n * m].reshape(n, m, *answers.shape[1:])
        of_samples = of_variants[np.arange(n), own]
        of_samples[~is_variant] = answers[n * m :]
        return of_samples, of_variants

    if not with_outputs:
        return Check(*split(subject.model.labels(queried)), queries)
    labels, outputs = subject.model.answers(queried)
    return Check(*split(labels), queries, *split(outputs))


def are_discriminatory(subject: Subject, X: np.ndarray) -> np.ndarray:
    """Return whether samples, (n, d) int32, are discriminatory, (n,) bool, in batches."""
    parts = [check(subject, X[i : i + BATCH]).discriminatory for i in range(0, len(X), BATCH)]
    return np.concatenate([np.empty(0, bool), *parts])


def discriminatory_share(subject: Subject, X: np.ndarray) -> float:
    """Return the discriminatory share of samples; for uniform samples, AEQUITAS' estimate of fairness."""
    return float(are_discriminatory(subject, X).mean())


def uniform_fairness(subject: Subject, *, n: int, seed: int) -> tuple[float, float, float]:
    """Estimate the discriminatory share of the domain, with its interval (Table XII, "Before")."""
    X = subject.domain.draw(n, stream(seed, "uniform fairness"))
    k = int(are_discriminatory(subject, X).sum())
    return k / n, *share_interval(k, n)


def visit(subject: Subject, X: np.ndarray) -> Trail:
    """Check samples of the domain, (n, d) int32, each as its own seed."""
    queries = np.full(len(X), len(subject.protected.values), np.int64)
    return Trail(X, are_discriminatory(subject, X), np.arange(len(X), dtype=np.int32), queries)


def find_partners(subject: Subject, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the other members of discriminatory pairs, (n, d) int32, and the labels of both, (n,) int64."""
    protected = subject.protected
    others, labels, other_labels = X.copy(), np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    for begin in range(0, len(X), BATCH):
        part = slice(begin, begin + BATCH)
        checked = check(subject, X[part])
        others[part, protected.columns] = protected.values[checked.partners]
        labels[part] = checked.labels
        other_labels[part] = checked.variant_labels[np.arange(len(checked)), checked.partners]
    return others, labels, other_labels
