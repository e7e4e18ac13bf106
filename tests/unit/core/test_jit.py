import platform
import re

import numba
import numpy as np
import pytest

from biaslab.core import jit
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


def test_threads_stay_between_one_and_what_numba_has_and_are_fewer_for_a_while():
    set_threads(0)
    assert numba.get_num_threads() == 1
    set_threads(10_000)
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS
    with at_most_threads(1):
        assert numba.get_num_threads() == 1
        with at_most_threads(10_000):
            assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == numba.config.NUMBA_NUM_THREADS


def divided_by_a_root(x, y):
    for i in range(len(x)):
        x[i] = x[i] / np.sqrt(y[i])


def estimates(flags):
    """Return the instructions by which a processor estimates 1/x or 1/sqrt(x)."""
    compiled = numba.jit("(float32[::1], float32[::1])", nopython=True, error_model="numpy", fastmath=flags)(
        divided_by_a_root
    )
    (assembly,) = compiled.inspect_asm().values()
    return re.findall(r"\bv?(?:rsqrt|rcp)\d*[ps]s\b", assembly)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.skipif(platform.machine() != "x86_64", reason="reads x86's assembly")
def test_no_kernel_divides_by_an_estimate_which_differs_between_makers():
    assert estimates(jit._REASSOCIATE) == []
    assert estimates(jit._REASSOCIATE | {"arcp"}), "they would be found"
