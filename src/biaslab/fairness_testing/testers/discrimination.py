"""The check of all testers: samples that differ only in protected attributes must get the same label."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.subject import Subject

BATCH = 8192
"""Samples per batch; results do not depend on it."""


@dataclass(frozen=True)
class Check:
    """The check of n samples against m combinations of protected values."""

    labels: np.ndarray  # (n,) int64, the samples' own
    variant_labels: np.ndarray  # (n, m) int64: their labels with each combination
    queries: np.ndarray  # (n,) int64: model queries for each
    # (n, k) and (n, m, k): the outputs behind the labels; None if not requested.
    outputs: np.ndarray | None = None
    variant_outputs: np.ndarray | None = None

    def take(self, rows: np.ndarray) -> "Check":
        """Return the check of the samples in rows."""
        return Check(*(None if column is None else column[rows] for column in vars(self).values()))

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
    """Check samples, (n, d) int32, with any own protected values (Algorithm 2).

    The model is queried once on each variant of a sample, and on the sample if it is not a variant. Outputs
    are included on request.
    """
    protected = subject.protected
    n, m = len(X), len(protected.values)
    variants = protected.variants(X)
    own = protected.positions(X)
    is_variant = own >= 0
    queried = np.concatenate([variants.reshape(n * m, X.shape[1]), X[~is_variant]])
    queries = m + (~is_variant).astype(np.int64)

    def split(answers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers for samples and for their variants."""
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
    parts = [check(subject, X[part]).discriminatory for part in _batches(len(X))]
    return np.concatenate([np.empty(0, bool), *parts])


def discriminatory_share(subject: Subject, X: np.ndarray) -> float:
    """Return the discriminatory share of samples; for uniform samples, AEQUITAS' estimate of fairness."""
    if not len(X):
        raise InputError("there is no sample to check; give at least one")
    return int(are_discriminatory(subject, X).sum()) / len(X)


def find_partners(subject: Subject, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the other members of discriminatory pairs, (n, d) int32, and the labels of both, (n,) int64."""
    protected = subject.protected
    others, labels, other_labels = X.copy(), np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    for part in _batches(len(X)):
        found = check(subject, X[part])
        others[part, protected.columns] = protected.values[found.partners]
        labels[part] = found.labels
        other_labels[part] = found.variant_labels[np.arange(len(found.labels)), found.partners]
    return others, labels, other_labels


def _batches(n: int) -> Iterator[slice]:
    return (slice(begin, begin + BATCH) for begin in range(0, n, BATCH))
