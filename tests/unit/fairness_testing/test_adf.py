from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from biaslab.classifiers.domain import Domain
from biaslab.classifiers.networks import Network
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import adf
from biaslab.fairness_testing.testers.adf import MAX_ITER, PAPER, PUBLISHED
from biaslab.fairness_testing.testers.contract import collect
from fairness_data import blind, make_subject, make_task, random_network, rows, small_domain
from naive import fairness_testing as naive

SEED, HOPS = 3, 30
ALWAYS, METROPOLIS = 1.0, float(np.exp(-1))
VARIANTS = {
    "published": replace(PUBLISHED, negative_neighbours=False),
    "paper": PAPER,
    "always": replace(PAPER, acceptance=ALWAYS),
    "metropolis": replace(PAPER, acceptance=METROPOLIS),
    "own labels": replace(PAPER, own_labels=True, acceptance=METROPOLIS),
    "fixed": replace(PAPER, fixed_partner=True, acceptance=METROPOLIS),
    "subnormal": replace(PAPER, subnormal_is_zero=True),
    "raw seeds": replace(PAPER, clip_seeds=False),
    "repaired signs": replace(PUBLISHED, signs_twice=False, negative_neighbours=False),
}


def draw_seeds(domain, n, seed):
    """Samples, some with values outside the domain as in the census data."""
    X = domain.draw(n, np.random.default_rng(seed))
    X[::4, 0] = 100
    X[2::4, 1] = 7
    return X


def saturated_network(seed):
    """Gradients are zero at many samples: the units die, or the softmax saturates."""
    network = random_network(seed)
    return Network(
        [network.weights[0] * 4, *network.weights[1:]], [network.biases[0] - 9, *network.biases[1:]]
    )


def search(network, seeds, columns, settings, domain=None, **arguments):
    subject = make_subject(network, columns, domain)
    task = make_task(subject, seeds, **{"hops": HOPS, "seed": SEED, **arguments})
    return collect(adf.TESTER.search(task, settings))


def wrapped(network, input_gradients):
    """Return the network with other gradients."""
    names = ("probabilities", "labels", "answers")
    methods = {name: getattr(network, name) for name in names}
    return SimpleNamespace(**methods, n_gradient_queries=1, input_gradients=input_gradients)


def literal_start(network, x, number, domain, columns, settings):
    """The oracle's global phase from one seed."""
    draws = stream(SEED, "adf", number, "global").random((MAX_ITER, 2))
    return naive.adf_global(network, x, domain, columns, draws, settings)


def literal(network, seeds, columns, settings):
    """Both trails by the oracle."""
    domain, global_, local = small_domain(), [], []
    for i, x in enumerate(seeds):
        checked, is_found, partner = literal_start(network, x, i, domain, columns, settings)
        global_ += [(v, False) for v in checked[:-1]] + [(checked[-1], is_found)]
        if is_found:
            local += naive.adf_local(
                network, checked[-1], partner, domain, columns, local_draws(i, HOPS), settings
            )
    return global_, local


def local_draws(number, hops):
    return stream(SEED, "adf", number, "local").random((hops, 3))


@pytest.mark.parametrize("network", [random_network(22, scale=12.0), saturated_network(23)])
@pytest.mark.parametrize("columns", [(1,), (1, 4)])
@pytest.mark.parametrize("name", VARIANTS)
def test_trails_equal_one_sample_at_a_time(network, columns, name):
    seeds = draw_seeds(small_domain(), 8, 24)
    phases = search(network, seeds, columns, VARIANTS[name])
    assert (rows(phases.global_), rows(phases.local)) == literal(network, seeds, columns, VARIANTS[name])


def test_zero_gradients_are_met_above():
    domain, network = small_domain(), saturated_network(23)
    X = domain.clip(draw_seeds(domain, 8, 24))
    gradients = network.input_gradients(X, network.labels(X))
    assert 0 < (~gradients.any(axis=1)).sum() < len(X)


def wide_domain():
    """Three attributes with negative values among five."""
    names = ("balance", "group", "age", "days", "score")
    return Domain(names, np.array([-9, 0, 1, -1, -2], np.int32), np.array([9, 2, 9, 9, 9], np.int32))


@pytest.mark.parametrize("domain", [small_domain(), wide_domain()])
@pytest.mark.parametrize("seed", [31, 32])
def test_published_walks_equal_basin_hopping_by_scipy(domain, seed):
    network = random_network(seed)
    seeds = domain.draw(6, np.random.default_rng(seed))
    hops = 25
    phases = search(network, seeds, (1,), PUBLISHED, domain, hops=hops)
    for i in np.unique(phases.local.seed):
        checked, _, partner = literal_start(network, seeds[i], i, domain, (1,), PUBLISHED)
        asked = naive.adf_basinhopping(
            network, checked[-1], partner, domain, (1,), local_draws(i, hops), PUBLISHED
        )
        mine = phases.local.seed == i
        samples, found = phases.local.samples[mine].tolist(), phases.local.discriminatory[mine].tolist()
        visited = {(tuple(x), f) for x, f in zip(samples, found, strict=True)}
        asked = {(tuple(x), f) for x, f in asked}
        # With several negative attributes, the minimiser's later iterations ask for a few more samples.
        assert visited == asked if (domain.low < 0).sum() == 1 else visited <= asked


def test_wrongly_enumerated_values_find_pairs_outside_the_domain():
    """The code tries the bounds of census for every data set."""
    network, seeds = random_network(25), small_domain().draw(20, np.random.default_rng(35))
    settings = replace(VARIANTS["published"], enumerated=(0, 3))
    wide, narrow = (search(network, seeds, (1,), s) for s in (settings, VARIANTS["published"]))
    assert (rows(wide.global_), rows(wide.local)) == literal(network, seeds, (1,), settings)
    assert wide.global_.discriminatory.sum() > narrow.global_.discriminatory.sum()


def test_subnormal_gradients_are_zero_for_the_code_alone():
    network, seeds = random_network(25), small_domain().draw(30, np.random.default_rng(39))

    def input_gradients(X, labels):
        return network.input_gradients(X, labels).astype(float) * 2.0**-135

    tiny = wrapped(network, input_gradients)
    normal = search(network, seeds, (1,), PAPER, hops=0).global_
    assert np.array_equal(search(tiny, seeds, (1,), PAPER, hops=0).global_.samples, normal.samples)
    stuck = search(tiny, seeds, (1,), PUBLISHED, hops=0).global_
    for seed in range(len(seeds)):
        assert (stuck.samples[stuck.seed == seed] == seeds[seed]).all()


def test_partner_below_the_domain_only_where_all_outputs_coincide():
    """A network blind to the group: the code compares with group -1, which it cannot see either."""
    seeds = small_domain().draw(10, np.random.default_rng(37))
    network = blind(random_network(38), (1,))
    for below, expected in ((True, -1), (False, 0)):
        seen = []

        def input_gradients(X, labels, seen=seen):
            seen.append(X[len(X) // 2 :, 1].min())
            return network.input_gradients(X, labels)

        search(wrapped(network, input_gradients), seeds, (1,), replace(PAPER, value_below_domain=below))
        assert min(seen) == expected


def test_a_search_with_every_attribute_protected_is_refused():
    with pytest.raises(InputError, match="all attributes are protected"):
        search(random_network(25), small_domain().draw(3, np.random.default_rng(1)), range(5), PAPER)


def test_no_seeds_leave_no_trail():
    phases = search(random_network(25), np.empty((0, 5), np.int32), (1,), PAPER)
    assert len(phases.global_) == len(phases.local) == 0
