"""AEQUITAS, fully directed: uniform samples, then walks with a shared distribution over the attributes.

Udeshi et al. 2018, as run by the authors of ADF (Zhang et al. 2021, Section 4.3 and Table IV, and their
published code). A hop moves one attribute, drawn from a distribution that all walks share, by one unit. Its
direction is drawn from a distribution of that attribute, or evenly if the value is at a bound. A hop to a
discriminatory sample raises the probabilities of the attribute and the direction by 0.001 for all later hops
of all walks; any other hop lowers them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import _aequitas_kernels as kernels
from biaslab.fairness_testing.testers.contract import Phases, Subject, Task, Tester, Trail, check, visit

_START = kernels.Stand(visit=0, here=0, energy=True, success=True)


@dataclass(frozen=True)
class Settings:
    """Differences between the published code and the paper.

    The check in the code returns the first protected value with another label, or else the sample's own
    value. `falsy_energy` uses that value as a truth value: whether it differs from 0.
    """

    # Whether a walk continues from the new sample by the Metropolis rule of ``scipy.optimize.basinhopping``
    # at temperature 1: always if the energy is not higher, otherwise with probability 1/e. The paper's walk
    # continues from every new sample.
    metropolis: bool
    # Whether the energy in that rule is 1 if the check returns 0, and otherwise 0, as in the code. The
    # intended energy is 0 for a discriminatory sample, otherwise 1.
    falsy_energy: bool
    # Whether protected attributes are also perturbed, as in the code. In the paper, the distribution covers
    # only attributes that are not protected.
    perturb_protected: bool
    # Whether a visit to a sample with negative values also visits the sample with the next greater value, for
    # each such value. The minimiser in basinhopping takes finite differences: it repeatedly checks the sample
    # with one value raised by 1e-8, which truncates to the same sample except from a negative value. Repeated
    # checks of the same sample change nothing and are omitted here. (If the energies of such neighbours
    # differ, the minimiser would follow a slope that does not exist; this is also omitted.)
    negative_neighbours: bool


PUBLISHED = Settings(metropolis=True, falsy_energy=True, perturb_protected=True, negative_neighbours=True)
PAPER = Settings(metropolis=False, falsy_energy=False, perturb_protected=False, negative_neighbours=False)


def search(task: Task, settings: Settings) -> Iterator[Phases]:
    """Search among uniform samples, which number the seeds, and then around the finds.

    Walks learn from each other, so that the search is one part. The authors' code starts no walk from a find
    that an earlier walk visited, which is rare for uniform samples; here walks start from all finds.
    """
    X = task.subject.domain.draw(task.n_seeds, stream(task.seed, "aequitas", "global"))
    global_ = visit(task.subject, X)
    numbers = np.flatnonzero(global_.discriminatory).astype(np.int32)
    local = search_around(replace(task, seeds=X[numbers]), settings)
    yield Phases(global_, replace(local, seed=numbers[local.seed]))


def search_around(task: Task, settings: Settings) -> Trail:
    """Walk from given seeds in sequence; a walk passes its learned distributions on to the next walk.

    A value outside the domain is moved inside when its attribute is perturbed.
    """
    subject, n_attributes = task.subject, task.subject.domain.n_attributes
    domain, protected = subject.domain, subject.protected
    probabilities, directions = np.ones(n_attributes), np.full(n_attributes, 0.5)
    if not settings.perturb_protected:
        probabilities[list(protected.columns)] = 0
    if not probabilities.any():
        raise InputError("all attributes are protected; leave at least one attribute unprotected")
    probabilities /= probabilities.sum()
    switches = settings.metropolis, settings.falsy_energy
    rules = kernels.Rules(domain.low, domain.high, np.array(protected.columns), protected.values, *switches)
    trails = [Trail.empty(n_attributes)]
    for number, start in enumerate(task.seeds):
        draws = stream(task.seed, "aequitas", "local", number).random((task.hops, 4))
        samples = np.empty((task.hops + 1, n_attributes), np.int32)
        samples[0] = start
        walk = kernels.Walk(samples, np.empty(len(samples), bool), draws, probabilities, directions)
        model, stand = subject.model, _START
        if isinstance(model, Network):
            kernels.walk_network(walk, stand, rules, model.n_classes, *model.packed)
            stand = stand._replace(visit=len(samples))
        while stand.visit < len(samples):  # one visit at a time, for a model that is not compiled
            end = stand.visit + 1
            kernels.guess_visits(walk, stand, end, rules)
            checked = check(subject, walk.samples[stand.visit : end])
            labels = np.concatenate([checked.variant_labels, checked.labels[:, None]], axis=1)
            stand = kernels.take_visits(walk, stand, end, labels, rules)
        trails.append(_trail(subject, walk, number, settings))
    return Trail.join(trails)


TESTER = Tester(
    name="aequitas",
    title="AEQUITAS",
    published=PUBLISHED,
    paper=PAPER,
    search=search,
    search_around=search_around,
    draws_seeds=True,
)


def _trail(subject: Subject, walk: kernels.Walk, number: int, settings: Settings) -> Trail:
    """Return the trail of a walk, each visit followed by the visits to its neighbours."""
    protected = subject.protected
    visits, columns = np.nonzero((walk.samples < 0) & settings.negative_neighbours)
    neighbours = walk.samples[visits]
    neighbours[np.arange(len(visits)), columns] += 1
    order = np.argsort(np.concatenate([np.arange(len(walk.samples)), visits]), kind="stable")
    samples = np.concatenate([walk.samples, neighbours])[order]
    is_discriminatory = check(subject, neighbours).discriminatory
    discriminatory = np.concatenate([walk.discriminatory, is_discriminatory])[order]
    queries = len(protected.values) + (protected.positions(samples) < 0)
    return Trail(samples, discriminatory, np.full(len(order), number, np.int32), queries)
