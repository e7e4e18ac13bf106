import itertools

import numpy as np
import pytest
import z3
from sklearn.tree import DecisionTreeClassifier

from biaslab.fairness_testing.testers.path_constraints import (
    Choice,
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
    for _ in range(150):
        constraints, x = random_constraints(rng)[:3], domain.draw(1, rng)[0]
        x[0] += 40 * (rng.random() < 0.2)  # outside the domain, as in the census file
        found = solve(path_of(constraints), x, domain, Choice(choice))
        expected = naive.solve_constraints(constraints, x.tolist(), domain, choice)
        assert (None if found is None else found.tolist()) == expected
        n_solved += found is not None
    assert 30 < n_solved < 145


def test_satisfiability_is_that_of_a_solver():
    rng, domain = np.random.default_rng(33), small_domain()
    for _ in range(200):
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


def tree_path(tree, x, X):
    """The path of a sample in a tree of scikit-learn, and its nodes."""
    nodes = tree.decision_path(x[None].astype(np.float32)).indices
    inner = nodes[:-1]
    attributes, limits = tree.tree_.feature[inner], np.floor(tree.tree_.threshold[inner]).astype(np.int64)
    left = tree.tree_.children_left[inner] == nodes[1:]
    confidences = tree.tree_.n_node_samples[nodes[1:]] / tree.tree_.n_node_samples[inner]
    return Path(attributes.astype(np.int64), limits, left, confidences), nodes


@pytest.mark.parametrize("choice", list(Choice))
def test_samples_of_the_global_search_take_the_negated_turn_in_the_tree(choice):
    rng, domain, network = np.random.default_rng(35), small_domain(), random_network(35)
    X = domain.draw(500, rng)
    tree = DecisionTreeClassifier(random_state=0).fit(X, network.labels(X))
    n_solved = 0
    for x in X[:40]:
        path, nodes = tree_path(tree, x, X)
        for node, problem in enumerate(global_problems(path, ())):
            child = solve(problem.constraints, x, domain, choice)
            if child is None:
                continue
            n_solved += 1
            assert domain.contains(child[None]).all()
            assert problem.constraints.holds(child[None]).all()
            assert not path.holds(child[None]).any()
            taken = tree.decision_path(child[None].astype(np.float32)).indices
            assert taken[: node + 1].tolist() == nodes[: node + 1].tolist()
            assert taken[node + 1] != nodes[node + 1]
    assert n_solved > 100


def test_samples_of_the_local_search_differ_in_the_negated_attribute_alone():
    rng, domain, network = np.random.default_rng(36), small_domain(), random_network(36)
    X = domain.draw(500, rng)
    tree = DecisionTreeClassifier(random_state=0).fit(X, network.labels(X))
    n_solved = 0
    for x in X[:40]:
        path, _ = tree_path(tree, x, X)
        for problem in local_problems(path, (1,)):
            child = solve(problem.constraints, x, domain, Choice.NEAREST)
            if child is not None:
                n_solved += 1
                assert (
                    np.flatnonzero(child != x).tolist() == np.unique(problem.constraints.attributes).tolist()
                )
                assert 1 not in problem.constraints.attributes
                assert problem.path.holds(child[None]).all()
    assert n_solved > 50
