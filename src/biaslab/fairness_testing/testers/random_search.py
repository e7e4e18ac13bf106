"""Uniform sampling of the domain: THEMIS (Zhang et al. 2021, Section 4.3), and the fairness it estimates."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.core.stats import share_interval
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers.contract import Part, Task, Tester
from biaslab.fairness_testing.testers.discrimination import are_discriminatory
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Phases, Trail


def search(task: Task, settings: None = None) -> Iterator[Part]:
    """Check samples drawn uniformly from the domain, with replacement.

    At least one is drawn; the samples of fewer are the first of those of more, and a part of the seeds gets
    the same part of them. Every sample has a number of its own. As many as there are seeds count as the
    global phase.
    """
    rng = stream(task.seed, "random search")
    size, n_before = task.part_seeds or task.n_seeds, 0
    for begin in range(0, task.n_seeds, size):
        end = min(begin + size, task.n_seeds)
        n = end * task.n_drawn // task.n_seeds - n_before
        trail = visit(task.subject, draw(task.subject, n, rng))
        trail = replace(trail, seed=trail.seed + np.int32(n_before))
        n_global = max(0, task.n_seeds - n_before)
        yield Part(Phases(trail.part(slice(n_global)), trail.part(slice(n_global, None))), end - begin, None)
        n_before += n


TESTER = Tester(
    name="random",
    title="THEMIS",
    modes={names.PUBLISHED: None},
    search=search,
    draws_seeds=True,
    is_retrained=False,
)


def uniform_fairness(subject: Subject, *, n: int, seed: int) -> tuple[float, float, float]:
    """Estimate which share of the domain is discriminatory, with its interval (Table XII, "Before")."""
    X = draw(subject, n, stream(seed, "uniform fairness"))
    k = int(are_discriminatory(subject, X).sum())
    return k / n, *share_interval(k, n)


def draw(subject: Subject, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw `n` uniform samples, (n, d) int32."""
    if n < 1:
        raise InputError(f"{n} uniform samples: draw at least one")
    takes, has = subject.model.n_attributes, subject.domain.n_attributes
    if takes != has:
        raise InputError(
            f"the classifier takes samples of {takes} attributes, but the domain has {has};"
            " give the domain of its data"
        )
    return subject.domain.draw(n, rng)


def visit(subject: Subject, X: np.ndarray) -> Trail:
    """Check samples, (n, d) int32, each a seed of its own, for the combinations of protected values."""
    queries = np.full(len(X), len(subject.protected.values), np.int64)
    return Trail(X, are_discriminatory(subject, X), np.arange(len(X), dtype=np.int32), queries)
