import itertools
from dataclasses import replace

import numpy as np
import pytest
import z3

from biaslab.classifiers.domain import Domain
from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import _explanation_trees_kernels as kernels
from biaslab.fairness_testing.testers import symbolic
from biaslab.fairness_testing.testers.contract import check, collect
from biaslab.fairness_testing.testers.symbolic import (
    Choice,
    Explainer,
    Path,
    global_problems,
    local_problems,
    solve,
)
from fairness_data import make_subject, make_task, random_network, rows, small_domain
from naive import fairness_testing as naive

N_ATTRIBUTES = 5


def path_of(constraints):
    attributes, signs, limits, confidences = zip(*constraints, strict=True)
    return Path(
        np.array(attributes, np.int64),
        np.array(limits, np.int64),
        np.array([sign == "<=" for sign in signs]),
        np.array(confidences),
    )


def constraints_of(path):
    signs = ["<=" if left else ">" for left in path.left]
    columns = (path.attributes.tolist(), signs, path.limits.tolist(), path.confidences.tolist())
    return list(zip(*columns, strict=True))


def random_constraints(rng):
    domain = small_domain()
    constraints = []
    for _ in range(int(rng.integers(1, 9))):
        a = int(rng.integers(N_ATTRIBUTES))
        limit = int(rng.integers(domain.low[a] - 2, domain.high[a] + 2))
        constraints.append((a, "<=" if rng.random() < 0.5 else ">", limit, float(rng.random())))
    return constraints


@pytest.mark.parametrize("choice", ["nearest", "least"])
def test_solution_is_the_best_of_all_samples_of_the_domain(choice):
    rng, domain = np.random.default_rng(31), small_domain()
    n_solved = 0
    for _ in range(80):
        constraints, x = random_constraints(rng)[:3], domain.draw(1, rng)[0]
        x[0] += 40 * (rng.random() < 0.2)  # outside the domain, as in the census file
        found = solve(path_of(constraints), x, domain, Choice(choice))
        expected = naive.solve_constraints(constraints, x.tolist(), domain, choice)
        assert (None if found is None else found.tolist()) == expected
        n_solved += found is not None
    assert 15 < n_solved < 75


def test_satisfiability_is_that_of_a_solver():
    rng, domain = np.random.default_rng(33), small_domain()
    for _ in range(100):
        constraints, x = random_constraints(rng), domain.draw(1, rng)[0]
        variables = z3.Ints("a0 a1 a2 a3 a4")
        solver = z3.Solver()
        for a, sign, limit, _ in constraints:
            solver.add(variables[a] >= int(domain.low[a]), variables[a] <= int(domain.high[a]))
            solver.add(variables[a] <= limit + 0.5 if sign == "<=" else variables[a] > limit + 0.5)
        is_satisfiable = solver.check() == z3.sat
        for choice in Choice:
            assert (solve(path_of(constraints), x, domain, choice) is not None) == is_satisfiable


@pytest.mark.parametrize("protected", [(), (1,), (4, 1)])
def test_problems_and_their_ranks_are_those_of_the_published_code(protected):
    rng, domain = np.random.default_rng(34), small_domain()
    n_children = 0
    for found in itertools.islice(itertools.cycle([True, False]), 40):
        constraints, x = random_constraints(rng)[:5], domain.draw(1, rng)[0]
        path = path_of(constraints)
        expected = naive.symbolic_children(
            x.tolist(),
            found,
            constraints,
            protected,
            [],
            lambda problem, x: naive.solve_constraints(problem, x, domain, "nearest"),
        )
        problems = [*(local_problems(path, protected) if found else []), *global_problems(path, protected)]
        children, solved = [], []
        for problem in problems:
            if constraints_of(problem.path) not in solved:
                solved.append(constraints_of(problem.path))
                child = solve(problem.constraints, x, domain, Choice.NEAREST)
                if child is not None:
                    children.append((problem.rank, child.tolist()))
        assert children == expected
        n_children += len(children)
    assert n_children > 30


def explainer(seed=21, n_neighbours=300):
    data = small_domain().draw(400, np.random.default_rng(seed))
    data[:40, 2] = 100  # outside the domain, as in the census file
    return Explainer(random_network(seed), data, n_neighbours), data


def branch(X, labels, draws):
    """The kernel's branch as a list of constraints."""
    low = X.min(axis=0)
    starts = np.concatenate([[0], np.cumsum(X.max(axis=0) - low + 1)])
    attributes, limits = np.empty((2, len(X)), np.int64)
    shares = np.empty(len(X))
    k = int(labels.max()) + 1
    depth = kernels.grow_branch(X, labels, low, starts, k, draws, attributes, limits, shares)
    return [
        (int(a), "<=", int(limit), float(share))
        if X[0, a] <= limit
        else (int(a), ">", int(limit), 1 - float(share))
        for a, limit, share in zip(attributes[:depth], limits[:depth], shares[:depth], strict=True)
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_branch_equals_the_definition_of_the_tree(n_classes):
    rng = np.random.default_rng(22)
    lengths = []
    for _ in range(40):
        X = rng.integers(-3, 4, size=(int(rng.integers(1, 30)), 4), dtype=np.int32)
        labels, draws = rng.integers(0, n_classes, size=len(X)), rng.random(len(X))
        found = branch(X, labels, draws)
        assert found == naive.explanation_branch(X.tolist(), labels.tolist(), draws)
        lengths.append(len(found))
    assert max(lengths) > 5


def test_neighbours_are_the_sample_and_draws_from_each_attribute_alone():
    explains, data = explainer(n_neighbours=20000)
    x = np.array([9, 2, 9, 12, 1], np.int32)
    X = explains.neighbours(x, stream(24))
    assert X[0].tolist() == x.tolist()
    for column, drawn in zip(data.T, X[1:].T, strict=True):
        assert set(drawn) == set(column)
        for value in set(column):
            share = np.mean(column == value)
            assert abs(np.mean(drawn == value) - share) < 5 * np.sqrt(share * (1 - share) / len(drawn))
    assert abs(np.corrcoef(X[1:], rowvar=False) - np.eye(5)).max() < 0.05


def test_equal_labels_or_equal_neighbours_need_no_constraint():
    explains, data = explainer()
    alone = Explainer(explains.model, data, 1)
    assert len(alone.explain(data[0], stream(27))) == 0
    same = np.zeros((4, 3), np.int32)
    assert branch(same, np.array([0, 1, 1, 0]), np.zeros(4)) == []


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
        return constraints_of(explainer.explain(np.array(x, np.int32), stream(*ids, step)))

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
