"""Local linear explanations of a model: LIME for numbers (Ribeiro, Singh and Guestrin 2016)."""

import numpy as np

from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.subject import Subject

WIDTH = 0.75
"""Width of the kernel, in units of √d."""
PENALTY = 1.0
"""Weight of the squared coefficients (ridge regression)."""


class LinearExplainer:
    """Explains how a model gets its output for class 1 around samples, as the package ``lime`` does.

    Every attribute counts as a number. Neighbours are drawn from independent normal distributions with the
    means and standard deviations of the data, *not* around the sample, which comes first itself; they are
    weighted by exp(-δ²/2w²), δ being their standardised distance from it and w = 0.75 √d. What differs here:
    neighbours are rounded and moved into the domain, since a model may know no others.

    Parameters
    ----------
    subject : Subject
    data : (N, d) int32
    n_neighbours : int
        Samples that an explanation asks the model about, the explained one included.
    """

    def __init__(self, subject: Subject, data: np.ndarray, n_neighbours: int) -> None:
        n_attributes = subject.domain.n_attributes
        if data.ndim != 2 or not len(data) or data.shape[1] != n_attributes:
            wanted = f"at least one row of {n_attributes} attributes"
            raise InputError(f"explanations need data with {wanted}, not of the shape {data.shape}")
        self.model, self.domain, self.n_neighbours = subject.model, subject.domain, n_neighbours
        self.means, deviations = data.mean(axis=0), data.std(axis=0)
        self.scales = np.where(deviations == 0, 1.0, deviations)

    def neighbours(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw the neighbourhood of a sample, (n_neighbours, d) int32, which comes first itself."""
        drawn = rng.normal(size=(self.n_neighbours, len(x))) * self.scales + self.means
        X = self.domain.clip(np.rint(drawn)).astype(np.int32)
        X[0] = x
        return X

    def explain(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the coefficients of the attributes, (d,) float64, per standard deviation."""
        X = self.neighbours(x, rng)
        outputs = self.model.probabilities(X)[:, 1].astype(np.float64)
        return weighted_ridge((X - self.means) / self.scales, outputs)


def weighted_ridge(Z: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the coefficients of a ridge regression around the first row of Z, (n, d), (d,) float64.

    The intercept is not penalised. Sums are in one order whatever the number of threads.
    """
    weights = np.exp(-((Z - Z[0]) ** 2).sum(axis=1) / (2 * WIDTH**2 * Z.shape[1]))
    shares = weights / weights.sum()
    A, b = Z - (shares[:, None] * Z).sum(axis=0), outputs - (shares * outputs).sum()
    weighted = weights[:, None] * A
    gram = np.einsum("ni,nj->ij", weighted, A) + PENALTY * np.eye(Z.shape[1])
    return np.linalg.solve(gram, np.einsum("ni,n->i", weighted, b))
