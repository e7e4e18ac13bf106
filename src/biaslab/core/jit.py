"""The decorators of every compiled kernel; no other module calls numba's ``njit``.

There is no disk cache: numba keys it by the file of the kernel alone, so that an edit to a callee in
another file would silently run old code.
"""

import numba

_EXACT = {"nopython": True, "error_model": "numpy", "cache": False}
# Sums may be regrouped into vector lanes and products contracted into FMAs. The grouping is fixed when the
# kernel is compiled, so results still repeat bit for bit on one machine type. NaN and inf keep their meaning.
_REASSOCIATE = {"reassoc", "contract", "arcp", "nsz"}

kernel = numba.jit(**_EXACT, fastmath=False)
parallel_kernel = numba.jit(**_EXACT, fastmath=False, parallel=True)
reassociating_kernel = numba.jit(**_EXACT, fastmath=_REASSOCIATE)
parallel_reassociating_kernel = numba.jit(**_EXACT, fastmath=_REASSOCIATE, parallel=True)
inlined_kernel = numba.jit(**_EXACT, fastmath=_REASSOCIATE, inline="always")

prange = numba.prange


def set_threads(threads: int) -> None:
    """Let parallel kernels use `threads` threads, or as many as numba was started with if that is fewer.

    Parameters
    ----------
    threads : int
        At least 1. Results never depend on it.
    """
    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))
