from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from biaslab.classifiers.training import train
from biaslab.core.jit import set_threads
from biaslab.fairness_testing import retraining
from biaslab.fairness_testing.retraining import (
    LABEL_RULES,
    Ensemble,
    added_labels,
    mixed_batches,
    n_added,
    retrain,
    retraining_table,
    with_partners,
)
from biaslab.fairness_testing.settings import COLUMNS
from biaslab.fairness_testing.testers.contract import check, discriminatory_share
from fairness_data import make_subject, random_network, small_domain
from naive import fairness_testing as naive

DOMAIN = small_domain()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(retraining, "STEPS", 400)


@cache
def unfair_case(columns):
    """A subject whose network learned labels that look at a protected attribute, its data and finds."""
    rng = np.random.default_rng(1)
    X = DOMAIN.draw(1500, rng)
    y = (X[:, 0] + 2 * X[:, columns[0]] > X[:, 2]).astype(np.int64)
    network = train(X, y, 2, epochs=15, seed=2)
    subject = make_subject(network, columns)
    uniform = DOMAIN.draw(3000, rng)
    found = uniform[check(subject, uniform).discriminatory]
    return subject, X, y, np.unique(found[:1000], axis=0), uniform[1000:]


@pytest.mark.parametrize("columns", [(1,), (4,), (1, 4)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_majority_labels_equal_votes_one_by_one(columns, n_classes):
    network = random_network(3, (5, 8, 6, n_classes))
    X = DOMAIN.draw(300, np.random.default_rng(4))
    subject = make_subject(network, columns)
    labels = added_labels("majority", subject, X)
    expected = [
        naive.majority_label(
            lambda v: network.probabilities(np.array([v], np.int32))[0], x, DOMAIN, columns, n_classes
        )
        for x in X.tolist()
    ]
    assert labels.tolist() == expected
    assert (added_labels("model", subject, X) == network.labels(X)).all()


def test_ensemble_votes():
    subject, X, y, *_ = unfair_case((4,))
    ensemble = Ensemble(X, y, 5)
    assert np.mean(ensemble.labels(X) == y) > 0.9
    votes = ensemble.votes(X)
    assert votes.shape == (1500, 3)
    assert 0 < np.mean(votes.min(axis=1) < votes.max(axis=1)) < 0.5
    assert (Ensemble(X, y, 5).votes(X) == votes).all()
    of_three = Ensemble(X, y + (X[:, 0] == 9), 5)
    assert of_three.labels(X).tolist() == [naive.most_votes(v) for v in of_three.votes(X).tolist()]
    assert set(of_three.labels(X)) == {0, 1, 2}
    labels = added_labels("ensemble", subject, X[:50], ensemble)
    assert (labels == ensemble.labels(X[:50])).all()


@pytest.mark.parametrize("rule", LABEL_RULES)
def test_retraining_makes_an_unfair_network_fairer(rule):
    subject, X, y, found, uniform = unfair_case((1,))
    ensemble = Ensemble(X, y, 6) if rule == "ensemble" else None
    options = {"repetition": 0, "seed": 7, "share": 0.5}
    fairer = retrain(subject, X, y, found, label_rule=rule, ensemble=ensemble, **options)
    before = discriminatory_share(subject, uniform)
    assert discriminatory_share(replace(subject, model=fairer), uniform) < 0.9 * before
    assert fairer.accuracy(X, y) > 0.75


def test_retraining_repeats_byte_for_byte_and_differs_by_repetition(monkeypatch):
    monkeypatch.setattr(retraining, "STEPS", 20)
    subject, X, y, found, _ = unfair_case((4,))
    network = subject.model
    networks, kept = [], network.weights[0].copy()
    for threads, repetition in ((1, 0), (2, 0), (2, 1)):
        set_threads(threads)
        arguments = {"label_rule": "majority", "repetition": repetition, "seed": 8, "share": 0.5}
        networks.append(retrain(subject, X, y, found, **arguments))
    equal = [
        [a.tobytes() == b.tobytes() for a, b in zip(networks[0].weights, other.weights, strict=True)]
        for other in networks[1:]
    ]
    assert all(equal[0])
    assert not any(equal[1])
    assert np.array_equal(network.weights[0], kept)


def test_partners_differ_in_protected_attributes_and_label():
    subject, *_, found, _ = unfair_case((1,))
    network, found = subject.model, found.copy()
    found[0] = np.array([0, 1, 9, 0, 0])  # clearly one label: no partner
    assert check(subject, found[:1]).partners[0] == -1
    labels = np.arange(len(found)) % 2
    samples, both = with_partners(subject, found, labels)
    n = len(found)
    assert len(samples) == len(both) == 2 * n - 1
    assert np.array_equal(samples[:n], found)
    assert np.array_equal(both, np.concatenate([labels, labels[1:]]))
    assert np.array_equal(samples[n:][:, subject.free], found[1:][:, subject.free])
    assert (network.labels(samples[n:]) != network.labels(found[1:])).all()


@pytest.mark.parametrize(("n_data", "n_found"), [(1000, 7), (3, 5000), (640, 640)])
def test_batches_are_half_data_and_half_added(n_data, n_found):
    batches = mixed_batches(n_data, n_found, 20, np.random.default_rng(9))
    assert batches.shape == (20, 128)
    assert (batches[:, :64] < n_data).all()
    assert (batches[:, 64:] >= n_data).all()
    for part, n in ((batches[:, :64], n_data), (batches[:, 64:] - n_data, n_found)):
        times = np.bincount(part.ravel(), minlength=n)
        assert times.max() - times.min() <= 1
        assert times.sum() == 1280


def test_table_has_before_and_after(monkeypatch):
    monkeypatch.setattr(retraining, "STEPS", 50)
    subject, X, y, found, uniform = unfair_case((4,))
    networks = {
        (rule, k): retrain(subject, X, y, found, label_rule=rule, repetition=k, seed=10, share=0.1)
        for rule in ("", "majority")
        for k in range(2)
    }
    trained = [(*key, 7 if key[0] else 0, network) for key, network in networks.items()]
    table = retraining_table(subject, X, y, uniform, trained)
    assert tuple(table.columns) == COLUMNS["retraining"][3:]
    assert table["label_rule"].tolist() == ["", "", "majority", "majority"]
    assert table["repetition"].tolist() == [0, 1, 0, 1]
    assert table["n_added"].tolist() == [0, 0, 7, 7]
    assert networks["", 1].accuracy(X, y) != networks["majority", 1].accuracy(X, y)
    for i, when in ((1, "before"), (1, "after"), (3, "after")):
        model = subject.model if when == "before" else trained[i][-1]
        own = replace(subject, model=model)
        row = table.iloc[i]
        assert row[f"accuracy_{when}"] == model.accuracy(X, y)
        assert row[f"share_{when}"] == discriminatory_share(own, uniform)
        assert row[f"data_share_{when}"] == discriminatory_share(own, X)


def test_at_least_one_sample_is_added():
    assert n_added(np.zeros((3, 5)), 0.05) == 1
