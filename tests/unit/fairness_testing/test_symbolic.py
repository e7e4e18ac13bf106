from dataclasses import replace

import numpy as np
import pytest

from biaslab.classifiers.domain import Domain
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import symbolic
from biaslab.fairness_testing.testers.contract import check, collect
from biaslab.fairness_testing.testers.symbolic import Choice, Explainer
from fairness_data import make_subject, make_task, random_network, rows
from naive import fairness_testing as naive

NAMES = ("income", "group", "age", "balance", "sex")
DOMAIN = Domain(NAMES, np.array([0, 0, 1, -2, 0], np.int32), np.array([4, 2, 4, 4, 1], np.int32))
N_NEIGHBOURS = 100
PUBLISHED = replace(symbolic.PUBLISHED, n_neighbours=N_NEIGHBOURS)
PAPER = replace(symbolic.PAPER, n_neighbours=N_NEIGHBOURS)
MIXED = replace(PAPER, lexicographic_ties=True, choice=Choice.LEAST, counts_seeds=True)


def make(case_seed=50, columns=(1,), **changes):
    """A task on a random network, with 12 seeds."""
    data = DOMAIN.draw(300, np.random.default_rng(case_seed))
    data[::7, 2] = 100  # outside the domain, as in the census file
    network = random_network(case_seed, scale=2.0)
    return make_task(make_subject(network, columns, DOMAIN), data[:12], data=data, **changes)


def search(task, settings):
    return collect(symbolic.search(task, settings))


def finds(task, n):
    """Seeds that are discriminatory."""
    return task.seeds[check(task.subject, task.seeds).discriminatory][:n]


def literal(settings, limit, columns, ids, seeds, local=True, global_=True):
    """The oracle's visits, with explanations of the streams that the search draws from."""
    task = make(columns=columns)
    network, domain = task.subject.model, task.subject.domain
    seeds = [naive.adf_clip(x, domain) for x in seeds] if settings.clip_seeds else seeds
    explainer = Explainer(network, task.data, N_NEIGHBOURS)

    def explain(x, step):
        path = explainer.explain(np.array(x, np.int32), stream(*ids, step))
        signs = ["<=" if left else ">" for left in path.left]
        columns = (path.attributes.tolist(), signs, path.limits.tolist(), path.confidences.tolist())
        return list(zip(*columns, strict=True))

    def is_found(x):
        return naive.is_discriminatory(
            lambda v: int(network.labels(np.array([v], np.int32))[0]), x, domain, columns
        )

    def solve(constraints, x):
        return naive.solve_constraints(constraints, x, domain, settings.choice)

    return naive.symbolic_search(seeds, limit, columns, settings, is_found, explain, solve, local, global_)


@pytest.mark.parametrize(
    ("settings", "columns"), [(PUBLISHED, (1,)), (PUBLISHED, (4,)), (PAPER, (1,)), (MIXED, (4,))]
)
def test_search_equals_the_literal_queue(settings, columns):
    task = make(columns=columns, n_explored=60, seed=5)
    phases = search(task, settings)
    taken = literal(settings, 60, columns, (5, "symbolic", "search"), task.seeds.tolist())
    global_ = [(x, found) for x, found, rank in taken if rank > 2 and (settings.counts_seeds or rank != 5)]
    local = [(x, found) for x, found, rank in taken if rank <= 2]
    assert (rows(phases.global_), rows(phases.local)) == (global_, local)
    assert len(local) > 10
    assert len(taken) > 50


@pytest.mark.parametrize("settings", [PUBLISHED, PAPER])
def test_one_search_alone_equals_the_literal_queue(settings):
    task = make(n_seeds=40, hops=15, seed=6)
    trail = symbolic.search_globally(task, settings)
    taken = literal(settings, 40, (1,), (6, "symbolic", "global"), task.seeds.tolist(), local=False)
    counted = [x for x, _, rank in taken if settings.counts_seeds or rank != 5]
    assert trail.samples.tolist() == counted
    assert len(trail) >= 40

    starts = finds(task, 2)
    trail = symbolic.search_around(replace(task, seeds=starts), settings)
    without_seeds = replace(settings, counts_seeds=False)
    for number, x in enumerate(starts.tolist()):
        ids = (6, "symbolic", "local", number)
        taken = literal(without_seeds, 15, (1,), ids, [x], global_=False)
        assert trail.samples[trail.seed == number].tolist() == [x for x, _, rank in taken if rank != 5]


def test_network_with_one_label_leaves_the_seeds_alone():
    task = make(n_explored=50, seed=10)
    task.subject.model.biases[-1][0] += 1e6
    for settings, n in ((PUBLISHED, len(task.seeds)), (PAPER, 0)):
        phases = search(task, settings)
        assert (len(phases.global_), len(phases.local)) == (n, 0)


def test_search_ends_when_all_samples_are_explored():
    task = make(columns=(1, 2, 3), n_explored=100, seed=16)  # leaves 20 different samples
    for settings in (PUBLISHED, PAPER):
        trail = search(task, settings).joined()
        assert trail.count(task.subject.protected).n_samples <= 20
        assert settings.repeats == (len(trail) > 20)
    assert len(search(make(), PAPER).joined()) == 0
