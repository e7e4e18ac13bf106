"""How near to the data and how different samples are, against loops over single pairs."""

import math

import numpy as np
import pytest

from biaslab.fairness_testing import suites
from biaslab.fairness_testing.suites import Reference, Space
from naive import fairness_testing as naive

LOW, HIGH = np.array([0, 0, 1, -4, 0]), np.array([9, 2, 9, 12, 1])
IS_CATEGORY = np.array([False, True, False, False, True])
FREE = np.array([0, 2, 3, 4])  # the second attribute is protected


def space():
    return Space(FREE, IS_CATEGORY[FREE], LOW[FREE].astype(float), HIGH[FREE].astype(float))


def draw(n, seed):
    X = np.random.default_rng(seed).integers(LOW, HIGH, (n, 5), endpoint=True).astype(np.int32)
    return X[np.sort(np.unique(X[:, FREE], axis=0, return_index=True)[1])]


def rng():
    return np.random.default_rng(1)


def test_measures_equal_one_pair_at_a_time():
    rows, samples = draw(60, 1), draw(25, 2)
    rows = rows[rows[:, 0] < 8]  # so that some samples are outside
    reference = Reference.of(space(), rows, rng())
    found = reference.describe(samples, rng())
    arguments = (rows.tolist(), LOW, HIGH, IS_CATEGORY, FREE, suites.NEIGHBOUR, suites.DENSE)
    expected = naive.suite_measures(samples.tolist(), *arguments)
    assert [found[key] for key in ("nearest", "dense", "inside", "spread")] == pytest.approx(expected)
    assert 0 < found["inside"] < 1
    assert found["n_suite"] == found["n_described"] == len(samples)


def test_samples_of_the_data_are_near_and_others_are_not():
    rows = np.repeat(np.arange(4, dtype=np.int32), 30)[:, None] + np.zeros(5, np.int32)
    rows = np.unique(rows + np.random.default_rng(1).integers(0, 3, rows.shape), axis=0).astype(np.int32)
    rows = rows[:, :].clip(LOW, HIGH).astype(np.int32)
    reference = Reference.of(space(), rows, rng())
    near, far = reference.describe(rows, rng()), reference.describe(np.full((3, 5), 9, np.int32), rng())
    assert (near["nearest"], near["inside"]) == (0, 1)
    assert (far["inside"], far["dense"]) == (0, 0)
    assert far["nearest"] > reference.of_data(rng())["nearest"] > 0
    assert far["spread"] == 0


def test_protected_attributes_do_not_count():
    rows, samples = draw(50, 3), draw(20, 4)
    other = samples.copy()
    other[:, 1] = (other[:, 1] + 1) % 3
    reference = Reference.of(space(), rows, rng())
    assert reference.describe(samples, rng()) == reference.describe(other, rng())


def test_cells_are_pairs_of_levels():
    X = np.array([[0, 0, 1, -4, 0], [9, 2, 9, 12, 1], [9, 0, 9, 12, 1]], np.int32)
    levels = space().levels(X)
    assert levels.tolist() == [[0, 0, 0, 0], [4, 4, 4, 1], [4, 4, 4, 1]]
    assert suites.count_cells(levels) == 2 * 6
    assert space().n_cells == 3 * 25 + 3 * 10


def test_few_or_no_samples_and_rows():
    reference = Reference.of(space(), draw(4, 5)[:1], rng())
    assert reference.dense == math.inf
    empty = reference.describe(np.empty((0, 5), np.int32), rng())
    assert (empty["n_suite"], empty["n_described"]) == (0, 0)
    assert math.isnan(empty["nearest"])
    assert math.isnan(reference.describe(draw(4, 5)[:1], rng())["spread"])


def test_many_samples_are_drawn_from(monkeypatch):
    monkeypatch.setattr(suites, "N_SAMPLES", 10)
    reference = Reference.of(space(), draw(50, 3), rng())
    found = reference.describe(draw(40, 6), rng())
    assert (found["n_suite"], found["n_described"]) == (len(draw(40, 6)), 10)
