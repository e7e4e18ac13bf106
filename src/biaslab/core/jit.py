"""The decorators of every compiled kernel; no other module calls numba's ``njit``.

There is no disk cache: numba keys it by the file of the kernel alone, so that an edit to a callee in
another file would silently run old code.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_EXACT = {"nopython": True, "error_model": "numpy", "cache": False}
# Sums may be regrouped into vector lanes and products contracted into FMAs. The grouping is fixed when the
# kernel is compiled, so results still repeat bit for bit on one machine type. NaN and inf keep their meaning.
_REASSOCIATE = {"reassoc", "contract", "arcp", "nsz"}

kernel = numba.jit(**_EXACT, fastmath=False)
parallel_kernel = numba.jit(**_EXACT, fastmath=False, parallel=True)
reassociating_kernel = numba.jit(**_EXACT, fastmath=_REASSOCIATE)
parallel_reassociating_kernel = numba.jit(**_EXACT, fastmath=_REASSOCIATE, parallel=True)

prange = numba.prange


def set_threads(threads: int) -> None:
    """Let parallel kernels use `threads` threads, or as many as numba was started with if that is fewer.

    Parameters
    ----------
    threads : int
        At least 1. Results never depend on it.
    """
    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))


@contextmanager
def at_most_threads(threads: int) -> Iterator[None]:
    """Let parallel kernels use no more than `threads` threads for a while; for work too small to share.

    Parameters
    ----------
    threads : int
        At least 1. Results never depend on it.
    """
    before = numba.get_num_threads()
    numba.set_num_threads(min(before, threads))
    try:
        yield
    finally:
        numba.set_num_threads(before)


@intrinsic
def prefetch(_typing_context, array, i, j):
    """Ask the processor to bring ``array[i, j]`` into its nearest cache for writing; changes no result."""

    def generate(context, builder, signature, arguments):
        array_type = signature.args[0]
        view = context.make_array(array_type)(context, builder, arguments[0])
        address = cgutils.get_item_pointer(
            context, builder, array_type, view, [arguments[1], arguments[2]], wraparound=False
        )
        byte = builder.bitcast(address, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        function_type = ir.FunctionType(ir.VoidType(), [byte.type, word, word, word])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte.type], function_type)
        builder.call(function, [byte, ir.Constant(word, 1), ir.Constant(word, 3), ir.Constant(word, 1)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
