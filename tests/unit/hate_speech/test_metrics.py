"""Precision, recall, F1 and accuracies against counting."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.core.errors import InputError
from biaslab.hate_speech.metrics import MEASURES, measure
from naive import hate_speech_measures as naive


@pytest.mark.parametrize("seed", range(5))
def test_measures_equal_counting(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, 60) / 2  # many are exactly 0
    labels = (rng.random(60) < 0.3).astype(int)
    identifiers = rng.choice(["bakers", "cyclists", "gardeners"], 60, p=[0.7, 0.2, 0.1])
    found = measure(scores, labels, identifiers)
    assert (found.n, found.n_positive) == (60, labels.sum())
    assert_allclose(found[2:6], naive.counted_metrics(scores, labels), rtol=1e-14)
    macro = naive.macro_accuracy(scores, labels, identifiers)
    assert_allclose(found.macro_accuracy, macro, rtol=1e-14)
    assert found.macro_accuracy != found.accuracy


def test_measures_by_hand():
    found = measure([2.0, 1.0, 0.5, -1.0, -2.0], [1, 1, 0, 1, 0])
    assert_allclose(found[2:6], [2 / 3, 2 / 3, 2 / 3, 3 / 5])
    assert math.isnan(found.macro_accuracy)
    assert MEASURES == ("precision", "recall", "f1", "accuracy", "macro_accuracy")


def test_score_of_zero_is_negative():
    assert measure([0.0, 0.0], [1, 0])[2:6] == (0.0, 0.0, 0.0, 0.5)


def test_without_positive_texts_only_accuracies_are_defined():
    found = measure([1.0, -1.0, -1.0], [0, 0, 0], ["bakers", "bakers", "cyclists"])
    assert np.isnan(found[2:5]).all()
    assert_allclose(found[5:], [2 / 3, 3 / 4])


def test_infinite_logits_are_scores():
    assert measure([math.inf, -math.inf], [1, 0]).f1 == 1.0


@pytest.mark.parametrize(
    ("scores", "labels", "problem"),
    [
        ([], [], "no texts"),
        ([1.0], [1, 0], r"shape \(1,\) for labels of shape \(2,\)"),
        ([[1.0]], [[1]], "one score for each text"),
        ([1.0, math.nan], [1, 0], "text 2: its score is not a number"),
        ([1.0, 1.0, 0.0], [1, 0, 2], "text 3: its label is neither 0 nor 1"),
    ],
)
def test_bad_input(scores, labels, problem):
    with pytest.raises(InputError, match=problem) as error:
        measure(scores, labels)
    assert "\n" not in str(error.value)
