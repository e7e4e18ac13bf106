"""Many lists at once are measured as each of them is alone, with any number of threads."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from biaslab.core.errors import InputError
from biaslab.ranking.algorithms import ALGORITHMS, rerank
from biaslab.ranking.batches import measure_batch
from biaslab.ranking.measures import MEASURES, measure


def draw_lists(n_lists, m, c, seed=0):
    rng = np.random.default_rng(seed)
    scores = -np.sort(-rng.random((n_lists, m, c)).round(2))  # with ties
    desired = rng.random((n_lists, m)) * (rng.random((n_lists, m)) < 0.8)
    desired[:, 0] += 0.01
    return scores, desired / desired.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(("m", "c", "k"), [(1, 3, 2), (2, 5, 30), (4, 6, 10), (10, 20, 100)])
def test_batch_is_every_list_alone(m, c, k):
    scores, desired = draw_lists(20, m, c)
    found = measure_batch(scores, desired, k)
    assert found.shape == (20, len(ALGORITHMS), len(MEASURES))
    attributes = np.repeat(np.arange(m), c)
    for n in range(20):
        for a, algorithm in enumerate(ALGORITHMS):
            order = rerank(scores[n].ravel(), attributes, desired[n], k, algorithm)
            assert_array_equal(
                found[n, a], measure(scores[n].ravel(), attributes, desired[n], order, k), strict=False
            )


def test_same_bytes_with_any_number_of_threads():
    scores, desired = draw_lists(200, 3, 10)
    assert measure_batch(scores, desired, 20, 1).tobytes() == measure_batch(scores, desired, 20, 2).tobytes()


def test_bad_batches():
    scores, desired = draw_lists(2, 2, 3)
    with pytest.raises(InputError, match="k is 0"):
        measure_batch(scores, desired, 0)
    with pytest.raises(InputError, match=r"shape \(2, 2, 3\) and shares of shape \(2, 3\)"):
        measure_batch(scores, np.full((2, 3), 1 / 3), 1)
    with pytest.raises(InputError, match="must not rise"):
        measure_batch(scores[:, :, ::-1], desired, 1)
    with pytest.raises(InputError, match="must not rise"):
        measure_batch(np.where(scores == scores[0, 0, 0], np.nan, scores), desired, 1)
    with pytest.raises(InputError, match="must sum to 1"):
        measure_batch(scores, desired / 2, 1)
