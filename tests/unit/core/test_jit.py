import numba
import numpy as np

from biaslab.core.jit import at_most_threads, kernel, prefetch, set_threads


@kernel
def prefetched_sum(a):
    total = 0.0
    for i in range(a.shape[0]):
        prefetch(a, i, 0)
        total += a[i, 0]
    return total


def test_prefetching_changes_nothing():
    a = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert prefetched_sum(a) == a[:, 0].sum()


def test_threads_stay_between_one_and_what_numba_has():
    set_threads(0)
    assert numba.get_num_threads() == 1
    set_threads(10_000)
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS


def test_fewer_threads_for_a_while():
    set_threads(10_000)
    with at_most_threads(1):
        assert numba.get_num_threads() == 1
        with at_most_threads(10_000):
            assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
