"""The one check of all testers: samples that differ in protected attributes alone must get one label."""

from dataclasses import dataclass

import numpy as np

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError


@dataclass(frozen=True)
class Check:
    """What checking n samples against m combinations of protected values found.

    Attributes
    ----------
    labels : (n,) int64
        The samples' own labels.
    variant_labels : (n, m) int64
        Their labels with each combination.
    """

    labels: np.ndarray
    variant_labels: np.ndarray

    @property
    def discriminatory(self) -> np.ndarray:
        """Which samples are discriminatory, (n,) bool (Definition 2.1)."""
        return (self.variant_labels != self.labels[:, None]).any(axis=1)

    @property
    def partners(self) -> np.ndarray:
        """The first combination with another label, (n,) int64; -1 where there is none."""
        differs = self.variant_labels != self.labels[:, None]
        return np.where(differs.any(axis=1), differs.argmax(axis=1), -1)


def check(model: Model, X: np.ndarray, protected: Protected) -> Check:
    """Check samples for discrimination (Definition 2.1, Algorithm 2).

    Parameters
    ----------
    model : Model
        The classifier.
    X : (n, d) int32
        Samples. Their own protected values need not be among the combinations.
    protected : Protected
        What may vary within a pair.
    """
    n, m = len(X), len(protected.values)
    variants = protected.variants(X)
    own = protected.positions(X)
    is_variant = own >= 0
    asked = np.concatenate([variants.reshape(n * m, X.shape[1]), X[~is_variant]])
    answers = model.labels(asked)
    variant_labels = answers[: n * m].reshape(n, m)
    labels = variant_labels[np.arange(n), own]
    labels[~is_variant] = answers[n * m :]
    return Check(labels, variant_labels)


def discriminatory_share(model: Model, X: np.ndarray, protected: Protected, batch: int = 8192) -> float:
    """Return the share of samples that are discriminatory; of uniform ones, AEQUITAS' estimate of fairness.

    Parameters
    ----------
    model : Model
    X : (n, d) int32
        At least one sample.
    protected : Protected
    batch : int
        Samples checked at a time; the share does not depend on it.

    Raises
    ------
    InputError
        When there is no sample.
    """
    if not len(X):
        raise InputError("no sample to check; give at least one")
    found = sum(
        int(check(model, X[i : i + batch], protected).discriminatory.sum()) for i in range(0, len(X), batch)
    )
    return found / len(X)


def find_partners(
    model: Model, X: np.ndarray, protected: Protected, batch: int = 8192
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the other members of discriminatory pairs, and the labels of both.

    Parameters
    ----------
    model : Model
    X : (n, d) int32
        Discriminatory samples.
    protected : Protected
    batch : int
        Samples checked at a time; the answer does not depend on it.

    Returns
    -------
    others : (n, d) int32
        Each with the first combination of protected values that gets another label.
    labels, other_labels : (n,) int64
    """
    others, labels, other_labels = X.copy(), np.empty(len(X), np.int64), np.empty(len(X), np.int64)
    for begin in range(0, len(X), batch):
        part = slice(begin, begin + batch)
        found = check(model, X[part], protected)
        others[part, protected.columns] = protected.values[found.partners]
        labels[part] = found.labels
        other_labels[part] = found.variant_labels[np.arange(len(found.labels)), found.partners]
    return others, labels, other_labels
