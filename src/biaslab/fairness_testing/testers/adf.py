"""ADF: gradients lead seeds to discriminatory samples; walks around these find more (Zhang et al. 2021)."""

from dataclasses import dataclass, replace

import numpy as np

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.fairness_testing import names
from biaslab.fairness_testing.testers import two_phases
from biaslab.fairness_testing.testers.contract import Tester
from biaslab.fairness_testing.testers.discrimination import Check, check
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import Trail, Visits
from biaslab.fairness_testing.testers.two_phases import Algorithm, Finds


@dataclass(frozen=True)
class Settings:
    """What the authors' published code and the paper do differently; the defaults are `PAPER`.

    Switch one at a time with `dataclasses.replace`. Not switches: gradients are those of the predicted label,
    since the ground truth that the paper names is unknown as soon as a sample is perturbed; a sample is
    checked after each of the `MAX_ITER` steps, too (``for iter from 0 to max_iter``, both ends included, as
    the code does). The code perturbs a discriminatory sample further if an earlier seed led to the same one;
    here it stops, as Algorithm 1 does, so that seeds do not depend on each other.
    """

    # Move seeds into the domain first, so that every reported sample is inside. The code (False) checks
    # them as they are in the data, where some are outside; the first step moves them inside.
    clip_seeds: bool = True
    # Least and greatest protected value that the global phase tries, instead of the
    # domain's. The code takes census' bounds for the column for every data set, which differ for the age
    # of credit alone: (0, 39), not (1, 8).
    enumerated: tuple[int, int] | None = None
    # The code (True) multiplies the direction of a global step once more by the sign of the sample's own
    # gradient: a sample whose gradient is zero never moves, neither in its partner's direction nor at
    # random, and one whose partner's gradient is zero goes up in every attribute. False: such a sample
    # takes the other's signs; where no attribute is left, a random one goes up or down.
    signs_twice: bool = False
    # A sample whose output is the same for all protected values has no farthest partner (Equation 3). The
    # code (True) gives it one with protected value -1; False takes the first other one.
    value_below_domain: bool = False
    # TensorFlow, which the code uses, rounds float32 numbers below 1.2e-38 to zero (True), so that more
    # gradients of a network that is very sure are zero.
    subnormal_is_zero: bool = False
    # Gradients of a discriminatory pair in the local phase: each of its own label, as in the code (True),
    # or both of the sample's label (False): y is the same in lines 6 and 7 of Algorithm 7.
    own_labels: bool = False
    # Probability that the local phase goes on from a sample that is not discriminatory, when the hop
    # began at one that is. 1: always, as line 10 of Algorithm 7 says. exp(-1): the code's basin hopping,
    # by Metropolis' rule. 0: never, so that each hop begins at a discriminatory pair, as line 5 demands
    # and the text says ("given a discriminatory sample pair"). Lines 5 and 10 contradict each other;
    # `PAPER` follows line 5, since without a pair there is no x' to take a gradient of. This reading
    # finds the most discriminatory samples by far.
    acceptance: float = 0.0
    # The code (True) keeps the protected values of the partner found in the global phase during the whole
    # walk. False: each hop takes the first that give another label (Algorithm 7, lines 4 and 5); the last
    # ones where there are none.
    fixed_partner: bool = False
    # The code's minimiser visits further samples around negative values (True); see `adf_descent`. Such
    # samples may leave the domain by one unit.
    negative_neighbours: bool = False


PAPER = Settings()
"""The algorithms as printed, on the reading that keeps to discriminatory pairs (`Settings.acceptance`)."""
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
"""The authors' published code; for the age of credit, set `enumerated`, too."""


_SMALLEST_NORMAL = np.finfo(np.float32).smallest_normal


def pair_gradients(
    model: Model,
    X: np.ndarray,
    partners: np.ndarray,
    labels: np.ndarray,
    partner_labels: np.ndarray,
    subnormal_is_zero: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradients of samples and of their partners (Algorithm 1, lines 12 and 13; 7, 6 and 7)."""
    gradients = model.input_gradients(np.concatenate([X, partners]), np.concatenate([labels, partner_labels]))
    if subnormal_is_zero:
        gradients = np.where(np.abs(gradients) < _SMALLEST_NORMAL, 0, gradients)
    return gradients[: len(X)], gradients[len(X) :]


def find_globally(
    subject: Subject, seeds: np.ndarray, draws: np.ndarray, settings: Settings
) -> tuple[Trail, Finds]:
    """Perturb seeds, (n, d) int32, until they are discriminatory, or `MAX_ITER` times (Algorithm 1).

    The draws, (n, MAX_ITER, 2) uniform, say which attribute moves, and which way, where gradients say
    nothing. The trail has all samples that were checked, seed by seed.
    """
    subject = replace(subject, protected=_enumerated(subject.protected, settings.enumerated))
    domain = subject.domain
    X = domain.clip(seeds) if settings.clip_seeds else seeds.copy()

    def perturb(left: np.ndarray, found: Check, iteration: int) -> np.ndarray:
        """Move samples by one unit in every attribute whose gradients agree (Algorithms 3 and 4)."""
        *_, steps = choose_steps(subject, X[left], found, draws[left, iteration], settings)
        return domain.clip(X[left] + steps)

    return two_phases.move_until_found(subject, X, two_phases.MAX_ITER + 1, perturb)


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
    told. `draws`, (n, 2), are as in `find_globally`, of one perturbation.
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


@dataclass
class Walks:
    """Where g walks stand."""

    samples: np.ndarray  # (g, d) int32
    labels: np.ndarray  # (g,) int64
    variant_labels: np.ndarray  # (g, m) int64: with each combination of protected values
    discriminatory: np.ndarray  # (g,) bool
    partners: np.ndarray  # (g, p) int32: protected values of the sample that each one is compared with

    def take(self, rows: np.ndarray) -> "Walks":
        """Return some of the walks."""
        return Walks(*(column[rows] for column in vars(self).values()))

    def put(self, rows: np.ndarray, other: "Walks") -> None:
        """Let some of the walks stand where others do."""
        for name, column in vars(self).items():
            column[rows] = getattr(other, name)


class Explorer:
    """Checks samples and notes the visits; a walk's partner may be fixed."""

    def __init__(self, subject: Subject, fixed_partner: bool, visits: Visits) -> None:
        self.subject = subject
        self.fixed_partner = fixed_partner
        self.visits = visits

    def visit(
        self, samples: np.ndarray, partners: np.ndarray, seeds: np.ndarray, queries: np.ndarray | int
    ) -> Walks:
        """Check samples and note them; `queries` were put to the model before, other than for the check."""
        found = check(self.subject, samples)
        discriminatory = found.discriminatory
        self.visits.add(samples, discriminatory, seeds, queries + found.queries)
        if not self.fixed_partner:
            values = self.subject.protected.values[found.partners]
            partners = np.where(discriminatory[:, None], values, partners)
        return Walks(samples, found.labels, found.variant_labels, discriminatory, partners)


def descend(explorer: Explorer, walks: Walks, seeds: np.ndarray) -> Walks:
    """Return where minimisation ends (the authors' published code runs it after each hop).

    The code truncates real values towards zero, so that a finite difference of 1e-8 sees the same sample, and
    no gradient; but the one from c < 0 sees c + 1. Such neighbours are visited, too. Where one is
    discriminatory and the sample is not, or the reverse, a line search follows: its first point moves all
    such attributes together by a distance of one, away from samples that are not discriminatory. Nearer
    points truncate to the same. Further iterations, after an improvement, are left out.
    """
    differs = _visit_neighbours(explorer, walks, seeds)
    rows = np.flatnonzero(differs.any(axis=1))
    if not len(rows):
        return walks
    start, differs = walks.take(rows), differs[rows]
    samples = start.samples + np.where(start.discriminatory[:, None], -1, 1) * differs
    # Less than one unit away from zero truncates to the sample itself.
    stays = start.discriminatory & (differs.sum(axis=1) > 1)
    samples = np.where(stays[:, None], start.samples, samples).astype(np.int32)
    found = explorer.visit(samples, start.partners, seeds[rows], 0)
    _visit_neighbours(explorer, found, seeds[rows])
    better = found.discriminatory & ~start.discriminatory
    walks.put(rows[better], found.take(better))
    return walks


def _visit_neighbours(explorer: Explorer, walks: Walks, seeds: np.ndarray) -> np.ndarray:
    """Visit the neighbours one unit above negative values; return which ones differ, (g, d) bool."""
    rows, columns = np.nonzero(walks.samples < 0)
    differs = np.zeros(walks.samples.shape, bool)
    if len(rows):
        samples = walks.samples[rows]
        samples[np.arange(len(rows)), columns] += 1
        found = explorer.visit(samples, walks.partners[rows], seeds[rows], 0)
        differs[rows, columns] = found.discriminatory != walks.discriminatory[rows]
    return differs


def walk(subject: Subject, finds: Finds, draws: np.ndarray, settings: Settings) -> Trail:
    """Walk around discriminatory samples (Algorithm 7).

    The draws, (g, hops, 3) uniform, say which attribute moves, which way, and whether a failure is kept. The
    trail has the starts and all samples tried, walk by walk.
    """
    domain, others = subject.domain, subject.free
    visits = Visits(domain.n_attributes)
    if not len(finds.seeds):
        return visits.trail()
    explorer = Explorer(subject, settings.fixed_partner, visits)

    def arrive(samples: np.ndarray, partners: np.ndarray, queries: np.ndarray | int) -> Walks:
        walks = explorer.visit(samples, partners, finds.seeds, queries)
        return descend(explorer, walks, finds.seeds) if settings.negative_neighbours else walks

    at = arrive(finds.samples.copy(), finds.partners.copy(), 0)
    shares = np.empty((len(finds.seeds), len(others)))
    moved = np.ones(len(finds.seeds), bool)
    for way, side, chance in np.moveaxis(draws, 0, 2):
        asked = np.zeros(len(moved), np.int64)
        weights, asked[moved] = attribute_weights(subject, at.take(moved), settings)
        shares[moved] = weights.cumsum(axis=1)
        steps = two_phases.steps(subject, shares, way, side)
        tried = arrive(domain.clip(at.samples + steps), at.partners, asked)
        moved = tried.discriminatory | ~at.discriminatory | (chance < settings.acceptance)
        at.put(moved, tried.take(moved))
    return visits.trail()


def attribute_weights(subject: Subject, walks: Walks, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights of the attributes `Subject.free`, (g, k) (Algorithm 8, before the division).

    And how many samples the model was asked about for each walk, (g,) int64.
    """
    pair = walks.samples.copy()
    pair[:, subject.protected.columns] = walks.partners
    labels, queries = walks.labels, np.full(len(pair), 2 * subject.model.n_gradient_queries)
    if settings.own_labels:
        labels, is_asked = _partner_labels(subject, walks, pair)
        queries += is_asked
    g, h = pair_gradients(
        subject.model, walks.samples, pair, walks.labels, labels, settings.subnormal_is_zero
    )
    saliency = (np.abs(g).astype(float) + np.abs(h))[:, subject.free]
    zero = saliency == 0
    with np.errstate(divide="ignore"):  # where one is zero, the limit: those share all probability
        return np.where(zero.any(axis=1, keepdims=True), zero, 1 / saliency), queries


def _partner_labels(subject: Subject, walks: Walks, pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of partners, (g,) int64, and which ones no check has told, (g,) bool.

    A partner is unknown whose protected values are outside the domain, where a global phase has found it.
    """
    places = subject.protected.positions(pair)
    labels, unknown = walks.variant_labels[np.arange(len(pair)), places], places < 0
    if unknown.any():
        labels[unknown] = subject.model.labels(pair[unknown])
    return labels, unknown


_ALGORITHM = Algorithm("adf", find_globally, walk)

TESTER = Tester(
    name="adf",
    title="ADF",
    modes={names.PUBLISHED: PUBLISHED, names.PAPER: PAPER},
    search=_ALGORITHM.search,
    search_around=_ALGORITHM.search_around,
    with_bounds=lambda settings, bounds: replace(settings, enumerated=bounds),
    is_proposed=True,
)
