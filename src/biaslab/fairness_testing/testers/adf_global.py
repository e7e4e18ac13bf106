"""ADF's global phase in lock-step: every iteration moves all seeds that are not yet discriminatory."""

from dataclasses import replace

import numpy as np

from biaslab.classifiers.domain import Protected
from biaslab.core.errors import InputError
from biaslab.fairness_testing.testers.adf_gradients import pair_gradients
from biaslab.fairness_testing.testers.adf_settings import Settings
from biaslab.fairness_testing.testers.discrimination import Check
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Trail
from biaslab.fairness_testing.testers.two_phases import Finds, move_until_found


def generate(
    subject: Subject, seeds: np.ndarray, draws: np.ndarray, settings: Settings
) -> tuple[Trail, Finds]:
    """Perturb seeds, (n, d) int32, until they are discriminatory, or `max_iter` times (Algorithm 1).

    The draws, (n, max_iter, 2) uniform, say which attribute moves, and which way, where gradients say
    nothing. The trail has all samples that were checked, seed by seed.
    """
    subject = replace(subject, protected=_enumerated(subject.protected, settings.enumerated))
    domain = subject.domain
    X = domain.clip(seeds) if settings.clip_seeds else seeds.copy()

    def perturb(left: np.ndarray, found: Check, iteration: int) -> np.ndarray:
        """Move samples by one unit in every attribute whose gradients agree (Algorithms 3 and 4)."""
        *_, steps = choose_steps(subject, X[left], found, draws[left, iteration], settings)
        return domain.clip(X[left] + steps)

    return move_until_found(subject, X, settings.max_iter + 1, perturb)


def _enumerated(protected: Protected, bounds: tuple[int, int] | None) -> Protected:
    if bounds is None:
        return protected
    if len(protected.columns) > 1:
        raise InputError(
            "other bounds can be enumerated for one protected attribute only; leave out the others"
        )
    return Protected(protected.columns, np.arange(bounds[0], bounds[1] + 1, dtype=np.int32)[:, None])


def choose_steps(
    subject: Subject, X: np.ndarray, found: Check, draws: np.ndarray, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the partner of each sample and where the pair is to move (Algorithm 3, before it is clipped).

    `found` is what a check says of the samples, with outputs. Partners, signs that both gradients have, or 0
    (Example 4.3), and steps: (n, d) int32 each. No step goes along a protected attribute, but its sign is
    told. `draws`, (n, 2), are as in `generate`, of one perturbation.
    """
    pair = X.copy()
    chosen, differences = farthest(subject, X, found)
    values, labels = subject.protected.values[chosen], found.labels
    if settings.value_below_domain:
        values[differences <= 0] = -1
    pair[:, subject.protected.columns] = values
    g, h = pair_gradients(subject.model, X, pair, labels, labels, settings.subnormal_is_zero)
    s, t = np.sign(g), np.sign(h)
    steps = _directions(s, t, subject, draws, settings.signs_twice)
    return pair, np.where(s == t, s, 0).astype(np.int32), steps.astype(np.int32)


def farthest(subject: Subject, X: np.ndarray, found: Check) -> tuple[np.ndarray, np.ndarray]:
    """Return which other protected values have the output farthest from the sample's (Equation 3), how far.

    The output is that of the samples' own labels, as the check has `found` it; of equal places among the
    combinations of values, (n,) int64, the first are returned.
    """
    rows = np.arange(len(X))
    of_variants = found.variant_outputs[rows, :, found.labels]
    differences = np.abs(of_variants - found.outputs[rows, found.labels][:, None])
    own = subject.protected.positions(X)
    differences[np.flatnonzero(own >= 0), own[own >= 0]] = -1
    return differences.argmax(axis=1), differences.max(axis=1)


def _directions(
    s: np.ndarray, t: np.ndarray, subject: Subject, draws: np.ndarray, signs_twice: bool
) -> np.ndarray:
    """Return the steps, (n, d), for the signs `s` of gradients and `t` of the partners' (Algorithm 3)."""
    agreeing = (s == t) if signs_twice else np.where(s == t, s, 0)
    s_is_zero, t_is_zero = (~signs.any(axis=1, keepdims=True) for signs in (s, t))
    steps = np.where(s_is_zero, t, np.where(t_is_zero, s, agreeing))
    steps[:, subject.protected.columns] = 0
    others = subject.free
    lost = np.flatnonzero(~steps.any(axis=1))
    column = others[(draws[lost, 0] * len(others)).astype(int)]
    steps[lost, column] = 1 if signs_twice else np.where(draws[lost, 1] < 0.5, 1, -1)
    return steps * s if signs_twice else steps
