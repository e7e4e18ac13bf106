"""The classifier of specific words."""

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.debiasing.classification import classify_specific


def embedding(shift, n=200, d=6):
    """Return unit vectors whose first 40 rows are shifted."""
    vectors = np.random.default_rng(0).normal(size=(n, d))
    vectors[:40, 0] += shift
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_separable_words_are_told_apart():
    found = classify_specific(embedding(20, d=30), range(40))
    assert found.f_scores.shape == (10,)
    assert found.f_scores.mean() > 0.95
    assert (found.distances[:40] > 0).mean() > 0.95
    assert (found.distances[40:] < 0).mean() > 0.95


def test_words_alike_are_not_told_apart():
    assert classify_specific(embedding(0), range(40)).f_scores.mean() < 0.3


def test_every_fold_has_a_score():
    assert len(classify_specific(embedding(1), range(40), folds=5).f_scores) == 5


def test_distances_are_measured_from_the_boundary():
    vectors = embedding(2)
    found = classify_specific(vectors, range(40))
    # An affine function of the vectors with a gradient of unit length.
    gradient = np.linalg.lstsq(np.column_stack([vectors, np.ones(200)]), found.distances, rcond=None)[0][:-1]
    assert np.linalg.norm(gradient) == pytest.approx(1)


def test_one_seed_gives_one_result():
    vectors = embedding(1)
    first, second = (classify_specific(vectors, range(40), seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.f_scores, second.f_scores)
    np.testing.assert_array_equal(first.distances, second.distances)


def test_too_short_a_seed_list_is_refused():
    with pytest.raises(InputError, match="3 words of one class are too few for 10-fold"):
        classify_specific(embedding(1), [0, 1, 2])
