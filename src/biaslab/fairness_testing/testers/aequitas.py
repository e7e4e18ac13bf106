"""AEQUITAS, fully directed: uniform samples, then walks that share one distribution over the attributes.

Udeshi et al. 2018, as the authors of ADF run it (Zhang et al. 2021, Section 4.3 and Table IV, and their
published code). A hop moves one attribute, drawn from a distribution that all walks share, by one unit. Its
direction is drawn from a distribution of that attribute, or evenly where the value is at a bound. A hop to a
discriminatory sample makes the attribute, and the direction, likelier by 0.001 for every later hop of any
walk; another hop makes them less likely.
"""

from dataclasses import dataclass, replace

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.models import Model
from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import _aequitas_kernels as kernels
from biaslab.fairness_testing.testers import random_search
from biaslab.fairness_testing.testers.discrimination import check
from biaslab.fairness_testing.testers.trails import Phases, Trail, join


@dataclass(frozen=True)
class Settings:
    """Where the published code and the paper differ.

    The check of the code returns the first protected value that gets another label, or the sample's own where
    none does. Taken for a truth value, as two of the switches do, it says whether that value is other than 0.

    Attributes
    ----------
    metropolis : bool
        Whether a walk goes on from the new sample by the Metropolis rule of ``scipy.optimize.basinhopping``
        at temperature 1: always to one of no higher energy, otherwise with probability 1/e. The paper's walk
        goes on from every new sample.
    falsy_energy : bool
        Whether the energy in that rule is 1 where the check returns 0, and 0 elsewhere, as in the code. What
        was meant: 0 for a discriminatory sample, otherwise 1.
    falsy_success : bool
        Whether a hop makes its attribute and direction likelier where the check does not return 0, instead of
        where the sample is discriminatory. Neither the code nor the paper says so; see `INFERRED`.
    perturb_protected : bool
        Whether the protected attributes are perturbed like the others, as in the code. In the paper, the
        distribution is one over the attributes that are not protected.
    negative_neighbours : bool
        Whether a visit to a sample with a negative value is one to the sample with the next greater value,
        too, for each such value. The minimiser inside basinhopping takes finite differences: it checks the
        sample again and again with one value raised by 1e-8, which truncates to the same sample, except from
        a negative value. The checks of the same sample change nothing and are not repeated here. (Should the
        energies of such neighbours differ, the minimiser would move along a slope that is not there; this is
        left out.)
    """

    metropolis: bool
    falsy_energy: bool
    falsy_success: bool
    perturb_protected: bool
    negative_neighbours: bool


PUBLISHED = Settings(
    metropolis=True, falsy_energy=True, falsy_success=False, perturb_protected=True, negative_neighbours=True
)
PAPER = Settings(
    metropolis=False,
    falsy_energy=False,
    falsy_success=False,
    perturb_protected=False,
    negative_neighbours=False,
)
INFERRED = replace(PUBLISHED, falsy_success=True)
"""The published code with its mistake about the energy made about success, too: nearer to Table IV."""


def search(
    model: Model,
    domain: Domain,
    protected: Protected,
    *,
    n_global: int,
    hops: int,
    seed: int,
    settings: Settings,
) -> Phases:
    """Search for discriminatory samples: among uniform ones, then around those found.

    The code of the authors starts no walk from a find that an earlier walk has met. In a domain worth
    sampling, uniform samples hardly ever are; here all finds are walked from.

    Parameters
    ----------
    model : Model
        The classifier. The walks of a `Network` are compiled; others take one call a hop.
    domain : Domain
        Where the samples come from, and which the walks do not leave.
    protected : Protected
        What may vary within a pair.
    n_global : int
        Uniform samples, at least one.
    hops : int
        Hops of each walk.
    seed : int
        Seed of the run.
    settings : Settings

    Returns
    -------
    Phases
        In both trails, seeds are numbered by the uniform samples.

    Raises
    ------
    InputError
        When `n_global` is below one, `hops` is negative, the classifier takes other samples than the domain
        has, or no attribute is left to perturb.
    """
    X = random_search.draw(model, domain, n_global, stream(seed, "aequitas", "global"))
    global_ = random_search.visit(model, X, protected)
    numbers = np.flatnonzero(global_.discriminatory).astype(np.int32)
    local = local_search(model, X[numbers], domain, protected, hops=hops, seed=seed, settings=settings)
    return Phases(global_, replace(local, seed=numbers[local.seed]))


def local_search(
    model: Model,
    seeds: np.ndarray,
    domain: Domain,
    protected: Protected,
    *,
    hops: int,
    seed: int,
    settings: Settings,
) -> Trail:
    """Walk from given seeds, one after the other; what a walk has learned is passed on to the next.

    Parameters
    ----------
    model : Model
    seeds : (n, d) int32
        Where the walks start. A value outside the domain is moved into it when its attribute is perturbed.
    domain : Domain
    protected : Protected
    hops : int
    seed : int
        Seed of the run; each walk has a random stream of its own.
    settings : Settings

    Returns
    -------
    Trail
        The starts and all samples tried, walk by walk; seeds are numbered from 0 on.

    Raises
    ------
    InputError
        When `hops` is negative or no attribute is left to perturb.
    """
    if hops < 0:
        raise InputError(f"walks of {hops} hops: give a number that is not negative")
    learned = _nothing_learned(domain, protected, settings)
    walk = _walk_network if isinstance(model, Network) else _walk
    trails = [_no_visits(domain)]
    for number, start in enumerate(seeds):
        draws = stream(seed, "aequitas", "local", number).random((hops, 4))
        samples, discriminatory = walk(model, start, domain, protected, draws, learned, settings)
        trails.append(_trail(model, samples, discriminatory, number, protected, settings))
    return join(trails)


@dataclass(frozen=True)
class _Learned:
    """What walks have learned; every hop changes it in place.

    Attributes
    ----------
    probabilities : (d,) float64
        How likely each attribute is perturbed.
    directions : (d,) float64
        How likely it is lowered then.
    """

    probabilities: np.ndarray
    directions: np.ndarray


def _nothing_learned(domain: Domain, protected: Protected, settings: Settings) -> _Learned:
    allowed = np.ones(domain.n_attributes)
    if not settings.perturb_protected:
        allowed[list(protected.columns)] = 0
    if not allowed.any():
        raise InputError("all attributes are protected, so that none is left to perturb; protect fewer")
    return _Learned(allowed / allowed.sum(), np.full(domain.n_attributes, 0.5))


def _walk_network(
    network: Network,
    start: np.ndarray,
    domain: Domain,
    protected: Protected,
    draws: np.ndarray,
    learned: _Learned,
    settings: Settings,
) -> tuple[np.ndarray, np.ndarray]:
    """Do what `_walk` does in one compiled call."""
    samples, discriminatory = _places(start, len(draws))
    kernels.walk_network(
        samples,
        discriminatory,
        draws,
        learned.probabilities,
        learned.directions,
        domain.low,
        domain.high,
        np.array(protected.columns),
        protected.values,
        settings.metropolis,
        settings.falsy_energy,
        settings.falsy_success,
        network.n_classes,
        *network.packed,
    )
    return samples, discriminatory


def _walk(
    model: Model,
    start: np.ndarray,
    domain: Domain,
    protected: Protected,
    draws: np.ndarray,
    learned: _Learned,
    settings: Settings,
) -> tuple[np.ndarray, np.ndarray]:
    """Walk from one sample with any model.

    Parameters
    ----------
    model : Model
    start : (d,) int32
    domain : Domain
    protected : Protected
    draws : (hops, 4) float64
        Uniform numbers.
    learned : _Learned
    settings : Settings

    Returns
    -------
    samples : (hops + 1, d) int32
        The start and what each hop tried.
    discriminatory : (hops + 1,) bool
    """
    samples, discriminatory = _places(start, len(draws))
    columns = np.array(protected.columns)
    both = (learned.probabilities, learned.directions)

    def examine(x: np.ndarray) -> tuple[bool, bool]:
        """Return whether a sample is discriminatory and whether the check returns 0."""
        labels = model.labels(np.concatenate([protected.variants(x[None])[0], x[None]]))
        partner = kernels.first_partner(labels)
        return partner >= 0, kernels.is_falsy(x, partner, columns, protected.values)

    here = 0
    discriminatory[0], falsy = examine(samples[0])
    here_energy = falsy if settings.falsy_energy else not discriminatory[0]
    for hop, u in enumerate(draws, start=1):
        x = samples[hop]
        x[:] = samples[here]
        attribute, direction = kernels.perturb(x, domain.low, domain.high, u, *both)
        discriminatory[hop], falsy = examine(x)
        success = not falsy if settings.falsy_success else discriminatory[hop]
        kernels.learn(attribute, direction, success, *both)
        energy = falsy if settings.falsy_energy else not discriminatory[hop]
        if not settings.metropolis or kernels.accepts(energy, here_energy, u[3]):
            here, here_energy = hop, energy
    return samples, discriminatory


def _places(start: np.ndarray, hops: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the visits of a walk go: samples, the first one filled, and what checks say of them."""
    samples = np.empty((hops + 1, len(start)), np.int32)
    samples[0] = start
    return samples, np.empty(hops + 1, bool)


def _trail(
    model: Model,
    samples: np.ndarray,
    discriminatory: np.ndarray,
    number: int,
    protected: Protected,
    settings: Settings,
) -> Trail:
    """Return the trail of one walk, each visit followed by those to its neighbours."""
    visits, columns = np.nonzero((samples < 0) & settings.negative_neighbours)
    neighbours = samples[visits]
    neighbours[np.arange(len(visits)), columns] += 1
    order = np.argsort(np.concatenate([np.arange(len(samples)), visits]), kind="stable")
    samples = np.concatenate([samples, neighbours])[order]
    found = check(model, neighbours, protected).discriminatory
    discriminatory = np.concatenate([discriminatory, found])[order]
    queries = len(protected.values) + (protected.positions(samples) < 0)
    return Trail(samples, discriminatory, np.full(len(order), number, np.int32), queries)


def _no_visits(domain: Domain) -> Trail:
    samples = np.empty((0, domain.n_attributes), np.int32)
    return Trail(samples, np.empty(0, bool), np.empty(0, np.int32), np.empty(0, np.int64))
