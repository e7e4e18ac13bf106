"""ADF: gradients lead seeds to discriminatory samples; walks around these find more (Zhang et al. 2021)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import adf_global, adf_local
from biaslab.fairness_testing.testers.trails import Phases


@dataclass(frozen=True)
class Settings:
    """What the authors' published code and the paper do differently; the defaults are `PAPER`.

    Switch one at a time with `dataclasses.replace`. Not switches: gradients are those of the predicted label,
    since the ground truth that the paper names is unknown as soon as a sample is perturbed; a sample is
    checked after each of the `max_iter` steps, too (``for iter from 0 to max_iter``, both ends included, as
    the code does). The code perturbs a discriminatory sample further if an earlier seed led to the same one;
    here it stops, as Algorithm 1 does, so that seeds do not depend on each other.

    Attributes
    ----------
    max_iter : int
        Most steps from a seed in the global phase; 10 (Table II).
    clip_seeds : bool
        Move seeds into the domain first, so that every reported sample is inside. The code (False) checks
        them as they are in the data, where some are outside; the first step moves them inside.
    enumerated : (int, int), optional
        Least and greatest protected value that the global phase tries, instead of the domain's. The code
        takes census' bounds for the column for every data set, which differ for the age of credit alone: (0,
        39), not (1, 8).
    signs_twice : bool
        The code (True) multiplies the direction of a global step once more by the sign of the sample's own
        gradient: a sample whose gradient is zero never moves, neither in its partner's direction nor at
        random, and one whose partner's gradient is zero goes up in every attribute. False: such a sample
        takes the other's signs; where no attribute is left, a random one goes up or down.
    value_below_domain : bool
        A sample whose output is the same for all protected values has no farthest partner (Equation 3). The
        code (True) gives it one with protected value -1; False takes the first other one.
    subnormal_is_zero : bool
        TensorFlow, which the code uses, rounds float32 numbers below 1.2e-38 to zero (True), so that more
        gradients of a network that is very sure are zero.
    own_labels : bool
        Gradients of a discriminatory pair in the local phase: each of its own label, as in the code (True),
        or both of the sample's label (False): y is the same in lines 6 and 7 of Algorithm 7.
    acceptance : float
        Probability that the local phase goes on from a sample that is not discriminatory, when the hop began
        at one that is. 1: always, as line 10 of Algorithm 7 says. exp(-1): the code's basin hopping, by
        Metropolis' rule. 0: never, so that each hop begins at a discriminatory pair, as line 5 demands and
        the text says ("given a discriminatory sample pair"). Lines 5 and 10 contradict each other; `PAPER`
        follows line 5, since without a pair there is no x' to take a gradient of. This reading finds the most
        discriminatory samples by far.
    fixed_partner : bool
        The code (True) keeps the protected values of the partner found in the global phase during the whole
        walk. False: each hop takes the first that give another label (Algorithm 7, lines 4 and 5); the last
        ones where there are none.
    negative_neighbours : bool
        The code's minimiser visits further samples around negative values (True); see `adf_descent`. Such
        samples may leave the domain by one unit.
    """

    max_iter: int = 10
    clip_seeds: bool = True
    enumerated: tuple[int, int] | None = None
    signs_twice: bool = False
    value_below_domain: bool = False
    subnormal_is_zero: bool = False
    own_labels: bool = False
    acceptance: float = 0.0
    fixed_partner: bool = False
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


def search(
    model: Model,
    seeds: np.ndarray,
    domain: Domain,
    protected: Protected,
    *,
    hops: int,
    seed: int,
    settings: Settings,
    first: int = 0,
) -> Phases:
    """Search for discriminatory samples from seeds.

    Each seed has its own random streams: however seeds are cut into calls, the trails are the same, one after
    the other.

    Parameters
    ----------
    model : Model
    seeds : (n, d) int32
        Where the global phase starts, in order.
    domain : Domain
    protected : Protected
        What may vary within a pair.
    hops : int
        Steps of the local phase from each discriminatory sample of the global one; 1000 in the paper.
    seed : int
        Of the random streams.
    settings : Settings
    first : int
        The number of the first seed, when a call gets only some of the seeds.

    Returns
    -------
    Phases
        Samples checked, seed by seed. The first ones of each local walk are the global phase's find, so that
        the local trail holds all that the paper counts (#GDiff leaves out samples that led to a find).
        Queries count the samples whose labels or gradients were needed: the protected values of each check,
        then two for each pair of gradients.

    Raises
    ------
    InputError
        When samples do not fit the domain, no attribute is left to perturb, `hops` is negative, or several
        protected attributes shall be enumerated.
    """
    if seeds.ndim != 2 or seeds.shape[1] != domain.n_attributes:
        raise InputError(f"the domain has {domain.n_attributes} attributes, the seeds {seeds.shape[-1]}")
    if not len(protected.others(domain.n_attributes)):
        raise InputError("all attributes are protected, so that no sample can be perturbed; leave out one")
    if hops < 0:
        raise InputError(f"cannot walk {hops} hops; take 0 or more")
    draws = _draws(seed, range(first, first + len(seeds)), "global", (settings.max_iter, 2))
    global_, finds = adf_global.generate(model, seeds, domain, protected, draws, settings)
    draws = _draws(seed, (first + finds.seeds).tolist(), "local", (hops, 3))
    local = adf_local.generate(model, finds, domain, protected, draws, settings)
    return Phases(*(replace(trail, seed=trail.seed + np.int32(first)) for trail in (global_, local)))


def _draws(seed: int, numbers: Sequence[int], phase: str, shape: tuple[int, int]) -> np.ndarray:
    """Return uniform numbers of the given shape for each seed; more steps or hops only add to them."""
    draws = np.empty((len(numbers), *shape))
    for row, number in zip(draws, numbers, strict=True):
        row[:] = stream(seed, "adf", number, phase).random(shape)
    return draws
