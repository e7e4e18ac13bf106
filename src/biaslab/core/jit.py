"""The decorators of every compiled kernel; no other module calls numba's ``njit``.

What is compiled is kept on disk, see `kernel_cache`. With NUMBA_DISABLE_JIT=1 kernels run in Python, as they
are written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from biaslab.core import kernel_cache

# Sums may be regrouped into vector lanes and products contracted into FMAs. The grouping is fixed when the
# kernel is compiled, so results repeat bit for bit. NaN and inf keep their meaning. Divisions stay divisions:
# with "arcp" they begin with the processor's estimates of 1/x and 1/sqrt(x), which differ between makers.
_REASSOCIATE = {"reassoc", "contract", "nsz"}


def _decorator(**options: Any) -> Callable[[Callable], Callable]:
    compile_lazily = numba.jit(nopython=True, error_model="numpy", **options)
    return lambda function: kernel_cache.attach(compile_lazily(function))


kernel = _decorator(fastmath=False)
parallel_kernel = _decorator(fastmath=False, parallel=True)
reassociating_kernel = _decorator(fastmath=_REASSOCIATE)
parallel_reassociating_kernel = _decorator(fastmath=_REASSOCIATE, parallel=True)

prange = numba.prange


def set_threads(threads: int) -> None:
    """Let parallel kernels use `threads` threads, or as many as numba was started with if that is fewer."""
    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))


@contextmanager
def at_most_threads(threads: int) -> Iterator[None]:
    """Let parallel kernels use no more than `threads` threads for a while; for work too small to share."""
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


if numba.config.DISABLE_JIT:

    def prefetch(array, i, j):
        """Do nothing: Python has no such instruction."""
