import math

import numpy as np
import pytest
import scipy.stats

from biaslab.text.scores import chance_probability, precision_recall_f1


@pytest.mark.parametrize("seed", range(8))
def test_precision_recall_and_f1_are_those_of_scikit_learn(seed):
    from sklearn.metrics import precision_recall_fscore_support

    rng = np.random.default_rng(seed)
    labels, predicted = (rng.random(rng.integers(1, 40)) < rng.random() for _ in range(2))
    predicted = np.resize(predicted, len(labels))
    theirs = precision_recall_fscore_support(labels, predicted, average="binary", zero_division=0.0)[:3]
    assert precision_recall_f1(predicted, labels) == tuple(map(float, theirs))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_the_probability_of_chance_is_that_of_fishers_exact_test(share):
    rng = np.random.default_rng(3)
    labels = rng.random(300) < 0.3
    predicted = (rng.random(300) < share) | (labels & (rng.random(300) < share))
    table = [
        [int((predicted & labels).sum()), int((predicted & ~labels).sum())],
        [int((~predicted & labels).sum()), int((~predicted & ~labels).sum())],
    ]
    expected = scipy.stats.fisher_exact(table, "greater").pvalue
    assert chance_probability(predicted, labels) == pytest.approx(expected, rel=1e-9)
    assert chance_probability(labels, labels) < 1e-30
    assert chance_probability(~labels, labels) == 1.0


def test_labels_that_are_all_the_same_cannot_be_hit_better_than_by_chance():
    assert math.isnan(chance_probability([1, 0], [0, 0]))
