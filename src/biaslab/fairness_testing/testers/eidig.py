"""EIDIG: gradients of the output, and what was known before used again (Zhang, Zhang and Zhang 2021, ISSTA).

The global phase adds up gradients with a decay (momentum), so that seeds meet the decision boundary sooner.
The local one keeps the chances of the attributes for some steps, and takes no gradient in between. EIDIG-5
renews them after five steps in a row that found something, EIDIG-INF never.
"""

from dataclasses import dataclass, replace

import numpy as np

from biaslab.classifiers.models import Model
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers import two_phases
from biaslab.fairness_testing.testers.adf import farthest
from biaslab.fairness_testing.testers.contract import Tester
from biaslab.fairness_testing.testers.discrimination import Check, check
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Trail, Visits
from biaslab.fairness_testing.testers.two_phases import MAX_ITER, Algorithm, Finds

EPSILON = 1e-6
"""Added to a saliency before its reciprocal is taken."""


@dataclass(frozen=True)
class Settings:
    """The numbers of EIDIG, and its switches: what the authors' code does by a slip, and what is meant.

    Not switches: the code walks once from a find that two seeds share; here no seed depends on another. Its
    local phase writes its first step into the list of the global phase's finds, so that a moved sample,
    which nothing has checked, is reported in place of each; here what was checked is counted. It draws seeds
    from clusters at random; here all testers start from the same ones. Its domain is the range of the data,
    so that no seed lies outside; here seeds are moved into the domain first.
    """

    update_interval: int | None  # steps after which the chances of the attributes are renewed; None: never
    decay: float = 0.5  # share of the gradients before that is kept in each step of the global phase
    # Whether the sample after the last step of the global phase is checked, too. The code does so where
    # it takes times (True), not where it counts (False).
    checks_last: bool = True
    # A sample whose output is the same for all protected values has no farthest partner. The code (True)
    # takes the sample itself; False takes the first other one.
    own_partner: bool = False


def find_globally(
    subject: Subject, seeds: np.ndarray, draws: np.ndarray, settings: Settings
) -> tuple[Trail, Finds]:
    """Move seeds, (n, d) int32, towards the decision boundary until they are discriminatory.

    No draws are needed: a sample whose gradients agree in no attribute stays where it is. The trail has all
    samples that were checked, seed by seed.
    """
    domain, protected = subject.domain, subject.protected
    X = domain.clip(seeds)
    momenta = np.zeros((2, *X.shape))

    def descend(left: np.ndarray, found: Check, iteration: int) -> np.ndarray:
        pair = _farthest_pair(subject, X[left], found, settings.own_partner)
        pair = replace(pair, labels=found.labels)
        both = _pair_gradients(subject.model, X[left], found, pair)
        momenta[:, left] = settings.decay * momenta[:, left] + both
        g, h = np.sign(momenta[:, left])
        steps = np.where(g == h, -g, 0).astype(np.int32)  # against the gradients that agree
        steps[:, protected.columns] = 0
        return domain.clip(X[left] + steps)

    return two_phases.move_until_found(subject, X, MAX_ITER + settings.checks_last, descend)


def walk(subject: Subject, finds: Finds, draws: np.ndarray, settings: Settings) -> Trail:
    """Walk around discriminatory samples; a step that finds nothing goes back to where the walk began.

    The draws, (g, hops, 3) uniform, say which attribute moves, which way, and which partner is taken. The
    trail has the starts and all samples tried, walk by walk.
    """
    domain, visits = subject.domain, Visits(subject.domain.n_attributes)
    if not len(finds.seeds):
        return visits.trail()
    of_gradients = 2 * subject.model.n_gradient_queries
    found = check(subject, finds.samples, with_outputs=True)
    visits.add(finds.samples, found.discriminatory, finds.seeds, found.queries)
    if not draws.shape[1]:
        return visits.trail()
    pair = _farthest_pair(subject, finds.samples, found, own_partner=False)
    first_shares = attribute_weights(subject, finds.samples, found, pair).cumsum(axis=1)
    at, shares = finds.samples.copy(), first_shares.copy()
    age, gradients = np.zeros(len(at), np.int64), np.full(len(at), of_gradients)
    for way, side, chance in np.moveaxis(draws, 0, 2):
        stale = np.flatnonzero(age == settings.update_interval) if settings.update_interval else []
        if len(stale):
            known = found.take(stale)
            pair = _random_pair(subject, at[stale], known, chance[stale])
            shares[stale] = attribute_weights(subject, at[stale], known, pair).cumsum(axis=1)
            age[stale], gradients[stale] = 0, of_gradients
        at = domain.clip(at + two_phases.steps(subject, shares, way, side))
        found = check(subject, at, with_outputs=True)
        visits.add(at, found.discriminatory, finds.seeds, found.queries + gradients)
        failed = ~found.discriminatory
        age, gradients = np.where(failed, 0, age + 1), np.zeros(len(at), np.int64)
        at[failed], shares[failed] = finds.samples[failed], first_shares[failed]
    return visits.trail()


@dataclass(frozen=True)
class _Partners:
    """The samples that others are compared with, and what a check of these has told of them."""

    samples: np.ndarray  # (n, d) int32
    labels: np.ndarray  # (n,) int64
    outputs: np.ndarray  # (n, k)

    @classmethod
    def of(cls, subject: Subject, X: np.ndarray, found: Check, chosen: np.ndarray) -> "_Partners":
        """Return samples with the combinations of protected values at the places that are chosen."""
        rows, samples = np.arange(len(X)), X.copy()
        samples[:, subject.protected.columns] = subject.protected.values[chosen]
        return cls(samples, found.variant_labels[rows, chosen], found.variant_outputs[rows, chosen])


def output_gradients(model: Model, X: np.ndarray, labels: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the gradients of the probability that the model gives to labels, (n, d) float64.

    The cross entropy is J = -log p, therefore dp/dx = -p dJ/dx; `outputs`, (n, k), are the samples'.
    """
    p = outputs[np.arange(len(X)), labels].astype(float)
    return -p[:, None] * model.input_gradients(X, labels)


def attribute_weights(subject: Subject, X: np.ndarray, found: Check, pair: _Partners) -> np.ndarray:
    """Return the weights of the attributes `Subject.free`, (n, k) float64: the less they matter, the more."""
    g, h = np.abs(_pair_gradients(subject.model, X, found, pair))
    return 1 / ((g + h)[:, subject.free] + EPSILON)


def _pair_gradients(model: Model, X: np.ndarray, found: Check, pair: _Partners) -> np.ndarray:
    """Return the gradients of checked samples and of their partners, (2, n, d) float64."""
    both = np.concatenate([X, pair.samples])
    labels, outputs = np.r_[found.labels, pair.labels], np.concatenate([found.outputs, pair.outputs])
    return output_gradients(model, both, labels, outputs).reshape(2, len(X), -1)


def _farthest_pair(subject: Subject, X: np.ndarray, found: Check, own_partner: bool) -> _Partners:
    """Return samples with the protected values whose output differs most from theirs."""
    chosen, differences = farthest(subject, X, found)
    pair = _Partners.of(subject, X, found, chosen)
    if not own_partner:
        return pair
    same = differences <= 0
    return _Partners(
        np.where(same[:, None], X, pair.samples),
        np.where(same, found.labels, pair.labels),
        np.where(same[:, None], found.outputs, pair.outputs),
    )


def _random_pair(subject: Subject, X: np.ndarray, found: Check, chance: np.ndarray) -> _Partners:
    """Return samples with one of the protected values that flip their label, all as likely."""
    rank = (chance * found.flips.sum(axis=1)).astype(int)  # which of them, from 0
    chosen = (found.flips.cumsum(axis=1) > rank[:, None]).argmax(axis=1)
    return _Partners.of(subject, X, found, chosen)


_ALGORITHM = Algorithm("eidig", find_globally, walk)


def _describe(name: str, title: str, update_interval: int | None) -> Tester:
    paper = Settings(update_interval)
    return Tester(
        name=name,
        title=title,
        modes={names.PUBLISHED: replace(paper, checks_last=False, own_partner=True), names.PAPER: paper},
        search=_ALGORITHM.search,
        search_around=_ALGORITHM.search_around,
        is_later=True,
    )


EIDIG_5 = _describe("eidig-5", "EIDIG-5", 5)
EIDIG_INF = _describe("eidig-inf", "EIDIG-INF", None)
