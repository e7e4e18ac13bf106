"""Repair by retraining, against the control."""

from dataclasses import replace

import numpy as np
import pytest

from biaslab.classifiers.training import BATCH, train
from biaslab.fairness_testing import repair
from biaslab.fairness_testing.retraining import DEFAULT, mixed_batches, retrain_with_nothing
from biaslab.fairness_testing.testers.discrimination import check
from fairness_data import make_subject, random_network, small_domain
from naive import fairness_testing as naive

DOMAIN = small_domain()
QUICK = replace(DEFAULT, share=0.5, steps=500)


@pytest.fixture(scope="module")
def unfair():
    """A network whose labels look at a protected attribute, as those of its data do; its finds."""
    rng = np.random.default_rng(1)
    X = DOMAIN.draw(1500, rng)
    y = (X[:, 0] + 2 * X[:, 4] > X[:, 2]).astype(np.int64)
    subject = make_subject(train(X, y, 2, epochs=15, seed=2), (4,))
    uniform = DOMAIN.draw(2000, rng)
    found = np.unique(uniform[check(subject, uniform).discriminatory][:500], axis=0)
    return subject, X, y, found, uniform[1000:]


def test_finds_repair_what_the_control_leaves(unfair):
    table = repair.repair_table(*unfair, favourable=1, repetitions=2, seed=3, settings=QUICK)
    assert table["network"].tolist() == ["before", "control", "repaired", "control", "repaired"]
    assert table["repetition"].tolist() == [0, 0, 0, 1, 1]
    assert list(table)[2:] == list(repair.MEASURES)
    means = table.groupby("network").mean()
    for name in ("IF_o", "IF_r"):
        assert means.loc["repaired", name] < 0.5 * means.loc["control", name]
    assert means.loc["control", "accuracy"] > means.loc["repaired", "accuracy"]
    again = repair.repair_table(*unfair, favourable=1, repetitions=2, seed=3, settings=QUICK)
    assert table.equals(again)


def test_the_control_of_a_network_that_is_done_changes_little(unfair):
    """A null: what is measured of the control is no repair; and it is not the network itself, either."""
    subject, X, y, _, uniform = unfair
    network = retrain_with_nothing(subject, X, y, repetition=0, seed=3, settings=QUICK)
    assert network.accuracy(X, y) > 0.97
    before, after = (
        repair.measure(replace(subject, model=m), X, y, uniform, 1) for m in (subject.model, network)
    )
    assert after["IF_o"] > 0.6 * before["IF_o"]
    assert (network.weights[0] != subject.model.weights[0]).any()


@pytest.mark.parametrize("columns", [(1,), (4,), (1, 4)])
@pytest.mark.parametrize("favourable", [0, 1])
def test_measures_equal_the_literal_ones(columns, favourable):
    network, rng = random_network(5), np.random.default_rng(2)
    X, uniform = DOMAIN.draw(600, rng), DOMAIN.draw(100, rng)
    X[:10, 1] = 7  # a group too small to count
    y = rng.integers(2, size=600)

    def label_of(x):
        return int(network.labels(np.array([x], np.int32))[0])

    found = repair.measure(make_subject(network, columns), X, y, uniform, favourable)
    expected = naive.repair_measures(
        label_of, X.tolist(), y.tolist(), uniform, DOMAIN, columns, favourable, 30
    )
    assert found == pytest.approx(expected)


def test_no_difference_without_two_groups():
    X = DOMAIN.draw(100, np.random.default_rng(2))
    X[:, 4] = 0
    found = repair.measure(make_subject(random_network(5), (4,)), X, X[:, 0] % 2, X, 1)
    assert np.isnan([found["SPD"], found["EOD"]]).all()


def test_batches_of_nothing_added_are_passes_over_the_data():
    batches = mixed_batches(100, 0, 5, np.random.default_rng(1))
    assert batches.shape == (5, BATCH)
    rows = batches.ravel()
    assert sorted(rows[:100]) == sorted(rows[100:200]) == list(range(100))
    assert rows[:100].tolist() != rows[100:200].tolist()
