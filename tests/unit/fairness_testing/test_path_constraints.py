import itertools

import numpy as np
import pytest
import z3

from biaslab.core.rng import stream
from biaslab.fairness_testing.testers import _explanation_trees_kernels as kernels
from biaslab.fairness_testing.testers.symbolic import (
    Choice,
    Explainer,
    Path,
    global_problems,
    local_problems,
    solve,
)
from fairness_data import random_network, small_domain
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
