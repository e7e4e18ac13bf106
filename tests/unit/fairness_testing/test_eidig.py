"""EIDIG against a slow oracle, finite differences, and what its switches are said to do."""

import numpy as np
import pytest

from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import eidig
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.eidig import EIDIG_5, EIDIG_INF, Settings
from fairness_data import make_subject, make_task, random_network, small_domain
from naive import fairness_testing as naive

SEED, HOPS = 3, 40
VARIANTS = {
    "5, paper": EIDIG_5.settings("paper"),
    "5, published": EIDIG_5.settings("published"),
    "inf, paper": EIDIG_INF.settings("paper"),
    "renewed at once": Settings(1),
    "no momentum": Settings(2, decay=0.0),
}


def search(network, seeds, columns, settings, **arguments):
    task = make_task(make_subject(network, columns), seeds, **{"hops": HOPS, "seed": SEED, **arguments})
    return collect(EIDIG_5.search(task, settings))


def rows(trail):
    return list(zip(trail.samples.tolist(), trail.discriminatory.tolist(), strict=True))


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
    phases = search(network, seeds, columns, VARIANTS[name])
    global_, local = literal(network, seeds, columns, VARIANTS[name])
    assert rows(phases.global_) == global_
    assert rows(phases.local) == local
    assert len(phases.local)


def test_gradients_are_those_of_the_output():
    network = random_network(21)
    X = small_domain().draw(50, np.random.default_rng(1))
    labels = network.labels(X)
    found = eidig.output_gradients(network, X, labels, network.probabilities(X))

    def probability(x, label):
        layers = zip(network.weights[:-1], network.biases[:-1], strict=True)
        for w, b in layers:
            x = np.maximum(x @ w.astype(float) + b, 0)
        z = x @ network.weights[-1].astype(float) + network.biases[-1]
        z = np.exp(z - z.max())
        return z[label] / z.sum()

    h, close = 1e-6, 0
    for x, label, gradient in zip(X.astype(float), labels, found, strict=True):
        steps = h * np.eye(len(x))
        expected = [(probability(x + s, label) - probability(x - s, label)) / (2 * h) for s in steps]
        close += np.allclose(gradient, expected, rtol=1e-3, atol=1e-6)
    assert close == len(X)


def test_trails_do_not_depend_on_parts_or_threads():
    network, seeds = random_network(25), draw_seeds(20, 26)
    set_threads(1)
    whole = search(network, seeds, (1,), Settings(5))
    set_threads(2)
    for size in (1, 7, 20):
        part = search(network, seeds, (1,), Settings(5), part_seeds=size)
        assert rows(part.global_) == rows(whole.global_)
        assert rows(part.local) == rows(whole.local)
        assert np.array_equal(part.joined().queries, whole.joined().queries)
