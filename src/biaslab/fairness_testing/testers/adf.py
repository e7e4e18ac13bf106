"""ADF: gradients guide seeds to discriminatory samples, and walks find more (Zhang et al. 2021).

`make_tester` has the phases that gradient testers share: from seeds in lock-step, then locally.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers.contract import (
    Check,
    Columns,
    Phases,
    Subject,
    Task,
    Tester,
    Trail,
    Visits,
    check,
    collect,
)

MAX_ITER = 10  # the largest number of steps from a seed in the global phase (Table II)


@dataclass(frozen=True)
class Finds:
    """The discriminatory samples of a global phase, from which the local phase starts."""

    samples: np.ndarray  # (g, d) int32
    seeds: np.ndarray  # (g,) int64: the seed of each sample, in ascending order
    partners: np.ndarray  # (g, p) int32: protected values that give each sample another label


def make_tester(
    find: Callable[[Subject, np.ndarray, np.ndarray, Any], tuple[Trail, Finds]],
    walk: Callable[[Subject, Finds, np.ndarray, Any], Trail],
    streams: str,
    **row: Any,
) -> Tester:
    """Return a tester with two phases; `row` are further fields of `Tester`.

    ``find(subject, seeds, draws, settings)`` is the global phase, with (n, MAX_ITER, 2) uniform draws.
    ``walk(subject, finds, draws, settings)`` is the local phase, with (g, hops, 3) uniform draws.
    """

    def draw(seed: int, numbers: np.ndarray, phase: str, shape: tuple[int, int]) -> np.ndarray:
        """Return uniform numbers of a shape for each seed; more steps or hops only extend them."""
        draws = np.empty((len(numbers), *shape))
        for row, number in zip(draws, numbers.tolist(), strict=True):
            row[:] = stream(seed, streams, number, phase).random(shape)
        return draws

    def search(task: Task, settings: Any) -> Iterator[Phases]:
        """Search from rows of the data, each with its own random streams.

        Each local walk begins with the find of the global phase, so that the local trail has all samples that
        the paper counts (#GDiff omits samples that led to a find).
        """
        subject = task.subject
        if not len(subject.free):
            raise InputError("all attributes are protected; leave at least one attribute unprotected")
        for part in task.parts():
            numbers = np.arange(part.first, part.first + len(part.seeds))
            draws = draw(task.seed, numbers, "global", (MAX_ITER, 2))
            global_, finds = find(subject, part.seeds, draws, settings)
            draws = draw(task.seed, numbers[finds.seeds], "local", (task.hops, 3))
            local = Trail.empty(subject.domain.n_attributes)
            if len(finds.seeds):
                local = walk(subject, finds, draws, settings)
            trails = (global_, local)
            yield Phases(*(replace(trail, seed=trail.seed + np.int32(part.first)) for trail in trails))

    def search_around(task: Task, settings: Any) -> Trail:
        """Search locally from given seeds; a seed that is not discriminatory is first moved."""
        return collect(search(task, settings)).local

    return Tester(search=search, search_around=search_around, **row)


def move_until_found(
    subject: Subject, X: np.ndarray, n_checks: int, move: Callable[[np.ndarray, Check, int], np.ndarray]
) -> tuple[Trail, Finds]:
    """Check samples, (n, d) int32, in lock-step, and move samples that are not yet discriminatory.

    ``move(left, result, iteration)`` returns new positions of the rows `left` of X from their check and two
    gradients each. X is changed in place. The trail has all checked samples, seed by seed.
    """
    of_gradients = 2 * subject.model.n_gradient_queries
    partners = np.zeros((len(X), len(subject.protected.columns)), np.int32)
    is_found = np.zeros(len(X), bool)
    visits, left = Visits(), np.arange(len(X))
    for iteration in range(n_checks):
        result = check(subject, X[left], with_outputs=True)
        visits.add(X[left], result.discriminatory, left, result.queries + of_gradients * (iteration > 0))
        partners[left] = subject.protected.values[result.partners]
        is_found[left] = result.discriminatory
        left, result = left[~result.discriminatory], result.take(~result.discriminatory)
        if iteration == n_checks - 1 or not len(left):
            break
        X[left] = move(left, result, iteration)
    finds = np.flatnonzero(is_found)
    return visits.trail(subject.domain.n_attributes), Finds(X[finds], finds, partners[finds])


def draw_steps(subject: Subject, shares: np.ndarray, way: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Return a step of one unit for each walk; `shares` are cumulative weights of `Subject.free`."""
    moves = np.zeros((len(shares), subject.domain.n_attributes), np.int32)
    chosen = (shares <= (way * shares[:, -1])[:, None]).sum(axis=1)
    moves[np.arange(len(moves)), subject.free[chosen]] = np.where(side < 0.5, 1, -1)
    return moves


@dataclass(frozen=True)
class Settings:
    """Differences between the authors' published code and the paper; the defaults are `PAPER`.

    Not switches: gradients are of the predicted label, because the paper's ground truth is unknown for a
    perturbed sample; a sample is also checked after each of the `MAX_ITER` steps, as in the code. The code
    perturbs a discriminatory sample further if an earlier seed reached the same sample; here the search
    stops, as in Algorithm 1, so that seeds are independent.
    """

    # Move seeds into the domain first, so that every reported sample is inside. The code (False) checks them
    # as in the data, where some are outside; the first step moves them inside.
    clip_seeds: bool = True
    # Least and greatest protected value of the global phase, instead of the domain's. The code uses census'
    # bounds of the column for every data set; they differ only for the age of credit: (0, 39), not (1, 8).
    enumerated: tuple[int, int] | None = None
    # The code (True) multiplies the direction of a global step again by the sign of the sample's own
    # gradient. A sample with a zero gradient never moves, and a sample whose partner has a zero gradient goes
    # up in every attribute. False: such a sample uses the other's signs; if no attribute is left, a random
    # one goes up or down.
    signs_twice: bool = False
    # A sample with equal outputs for all protected values has no farthest partner (Equation 3). The code
    # (True) uses a partner with protected value -1; False uses the first other value.
    value_below_domain: bool = False
    # The code's TensorFlow rounds float32 numbers below 1.2e-38 to zero (True), so that more gradients of a
    # very confident network are zero.
    subnormal_is_zero: bool = False
    # Gradients of a discriminatory pair in the local phase: each of its own label, as in the code (True), or
    # both of the sample's label (False), because y is the same in lines 6 and 7 of Algorithm 7.
    own_labels: bool = False
    # Probability that the local phase continues from a non-discriminatory sample if the hop began at a
    # discriminatory sample. 1: always, as in line 10 of Algorithm 7. exp(-1): the code's basin hopping, by
    # Metropolis' rule. 0: never, so that each hop begins at a discriminatory pair, as in line 5 and in the
    # text ("given a discriminatory sample pair"). Lines 5 and 10 contradict each other; `PAPER` follows line
    # 5, because without a pair there is no x' for a gradient. This reading finds the most discriminatory
    # samples by far.
    acceptance: float = 0.0
    # The code (True) keeps the partner's protected values from the global phase during the entire walk.
    # False: each hop uses the first values with another label (Algorithm 7, lines 4 and 5), or else the last
    # values.
    fixed_partner: bool = False
    # The code's minimiser also visits samples around negative values (True); see `descend`. Such samples may
    # leave the domain by one unit.
    negative_neighbours: bool = False


PAPER = Settings()
"""The algorithms as printed, in the reading that requires discriminatory pairs (`Settings.acceptance`)."""
PUBLISHED = Settings(
    clip_seeds=False,
    signs_twice=True,
    value_below_domain=True,
    subnormal_is_zero=True,
    own_labels=True,
    acceptance=float(np.exp(-1)),
    fixed_partner=True,
    negative_neighbours=True,
)
"""The authors' published code; for the age of credit, also set `enumerated`."""


_SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


def pair_gradients(
    model: Model,
    X: np.ndarray,
    partners: np.ndarray,
    labels: np.ndarray,
    partner_labels: np.ndarray,
    subnormal_is_zero: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of samples and of their partners (Algorithm 1, lines 12, 13; 7, lines 6, 7)."""
    gradients = model.input_gradients(np.concatenate([X, partners]), np.concatenate([labels, partner_labels]))
    if subnormal_is_zero:
        gradients = np.where(np.abs(gradients) < _SMALLEST_NORMAL, 0, gradients)
    return gradients[: len(X)], gradients[len(X) :]


def find_globally(
    subject: Subject, seeds: np.ndarray, draws: np.ndarray, settings: Settings
) -> tuple[Trail, Finds]:
    """Perturb seeds until they are discriminatory, or `MAX_ITER` times (Algorithm 1)."""
    domain = subject.domain
    if settings.enumerated:  # of a single protected attribute
        low, high = settings.enumerated
        values = np.arange(low, high + 1, dtype=np.int32)[:, None]
        subject = replace(subject, protected=Protected(subject.protected.columns, values))
    X = domain.clip(seeds) if settings.clip_seeds else seeds.copy()

    def perturb(left: np.ndarray, result: Check, iteration: int) -> np.ndarray:
        """Move samples by one unit in every attribute whose gradients agree (Algorithms 3 and 4)."""
        *_, steps = choose_steps(subject, X[left], result, draws[left, iteration], settings)
        return domain.clip(X[left] + steps)

    return move_until_found(subject, X, MAX_ITER + 1, perturb)


def choose_steps(
    subject: Subject, X: np.ndarray, result: Check, draws: np.ndarray, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the partner of each checked sample and the steps of the pair (Algorithm 3, before clipping).

    Also return the shared signs of both gradients or 0 (Example 4.3). Steps are 0 for protected attributes,
    but signs are not.
    """
    pair = X.copy()
    chosen, differences = farthest(subject, X, result)
    values, labels = subject.protected.values[chosen], result.labels
    if settings.value_below_domain:
        values[differences <= 0] = -1
    pair[:, subject.protected.columns] = values
    g, h = pair_gradients(subject.model, X, pair, labels, labels, settings.subnormal_is_zero)
    s, t = np.sign(g), np.sign(h)
    shared = np.where(s == t, s, 0)
    s_is_zero, t_is_zero = (~signs.any(axis=1, keepdims=True) for signs in (s, t))
    agreeing = (s == t) if settings.signs_twice else shared
    steps = np.where(s_is_zero, t, np.where(t_is_zero, s, agreeing))
    steps[:, subject.protected.columns] = 0
    stuck = np.flatnonzero(~steps.any(axis=1))
    column = subject.free[(draws[stuck, 0] * len(subject.free)).astype(int)]
    steps[stuck, column] = 1 if settings.signs_twice else np.where(draws[stuck, 1] < 0.5, 1, -1)
    steps = steps * s if settings.signs_twice else steps
    return pair, shared.astype(np.int32), steps.astype(np.int32)


def farthest(subject: Subject, X: np.ndarray, result: Check) -> tuple[np.ndarray, np.ndarray]:
    """Return the protected values with the output farthest from the sample's (Equation 3), and the distance.

    Outputs are of the samples' own labels; the first combination of values wins ties.
    """
    rows = np.arange(len(X))
    of_variants = result.variant_outputs[rows, :, result.labels]
    differences = np.abs(of_variants - result.outputs[rows, result.labels][:, None])
    own = subject.protected.positions(X)
    differences[np.flatnonzero(own >= 0), own[own >= 0]] = -1
    return differences.argmax(axis=1), differences.max(axis=1)


@dataclass
class Walks(Columns):
    """The states of g walks."""

    samples: np.ndarray  # (g, d) int32
    labels: np.ndarray  # (g,) int64
    variant_labels: np.ndarray  # (g, m) int64: with each combination of protected values
    discriminatory: np.ndarray  # (g,) bool
    partners: np.ndarray  # (g, p) int32: protected values of the compared sample

    def put(self, rows: np.ndarray, other: "Walks") -> None:
        """Replace the walks in rows by others."""
        for name, column in vars(self).items():
            column[rows] = getattr(other, name)


_Visit = Callable[..., Walks]
"""Checks and records samples, with the protected values of their partners and the numbers of their seeds."""


def descend(visit: _Visit, walks: Walks, seeds: np.ndarray) -> Walks:
    """Return the end of the minimisation (the authors' published code runs it after each hop).

    The code truncates real values towards zero, so that a finite difference of 1e-8 yields the same sample
    and no gradient, except for c < 0, which yields c + 1. Such neighbours are also visited. If exactly one of
    sample and neighbour is discriminatory, a line search follows. Its first point moves all such attributes
    jointly by a distance of one, away from non-discriminatory samples. Nearer points truncate to the same
    sample. Further iterations, after an improvement, are omitted.
    """
    differs = _visit_neighbours(visit, walks, seeds)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return walks
    start, differs = walks.take(rows), differs[rows]
    samples = start.samples + np.where(start.discriminatory[:, None], -1, 1) * differs
    # A distance below one unit from zero truncates to the sample itself.
    stays = start.discriminatory & (differs.sum(axis=1) > 1)
    samples = np.where(stays[:, None], start.samples, samples).astype(np.int32)
    result = visit(samples, start.partners, seeds[rows])
    _visit_neighbours(visit, result, seeds[rows])
    better = result.discriminatory & ~start.discriminatory
    walks.put(rows[better], result.take(better))
    return walks


def _visit_neighbours(visit: _Visit, walks: Walks, seeds: np.ndarray) -> np.ndarray:
    """Visit the neighbours one unit above negative values; return whether each differs, (g, d) bool."""
    rows, columns = np.nonzero(walks.samples < 0)
    differs = np.zeros(walks.samples.shape, bool)
    if len(rows):
        samples = walks.samples[rows]
        samples[np.arange(len(rows)), columns] += 1
        result = visit(samples, walks.partners[rows], seeds[rows])
        differs[rows, columns] = result.discriminatory != walks.discriminatory[rows]
    return differs


def walk(subject: Subject, finds: Finds, draws: np.ndarray, settings: Settings) -> Trail:
    """Walk around discriminatory samples (Algorithm 7); the trail has the starts and all tried samples."""
    domain, visits = subject.domain, Visits()

    def visit(
        samples: np.ndarray, partners: np.ndarray, seeds: np.ndarray, queries: np.ndarray | int = 0
    ) -> Walks:
        """Check and record samples; `queries` are earlier model queries outside the check."""
        result = check(subject, samples)
        discriminatory = result.discriminatory
        visits.add(samples, discriminatory, seeds, queries + result.queries)
        if not settings.fixed_partner:
            values = subject.protected.values[result.partners]
            partners = np.where(discriminatory[:, None], values, partners)
        return Walks(samples, result.labels, result.variant_labels, discriminatory, partners)

    def arrive(samples: np.ndarray, partners: np.ndarray, queries: np.ndarray | int = 0) -> Walks:
        walks = visit(samples, partners, finds.seeds, queries)
        return descend(visit, walks, finds.seeds) if settings.negative_neighbours else walks

    position = arrive(finds.samples.copy(), finds.partners.copy())
    shares = np.empty((len(finds.seeds), len(subject.free)))
    moved = np.ones(len(finds.seeds), bool)
    for attribute_draws, direction_draws, chance in np.moveaxis(draws, 0, 2):
        n_queries = np.zeros(len(moved), np.int64)
        weights, n_queries[moved] = attribute_weights(subject, position.take(moved), settings)
        shares[moved] = weights.cumsum(axis=1)
        steps = draw_steps(subject, shares, attribute_draws, direction_draws)
        visited = arrive(domain.clip(position.samples + steps), position.partners, n_queries)
        moved = visited.discriminatory | ~position.discriminatory | (chance < settings.acceptance)
        position.put(moved, visited.take(moved))
    return visits.trail(domain.n_attributes)


def attribute_weights(subject: Subject, walks: Walks, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of `Subject.free`, (g, k) (Algorithm 8, before the division), and the queries."""
    pair = walks.samples.copy()
    pair[:, subject.protected.columns] = walks.partners
    labels, queries = walks.labels, np.full(len(pair), 2 * subject.model.n_gradient_queries)
    if settings.own_labels:
        # No check has the partner's label if a global phase found its protected values outside the domain.
        places = subject.protected.positions(pair)
        labels, is_unknown = walks.variant_labels[np.arange(len(pair)), places], places < 0
        if is_unknown.any():
            labels[is_unknown] = subject.model.labels(pair[is_unknown])
        queries += is_unknown
    g, h = pair_gradients(
        subject.model, walks.samples, pair, walks.labels, labels, settings.subnormal_is_zero
    )
    saliency = (np.abs(g).astype(float) + np.abs(h))[:, subject.free]
    zero = saliency == 0
    with np.errstate(divide="ignore"):  # if a saliency is zero, the limit: zeros share all probability
        return np.where(zero.any(axis=1, keepdims=True), zero, 1 / saliency), queries


TESTER = make_tester(
    find_globally,
    walk,
    "adf",
    name="adf",
    title="ADF",
    published=PUBLISHED,
    paper=PAPER,
    with_bounds=lambda settings, bounds: replace(settings, enumerated=bounds),
    is_proposed=True,
)
