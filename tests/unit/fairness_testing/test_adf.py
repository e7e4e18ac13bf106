from dataclasses import replace

import naive
import numpy as np
import pytest
from fairness_data import blind, random_network, small_domain

from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing import adf, trails
from biaslab.fairness_testing.domain import Domain, Protected
from biaslab.fairness_testing.networks import Network

SEED, HOPS = 3, 40
ALWAYS, METROPOLIS = 1.0, float(np.exp(-1))
VARIANTS = {
    "published": replace(adf.PUBLISHED, negative_neighbours=False),
    "paper": adf.PAPER,
    "always": replace(adf.PAPER, acceptance=ALWAYS),
    "metropolis": replace(adf.PAPER, acceptance=METROPOLIS),
    "own labels": replace(adf.PAPER, own_labels=True, acceptance=METROPOLIS),
    "fixed": replace(adf.PAPER, fixed_partner=True, acceptance=METROPOLIS),
    "raw seeds": replace(adf.PAPER, clip_seeds=False),
    "repaired signs": replace(adf.PUBLISHED, signs_twice=False, negative_neighbours=False),
    "one step": replace(adf.PAPER, max_iter=1),
}


def draw_seeds(domain, n, seed):
    """Samples, some with values outside the domain as in the census data."""
    X = domain.draw(n, np.random.default_rng(seed))
    X[::4, 0] = 100
    return X


def saturated_network(seed):
    """Gradients are zero at many samples: the units die, or the softmax saturates."""
    network = random_network(seed)
    return Network(
        [network.weights[0] * 4, *network.weights[1:]], [network.biases[0] - 9, *network.biases[1:]]
    )


def search(network, seeds, columns, settings, domain=None, **arguments):
    domain = domain or small_domain()
    protected = Protected.of(domain, columns)
    return adf.search(
        network, seeds, domain, protected, **{"hops": HOPS, "seed": SEED, **arguments}, settings=settings
    )


def rows(trail):
    return [(x, f) for x, f in zip(trail.samples.tolist(), trail.discriminatory.tolist(), strict=True)]


def assert_equal(a, b):
    for one, other in ((a.global_, b.global_), (a.local, b.local)):
        for name in ("samples", "discriminatory", "seed", "queries"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
            assert getattr(one, name).dtype == getattr(other, name).dtype


@pytest.mark.parametrize(
    "network", [random_network(21), random_network(22, scale=3.0), saturated_network(23)]
)
@pytest.mark.parametrize("columns", [(1,), (4,), (1, 4)])
@pytest.mark.parametrize("name", VARIANTS)
def test_trails_equal_one_sample_at_a_time(network, columns, name):
    settings, domain = VARIANTS[name], small_domain()
    seeds = draw_seeds(domain, 12, 24)
    phases = search(network, seeds, columns, settings)
    expected_global, expected_local = [], []
    for i, x in enumerate(seeds):
        draws = stream(SEED, "adf", i, "global").random((settings.max_iter, 2))
        checked, is_found, partner = naive.adf_global(network, x, domain, columns, draws, settings)
        expected_global += [(v, False) for v in checked[:-1]] + [(checked[-1], is_found)]
        if is_found:
            draws = stream(SEED, "adf", i, "local").random((HOPS, 3))
            expected_local += naive.adf_local(network, checked[-1], partner, domain, columns, draws, settings)
    assert rows(phases.global_) == expected_global
    assert rows(phases.local) == expected_local


def test_switches_are_exercised():
    """The comparison above meets zero gradients, partners below the domain, rejected hops and seeds not found."""
    domain, network = small_domain(), saturated_network(23)
    X = domain.clip(draw_seeds(domain, 12, 24))
    gradients = network.input_gradients(X, network.labels(X))
    n_zero = (~gradients.any(axis=1)).sum()
    assert 0 < n_zero < len(X)
    assert len(set(np.unique(search(network, X, (1,), adf.PAPER).local.seed))) in range(1, len(X))
