import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing.cases import cluster, take_turns


def turns_one_by_one(clusters, n):
    queues = [[i for i, c in enumerate(clusters) if c == number] for number in sorted(set(clusters))]
    taken = []
    while len(taken) < n and any(queues):
        for queue in queues:
            if queue and len(taken) < n:
                taken.append(queue.pop(0))
    return taken


@pytest.mark.parametrize("n", [1, 5, 40, 60, 100])
def test_turns_equal_queues(n):
    clusters = np.random.default_rng(1).choice(4, 60, p=[0.5, 0.1, 0.35, 0.05])
    assert take_turns(clusters, n).tolist() == turns_one_by_one(clusters.tolist(), n)


def test_clusters_are_numbered_as_they_first_appear():
    rng = np.random.default_rng(2)
    centres = np.array([[0, 0], [50, 0], [0, 50], [50, 50]])
    truth = np.r_[2, 2, 0, 3, 1, rng.integers(0, 4, 200)]
    X = (centres[truth] + rng.integers(-3, 4, (len(truth), 2))).astype(np.int32)
    names = {2: 0, 0: 1, 3: 2, 1: 3}
    assert cluster(X).tolist() == [names[t] for t in truth.tolist()]
    assert cluster(X).dtype == np.int64


def test_fewer_rows_than_clusters_are_refused():
    with pytest.raises(InputError, match="3 rows cannot form 4 clusters"):
        cluster(np.zeros((3, 2), np.int32))
