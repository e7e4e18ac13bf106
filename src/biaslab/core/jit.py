"""The decorators of all compiled kernels; no other module calls numba's ``njit``.

`kernel_cache` keeps the compiled code on disk. With NUMBA_DISABLE_JIT=1 kernels run as plain Python.
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
# "arcp" would use the processor's estimates of 1/x and 1/sqrt(x), which differ between manufacturers.
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
    """Set the number of threads of parallel kernels, at most the number that numba was started with."""
    numba.set_num_threads(max(1, min(threads, numba.config.NUMBA_NUM_THREADS)))


@contextmanager
def at_most_threads(threads: int) -> Iterator[None]:
    """Limit parallel kernels to `threads` threads inside the context, for small workloads."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(before, threads))
    try:
        yield
    finally:
        numba.set_num_threads(before)


@intrinsic
def prefetch(_typing_context, array, i, j):
    """Prefetch ``array[i, j]`` into the nearest cache for writing; this changes no result."""

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
        """Do nothing: Python has no prefetch instruction."""
