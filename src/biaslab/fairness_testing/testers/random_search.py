"""Uniform sampling of the domain: THEMIS (Zhang et al. 2021, Section 4.3), and the fairness it estimates."""

import numpy as np
import scipy  # loads its parts when they are used

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.trails import Trail

LEVEL = 0.95
_BATCH = 8192


def search(model: Model, domain: Domain, protected: Protected, *, n: int, seed: int) -> Trail:
    """Check samples drawn uniformly from the domain, with replacement.

    Parameters
    ----------
    model : Model
        The classifier.
    domain : Domain
        Where the samples come from.
    protected : Protected
        What may vary within a pair.
    n : int
        How many samples, at least one; the samples of fewer are the first of those of more.
    seed : int
        Seed of the run.

    Returns
    -------
    Trail
        Every sample is a seed of its own.

    Raises
    ------
    InputError
        When `n` is below one, or the classifier takes other samples than the domain has.
    """
    return visit(model, draw(model, domain, n, stream(seed, "random search")), protected)


def uniform_fairness(
    model: Model, domain: Domain, protected: Protected, *, n: int, seed: int
) -> tuple[float, float, float]:
    """Estimate which share of the domain is discriminatory (AEQUITAS' fairness; Table XII, "Before").

    Parameters
    ----------
    model : Model
    domain : Domain
    protected : Protected
    n : int
        How many uniform samples, at least one.
    seed : int
        Seed of the run. The samples are not those of `search`.

    Returns
    -------
    share, ci_low, ci_high : float
        With Clopper and Pearson's 95% interval.

    Raises
    ------
    InputError
        As in `search`.
    """
    X = draw(model, domain, n, stream(seed, "uniform fairness"))
    k = int(_discriminatory(model, X, protected).sum())
    interval = scipy.stats.binomtest(k, n).proportion_ci(LEVEL, method="exact")
    return k / n, float(interval.low), float(interval.high)


def draw(model: Model, domain: Domain, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `n` uniform samples for a classifier, (n, d) int32.

    Raises
    ------
    InputError
        As in `search`.
    """
    if n < 1:
        raise InputError(f"{n} uniform samples: draw at least one")
    if model.n_attributes != domain.n_attributes:
        raise InputError(
            f"the classifier takes samples of {model.n_attributes} attributes, but the domain has"
            f" {domain.n_attributes}; give the domain of its data"
        )
    return domain.draw(n, rng)


def visit(model: Model, X: np.ndarray, protected: Protected) -> Trail:
    """Check samples, (n, d) int32, each a seed of its own, for the combinations of protected values."""
    queries = np.full(len(X), len(protected.values), np.int64)
    return Trail(X, _discriminatory(model, X, protected), np.arange(len(X), dtype=np.int32), queries)


def _discriminatory(model: Model, X: np.ndarray, protected: Protected) -> np.ndarray:
    parts = [check(model, X[i : i + _BATCH], protected).discriminatory for i in range(0, len(X), _BATCH)]
    return np.concatenate(parts)
