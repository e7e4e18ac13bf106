import numpy as np
import pytest

from biaslab.text.scores import precision_recall_f1


@pytest.mark.parametrize("seed", range(20))
def test_precision_recall_and_f1_are_those_of_scikit_learn(seed):
    from sklearn.metrics import precision_recall_fscore_support

    rng = np.random.default_rng(seed)
    labels, predicted = (rng.random(rng.integers(1, 40)) < rng.random() for _ in range(2))
    predicted = np.resize(predicted, len(labels))
    theirs = precision_recall_fscore_support(labels, predicted, average="binary", zero_division=0.0)[:3]
    assert precision_recall_f1(predicted, labels) == tuple(map(float, theirs))
