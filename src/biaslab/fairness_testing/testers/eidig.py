"""EIDIG: gradients of the output, with reuse of earlier gradients (Zhang, Zhang and Zhang 2021, ISSTA).

The global phase accumulates gradients with a decay (momentum), so that seeds reach the decision boundary
sooner. The local phase keeps the attributes' probabilities for some steps without new gradients. EIDIG-5
renews them after five successful steps in a row, EIDIG-INF never.
"""

from dataclasses import dataclass

import numpy as np

from biaslab.classifiers.models import Model
from biaslab.fairness_testing.testers.adf import (
    MAX_ITER,
    Finds,
    draw_steps,
    farthest,
    make_tester,
    move_until_found,
)
from biaslab.fairness_testing.testers.contract import Check, Subject, Trail, Visits, check

EPSILON = 1e-6  # added to a saliency before its reciprocal is taken


@dataclass(frozen=True)
class Settings:
    """The parameters of EIDIG, and switches between slips of the authors' code and the intended behaviour.

    Not switches: the code walks once from a find that two seeds share; here seeds are independent. Its local
    phase writes its first step into the list of global finds, so that an unchecked, moved sample is reported
    in place of each find; here the checked samples count. It draws seeds from clusters at random; here all
    testers start from the same seeds. Its domain is the range of the data, so that no seed is outside; here
    seeds are moved into the domain first.
    """

    update_interval: int | None  # steps after which the attributes' probabilities are renewed; None: never
    decay: float = 0.5  # share of earlier gradients that each step of the global phase keeps
    # Whether the sample after the last step of the global phase is also checked. The code checks it when
    # measuring times (True), not when counting (False).
    checks_last: bool = True
    # A sample with equal outputs for all protected values has no farthest partner. The code (True) uses the
    # sample itself; False uses the first other value.
    own_partner: bool = False


def find_globally(
    subject: Subject, seeds: np.ndarray, draws: np.ndarray, settings: Settings
) -> tuple[Trail, Finds]:
    """Move seeds towards the decision boundary until they are discriminatory, without any of the draws."""
    domain, protected = subject.domain, subject.protected
    X = domain.clip(seeds)
    momenta = np.zeros((2, *X.shape))

    def descend(left: np.ndarray, result: Check, iteration: int) -> np.ndarray:
        pair, _, outputs = _farthest_partners(subject, X[left], result, settings.own_partner)
        both = _pair_gradients(subject.model, X[left], result, pair, result.labels, outputs)
        momenta[:, left] = settings.decay * momenta[:, left] + both
        g, h = np.sign(momenta[:, left])
        steps = np.where(g == h, -g, 0).astype(np.int32)  # against the gradients that agree
        steps[:, protected.columns] = 0
        return domain.clip(X[left] + steps)

    return move_until_found(subject, X, MAX_ITER + settings.checks_last, descend)


def walk(subject: Subject, finds: Finds, draws: np.ndarray, settings: Settings) -> Trail:
    """Walk around discriminatory samples; a step without a find returns to the start of the walk."""
    domain, visits = subject.domain, Visits()
    of_gradients = 2 * subject.model.n_gradient_queries
    result = check(subject, finds.samples, with_outputs=True)
    visits.add(finds.samples, result.discriminatory, finds.seeds, result.queries)
    if not draws.shape[1]:
        return visits.trail(domain.n_attributes)
    pair = _farthest_partners(subject, finds.samples, result, own_partner=False)
    first_shares = attribute_weights(subject, finds.samples, result, *pair).cumsum(axis=1)
    position, shares = finds.samples.copy(), first_shares.copy()
    age, gradients = np.zeros(len(position), np.int64), np.full(len(position), of_gradients)
    for attribute_draws, direction_draws, chance in np.moveaxis(draws, 0, 2):
        stale = np.flatnonzero(age == settings.update_interval) if settings.update_interval else []
        if len(stale):
            checked = result.take(stale)
            # Protected values that flip the label, drawn uniformly.
            rank = (chance[stale] * checked.flips.sum(axis=1)).astype(int)
            chosen = (checked.flips.cumsum(axis=1) > rank[:, None]).argmax(axis=1)
            pair = _partners(subject, position[stale], checked, chosen)
            shares[stale] = attribute_weights(subject, position[stale], checked, *pair).cumsum(axis=1)
            age[stale], gradients[stale] = 0, of_gradients
        position = domain.clip(position + draw_steps(subject, shares, attribute_draws, direction_draws))
        result = check(subject, position, with_outputs=True)
        visits.add(position, result.discriminatory, finds.seeds, result.queries + gradients)
        failed = ~result.discriminatory
        age, gradients = np.where(failed, 0, age + 1), np.zeros(len(position), np.int64)
        position[failed], shares[failed] = finds.samples[failed], first_shares[failed]
    return visits.trail(domain.n_attributes)


_Answers = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Samples, (n, d) int32, their labels, (n,) int64, and their outputs, (n, k)."""


def _partners(subject: Subject, X: np.ndarray, result: Check, chosen: np.ndarray) -> _Answers:
    """Return samples with the chosen combinations of protected values, with answers from their check."""
    rows, samples = np.arange(len(X)), X.copy()
    samples[:, subject.protected.columns] = subject.protected.values[chosen]
    return samples, result.variant_labels[rows, chosen], result.variant_outputs[rows, chosen]


def _farthest_partners(subject: Subject, X: np.ndarray, result: Check, own_partner: bool) -> _Answers:
    """Return samples with the protected values with the most different output."""
    chosen, differences = farthest(subject, X, result)
    partners, is_same = _partners(subject, X, result, chosen), (differences <= 0) & own_partner
    for of_partner, own in zip(partners, (X, result.labels, result.outputs), strict=True):
        of_partner[is_same] = own[is_same]
    return partners


def output_gradients(model: Model, X: np.ndarray, labels: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Return the gradients of the probability p of labels: dp/dx = -p dJ/dx with the cross entropy J."""
    p = outputs[np.arange(len(X)), labels].astype(float)
    return -p[:, None] * model.input_gradients(X, labels)


def attribute_weights(subject: Subject, X: np.ndarray, result: Check, *pair: np.ndarray) -> np.ndarray:
    """Return the weights of the attributes `Subject.free`, (n, k) float64, larger for less salient ones."""
    g, h = np.abs(_pair_gradients(subject.model, X, result, *pair))
    return 1 / ((g + h)[:, subject.free] + EPSILON)


def _pair_gradients(
    model: Model, X: np.ndarray, result: Check, pair: np.ndarray, labels: np.ndarray, outputs: np.ndarray
) -> np.ndarray:
    """Return the gradients of checked samples and of their partners, (2, n, d) float64."""
    own = (X, result.labels, result.outputs)
    both = map(np.concatenate, zip(own, (pair, labels, outputs), strict=True))
    return output_gradients(model, *both).reshape(2, len(X), -1)


TESTERS = [
    make_tester(
        find_globally,
        walk,
        "eidig",
        name=title.lower(),
        title=title,
        published=Settings(update_interval, checks_last=False, own_partner=True),
        paper=Settings(update_interval),
        is_later=True,
    )
    for title, update_interval in (("EIDIG-5", 5), ("EIDIG-INF", None))
]
