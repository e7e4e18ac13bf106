"""Uniform sampling of the domain: THEMIS (Zhang et al. 2021, Section 4.3), and its fairness estimate."""

from collections.abc import Iterator

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers.contract import Task, Tester
from biaslab.fairness_testing.testers.discrimination import are_discriminatory
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail


def search(task: Task, settings: None = None) -> Iterator[Phases]:
    """Check samples drawn uniformly from the domain, with replacement.

    Every sample has its own number. The first `n_seeds` samples count as the global phase.
    """
    trail = visit(task.subject, draw(task.subject, task.n_drawn, stream(task.seed, "random search")))
    yield Phases(trail.part(slice(task.n_seeds)), trail.part(slice(task.n_seeds, None)))


TESTER = Tester(
    name="random",
    title="THEMIS",
    modes={names.PUBLISHED: None},
    search=search,
    draws_seeds=True,
    is_retrained=False,
)


def uniform_fairness(subject: Subject, *, n: int, seed: int) -> tuple[float, float, float]:
    """Estimate the discriminatory share of the domain, with its interval (Table XII, "Before")."""
    X = draw(subject, n, stream(seed, "uniform fairness"))
    k = int(are_discriminatory(subject, X).sum())
    return k / n, *share_interval(k, n)


def draw(subject: Subject, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `n` uniform samples, (n, d) int32."""
    if n < 1:
        raise InputError(f"cannot draw {n} uniform samples; draw at least one")
    n_model, n_domain = subject.model.n_attributes, subject.domain.n_attributes
    if n_model != n_domain:
        raise InputError(
            f"the classifier has {n_model} attributes, but the domain has {n_domain};"
            " give the domain of the classifier's data"
        )
    return subject.domain.draw(n, rng)


def visit(subject: Subject, X: np.ndarray) -> Trail:
    """Check samples, (n, d) int32, each as its own seed, for the combinations of protected values."""
    queries = np.full(len(X), len(subject.protected.values), np.int64)
    return Trail(X, are_discriminatory(subject, X), np.arange(len(X), dtype=np.int32), queries)
