"""EIDIG against a slow oracle, finite differences, and what its switches are said to do."""

from functools import partial

import numpy as np
import pytest

from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import eidig
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.eidig import Settings
from biaslab.fairness_testing.testers.registry import TESTERS
from fairness_data import make_subject, make_task, random_network, rows, small_domain
from naive import fairness_testing as naive
from naive.classifiers import cross_entropy
from naive.recurrent import slopes

SEED, HOPS = 3, 40
VARIANTS = {
    "5, paper": TESTERS["eidig-5"].settings("paper"),
    "5, published": TESTERS["eidig-5"].settings("published"),
    "inf, paper": TESTERS["eidig-inf"].settings("paper"),
    "renewed at once": Settings(1),
    "no momentum": Settings(2, decay=0.0),
}


def draw_seeds(n, seed):
    X = small_domain().draw(n, np.random.default_rng(seed))
    X[::4, 0] = 100  # outside, as in the census data
    return X


def literal(network, seeds, columns, settings):
    """Both trails by the oracle."""
    domain, global_, local = small_domain(), [], []
    for number, x in enumerate(seeds.tolist()):
        checked, is_found = naive.eidig_global(network, x, domain, columns, settings)
        global_ += [(v, False) for v in checked[:-1]] + [(checked[-1], is_found)]
        if is_found:
            draws = stream(SEED, "eidig", number, "local").random((HOPS, 3))
            local += naive.eidig_local(network, checked[-1], domain, columns, draws, settings)
    return global_, local


@pytest.mark.parametrize("network", [random_network(21), random_network(5, sizes=(5, 8, 6, 3))])
@pytest.mark.parametrize("columns", [(1,), (1, 4)])
@pytest.mark.parametrize("name", VARIANTS)
def test_trails_equal_one_sample_at_a_time(network, columns, name):
    seeds = draw_seeds(8, 24)
    task = make_task(make_subject(network, columns), seeds, hops=HOPS, seed=SEED)
    phases = collect(TESTERS["eidig-5"].search(task, VARIANTS[name]))
    global_, local = literal(network, seeds, columns, VARIANTS[name])
    assert rows(phases.global_) == global_
    assert rows(phases.local) == local
    assert len(phases.local)


def test_gradients_are_those_of_the_output():
    network = random_network(21)
    X = small_domain().draw(50, np.random.default_rng(1))
    labels = network.labels(X)
    found = eidig.output_gradients(network, X, labels, network.probabilities(X))
    for x, label, gradient in zip(X.astype(float), labels, found, strict=True):
        loss = partial(cross_entropy, network.weights, network.biases, x, label)
        expected = slopes(lambda loss=loss: np.exp(-loss()), x, step=1e-6)
        np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-6)
