"""Small domains, random networks and tasks for the tests of fairness testing."""

import itertools

import numpy as np

from biaslab.classifiers.domain import Domain, Protected
from biaslab.classifiers.networks import Network
from biaslab.fairness_testing.cases import Case
from biaslab.fairness_testing.testers.contract import Subject, Task

SCHEMA = """
protected: [group, sex]
attributes:
  - {name: income, kind: integer, low: 0, high: 9}
  - {name: group, kind: integer, low: 0, high: 2}
  - {name: age, kind: integer, low: 1, high: 9}
  - {name: balance, kind: integer, low: -4, high: 12}
  - {name: sex, kind: category, values: [male, female]}
label: {column: label, classes: ["no", "yes"]}
"""
"""What stands in the file of a schema of the small domain."""


def small_domain():
    """Five attributes, of which tests protect the second (three values) or the last (two)."""
    names = ("income", "group", "age", "balance", "sex")
    return Domain(names, np.array([0, 0, 1, -4, 0], np.int32), np.array([9, 2, 9, 12, 1], np.int32))


def random_network(seed, sizes=(5, 8, 6, 2), scale=1.0):
    """A network whose labels are not all equal on the small domain."""
    rng = np.random.default_rng(seed)
    shapes = itertools.pairwise(sizes)
    weights = [rng.normal(size=shape) * scale / np.sqrt(shape[0]) for shape in shapes]
    biases = [rng.normal(size=n) * 0.3 for n in sizes[1:]]
    network = Network(weights, biases)
    z = network.logits(small_domain().draw(2000, rng)) if sizes[0] == 5 else None
    if z is not None:
        biases[-1] = biases[-1] - np.median(z - z[:, :1], axis=0)
    return Network(weights, biases)


def blind(network, columns):
    """The same network, which does not look at some attributes."""
    first = network.weights[0].copy()
    first[list(columns)] = 0
    return Network([first, *network.weights[1:]], network.biases)


def make_subject(model, columns, domain=None):
    """A model under test on the small domain, or another one, with some columns protected."""
    domain = domain or small_domain()
    return Subject(model, domain, Protected.of(domain, columns))


def make_case(columns=(1,), name="group", network=None, n_seeds=25):
    """A network with 200 rows of data, of which the first are seeds."""
    subject = make_subject(network or random_network(2), columns)
    X = subject.domain.draw(200, np.random.default_rng(1))
    return Case("made", name, subject, X, X[:n_seeds])


def make_task(subject, seeds=None, **changes):
    """A task without any data, hops or samples but for those that are given."""
    seeds = np.empty((0, subject.domain.n_attributes), np.int32) if seeds is None else seeds
    task = {"data": seeds[:0], "seeds": seeds, "n_seeds": len(seeds), "seed": 1}
    return Task(subject, **task | {"hops": 0, "n_explored": 0, "n_drawn": 0} | changes)


def rows(trail):
    """The samples of a trail, each with whether it is discriminatory."""
    return list(zip(trail.samples.tolist(), trail.discriminatory.tolist(), strict=True))
