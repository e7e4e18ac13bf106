import dataclasses
import functools

import numpy as np
import pytest

from biaslab.classifiers._kernels import BLOCK
from biaslab.classifiers.adapters import CallableModel
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import aequitas
from biaslab.fairness_testing.testers.contract import collect
from fairness_data import make_subject, make_task, random_network, rows, small_domain
from naive import fairness_testing as naive

SWITCHES = [field.name for field in dataclasses.fields(aequitas.Settings)]
SETTINGS = {
    "published": aequitas.PUBLISHED,
    "paper": aequitas.PAPER,
    **{
        s: dataclasses.replace(aequitas.PUBLISHED, **{s: not getattr(aequitas.PUBLISHED, s)})
        for s in SWITCHES
    },
}


def called(network):
    """The network as a function, which is not compiled."""
    return CallableModel(network.probabilities, network.n_attributes, network.n_classes)


def label_of(network):
    cached = functools.cache(lambda x: int(network.labels(np.array([x], np.int32))[0]))
    return lambda x: cached(tuple(int(v) for v in x))


def search(network, columns, settings):
    task = make_task(make_subject(network, columns), n_seeds=50, hops=30, seed=3)
    return collect(aequitas.search(task, settings))


def walks(model, columns, starts, settings, hops, seed):
    task = make_task(make_subject(model, columns), starts, hops=hops, seed=seed)
    return aequitas.search_around(task, settings)


@pytest.mark.parametrize("columns", [(1,), (3,), (0, 1, 4)])
@pytest.mark.parametrize("name", SETTINGS)
def test_walks_equal_the_literal_ones(name, columns):
    domain, network, settings = small_domain(), random_network(5), SETTINGS[name]
    starts = domain.draw(4, np.random.default_rng(6))
    draws = [stream(7, "aequitas", "local", number).random((60, 4)) for number in range(len(starts))]
    expected = naive.aequitas_walks(label_of(network), starts, domain, columns, draws, settings)
    for model in (network, called(network)):
        trail = walks(model, columns, starts, settings, hops=60, seed=7)
        visits = zip(trail.seed.tolist(), trail.samples.tolist(), trail.discriminatory.tolist(), strict=True)
        assert list(visits) == expected
    assert any(found for *_, found in expected)
    assert not all(found for *_, found in expected)


def test_more_protected_values_than_a_block_of_samples():
    network, columns = random_network(5), (0, 3)
    starts = small_domain().draw(3, np.random.default_rng(6))
    assert len(make_subject(network, columns).protected.values) > 2 * BLOCK
    compiled, by_calls = (
        walks(model, columns, starts, aequitas.PUBLISHED, hops=200, seed=7)
        for model in (network, called(network))
    )
    assert rows(compiled) == rows(by_calls)


def test_walks_start_from_all_global_finds():
    phases = search(random_network(8), (1,), aequitas.PAPER)
    finds = np.flatnonzero(phases.global_.discriminatory)
    assert len(phases.global_) == 50
    assert phases.local.seed.tolist() == np.repeat(finds, 31).tolist()
    assert (phases.local.samples[::31] == phases.global_.samples[finds]).all()
    assert (phases.local.queries == 3).all()


def test_a_start_outside_the_domain_is_moved_into_it_where_it_is_perturbed():
    start = np.array([[30, 7, 1, 0, 0]], np.int32)
    trail = walks(random_network(8), (1,), start, aequitas.PUBLISHED, hops=200, seed=1)
    assert trail.samples[0].tolist() == start[0].tolist()
    assert set(trail.samples[:, 0].tolist()) <= {*range(10), 30}
    assert set(trail.samples[:, 1].tolist()) <= {0, 1, 2, 7}
    assert trail.queries.tolist() == [4 if x[1] == 7 else 3 for x in trail.samples]


def test_a_search_with_every_attribute_protected_is_refused():
    with pytest.raises(InputError, match="all attributes are protected"):
        search(random_network(8), range(5), aequitas.PAPER)
