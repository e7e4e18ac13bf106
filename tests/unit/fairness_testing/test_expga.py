"""ExpGA, and the explanations that it begins with."""

import functools
from dataclasses import fields, replace

import numpy as np
import pytest

from biaslab.classifiers.adapters import CallableModel
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import expga, linear_explanations
from biaslab.fairness_testing.testers.contract import collect
from biaslab.fairness_testing.testers.expga import PAPER, PUBLISHED, Draws
from biaslab.fairness_testing.testers.linear_explanations import LinearExplainer
from fairness_data import blind, make_subject, make_task, random_network, small_domain
from naive import fairness_testing as naive

SWITCHES = [field.name for field in fields(PAPER) if field.type == "bool" or field.type is bool]
SETTINGS = {"published": PUBLISHED, "paper": PAPER} | {s: replace(PUBLISHED, **{s: False}) for s in SWITCHES}
DATA = small_domain().draw(300, np.random.default_rng(4))


def label_of(network):
    cached = functools.cache(lambda x: int(network.labels(np.array([x], np.int32))[0]))
    return lambda x: cached(tuple(int(v) for v in x))


def search(network, columns=(1,), settings=PAPER, n_seeds=40, **changes):
    rest = {"data": DATA, "hops": 12, "n_seeds": n_seeds, "seed": 3} | changes
    task = make_task(make_subject(network, columns), **rest)
    return collect(expga.search(task, replace(settings, n_neighbours=200)))


def visits(trail):
    return list(zip(trail.seed.tolist(), trail.samples.tolist(), trail.discriminatory.tolist(), strict=True))


@pytest.mark.parametrize("columns", [(1,), (4,), (3,), (1, 4)])
@pytest.mark.parametrize("name", SETTINGS)
def test_generations_equal_the_literal_ones(name, columns):
    domain, network, settings = small_domain(), random_network(5), SETTINGS[name]
    starts = domain.draw(20, np.random.default_rng(6))
    starts[::5, columns[0]] = -7  # outside, as a protected 0 may be
    task = make_task(make_subject(network, columns), starts, hops=9, seed=3)
    rngs = [stream(3, "expga", "generation", generation) for generation in range(9)]
    draws = [Draws.of(rng, len(starts), domain, settings) for rng in rngs]
    expected = naive.expga(label_of(network), starts.tolist(), domain, columns, draws, settings)
    found = visits(expga.search_around(task, settings))
    assert found == expected
    assert {is_found for *_, is_found in found} == {True, False}


@pytest.mark.parametrize("settings", [PUBLISHED, PAPER])
def test_what_is_chosen_is_what_the_literal_explanations_choose(settings):
    network, columns, domain = random_network(8), (1,), small_domain()
    subject = make_subject(network, columns)
    phases = search(network, columns, settings, n_seeds=30)
    X = domain.draw(30, stream(3, "expga", "seeds"))
    if settings.zero_protected:
        X[:, 1] = 0
    explainer, expected = LinearExplainer(subject, DATA, 200), []
    for number, x in enumerate(X):
        neighbours = explainer.neighbours(x, stream(3, "expga", "explanation", number))
        outputs = network.probabilities(neighbours)[:, 1]
        coefficients = naive.lime_coefficients(neighbours, outputs, DATA.mean(axis=0), DATA.std(axis=0))
        if naive.expga_is_seed(coefficients, columns, limit=3):
            expected.append(number)
    assert phases.global_.seed.tolist() == expected
    assert (phases.global_.samples == X[expected]).all()
    assert 0 < len(expected) < 30
    assert phases.n_idle == 30 * 200


def test_explanations_are_those_of_a_linear_model():
    """Of outputs that are linear in the samples, the coefficients are exact up to the penalty."""
    slopes = np.array([0.02, -0.03, 0.0, 0.01, 0.1])

    def function(X):
        p = 0.4 + X @ slopes
        return np.column_stack([1 - p, p])

    subject = make_subject(CallableModel(function, 5, 2), (1,))
    explainer = LinearExplainer(subject, DATA, 3000)
    found = explainer.explain(DATA[0], np.random.default_rng(1))
    np.testing.assert_allclose(found, slopes * DATA.std(axis=0), atol=2e-3)
    neighbours = explainer.neighbours(DATA[0], np.random.default_rng(1))
    assert (neighbours[0] == DATA[0]).all()
    assert small_domain().contains(neighbours).all()
    far = explainer.neighbours(small_domain().low, np.random.default_rng(1))[1:]
    assert (far == neighbours[1:]).all()  # around the data's mean, not around the sample


def test_an_attribute_that_never_varies_has_no_scale_of_zero():
    data = DATA.copy()
    data[:, 2] = 4
    explainer = LinearExplainer(make_subject(random_network(8), (1,)), data, 50)
    assert np.isfinite(explainer.explain(data[0], np.random.default_rng(1))).all()


def test_every_switch_changes_the_search():
    network = random_network(5)
    published = search(network, (3,), PUBLISHED, hops=30)
    assert len(SWITCHES) == 4
    for switch in SWITCHES:
        other = search(network, (3,), replace(PUBLISHED, **{switch: False}), hops=30)
        assert visits(other.joined()) != visits(published.joined()), switch


def test_what_the_slips_do():
    """Binary attributes are mutated to 0 alone, most crossings take nothing, the drawn group is 0."""
    domain, rng = small_domain(), np.random.default_rng(1)
    published, paper = (Draws.of(rng, 2000, domain, settings) for settings in (PUBLISHED, PAPER))
    assert (published.values < np.maximum(domain.high, domain.low + 1)).all()
    assert set(published.values[:, 4]) == {0}
    assert set(paper.values[:, 4]) == {0, 1}
    assert (published.end <= published.begin).mean() > 0.5
    assert (paper.end > paper.begin).all()
    assert paper.end.max() == 5
    assert (published.begin + published.end < 5).all()
    assert set(search(random_network(5), (3,), PUBLISHED).global_.samples[:, 3]) == {0}


def test_the_population_is_full_when_it_has_a_hundred():
    settings = replace(PAPER, n_population=4)
    phases = search(random_network(8), settings=settings, n_seeds=60)
    assert len(phases.global_) == 4
    explained = phases.global_.seed[-1] + 1
    assert explained < 60
    assert phases.n_idle == 200 * explained
    task = make_task(make_subject(random_network(8), (1,)), data=DATA, hops=2, n_seeds=60, seed=3)
    parts = list(expga.search(task, replace(settings, n_neighbours=200)))
    assert sum(part.n_seeds for part in parts) == 60
    assert np.concatenate([part.starts for part in parts]).shape == (60, 5)
    assert parts[-1].n_seeds == 60 - explained + 1


def test_some_samples_are_seeds_even_if_no_explanation_points_to_a_protected_attribute():
    """All attributes matter more than the group; what is found is found nevertheless."""
    slopes = np.array([0.05, 0.04, -0.03, 0.02, 0.2])

    def function(X):
        p = 1 / (1 + np.exp(-(X - [4, 1, 5, 4, 0.5]) @ slopes))
        return np.column_stack([1 - p, p])

    task = make_task(
        make_subject(CallableModel(function, 5, 2), (1,)), data=DATA, n_seeds=30, hops=40, seed=3
    )
    phases = collect(expga.search(task, replace(PAPER, n_neighbours=300)))
    assert len(phases.global_)
    assert phases.local.discriminatory.any()
    assert expga._chosen(np.array([4, 3, 4, 3]), 3).tolist() == [1, 3]
    assert expga._chosen(np.array([4, 3, 2, 0]), 3).tolist() == [2, 3]


def test_more_generations_only_add():
    long, short = search(random_network(8), hops=12), search(random_network(8), hops=3)
    n = len(short.local)
    assert 0 < n < len(long.local)
    assert visits(long.local)[:n] == visits(short.local)


def test_evolution_finds_more_than_chance():
    """Selection is what makes the difference: without it the share of finds stays lower."""
    network = random_network(8)
    evolved = search(network, n_seeds=100, hops=40).local
    n = len(evolved)
    drawn = make_subject(network, (1,)).domain.draw(n, np.random.default_rng(1))
    of_chance = np.mean([naive.is_discriminatory(label_of(network), x, small_domain(), (1,)) for x in drawn])
    assert evolved.discriminatory.mean() > of_chance + 0.2


def test_no_protected_attribute_matters_to_a_blind_network():
    """Its coefficient is the least, so that almost nothing is chosen, and nothing is found."""
    phases = search(blind(random_network(8), (1,)), n_seeds=60)
    assert len(phases.global_) < 15
    assert not phases.joined().discriminatory.any()


def test_ranks_are_those_of_the_authors():
    assert [expga.highest_rank(d) for d in (13, 16, 20, 5, 2)] == [7, 10, 14, 3, 1]


def test_explanations_need_data():
    with pytest.raises(InputError, match="explanations need data with at least one row of 5 attributes"):
        LinearExplainer(make_subject(random_network(8), (1,)), DATA[:0], 50)
    assert linear_explanations.WIDTH == 0.75
