"""Configure torch: device, threads, random numbers, and modules without initial values."""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from biaslab.core.errors import InputError, suggest
from biaslab.core.rng import stream

DEVICES = ("auto", "cpu", "cuda")


def choose_device(name: str) -> torch.device:
    """Return the device of a configuration; "auto" is CUDA if torch finds it, else the CPU."""
    if name not in DEVICES:
        raise InputError(
            f"device '{name}' is unknown{suggest(name, DEVICES)}; write one of {', '.join(DEVICES)}"
        )
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("device 'cuda': torch finds no CUDA device; write 'cpu' or 'auto'")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def make_deterministic(threads: int) -> None:
    """Fix the number of threads of an operation, and restrict torch to bit-for-bit deterministic algorithms.

    The same number of threads gives identical bytes. Another number changes the order of sums: a gradient
    differs by at most 3e-7 of its largest entry, predictions of given weights do not. For identical bytes on
    all machines of one type, train with one thread and run several trainings in parallel.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts
    torch.set_num_threads(threads)
    if torch.get_num_interop_threads() != 1:
        with contextlib.suppress(RuntimeError):  # too late in this process, but no code uses these threads
            torch.set_num_interop_threads(1)
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms also imports a compiler: 1.5 s
    torch.utils.deterministic.fill_uninitialized_memory = False  # saves time: no code reads such memory
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False


@contextlib.contextmanager
def without_onednn() -> Iterator[None]:
    """Disable oneDNN: its LSTM sums in blocks that depend on the processor's caches, so results differ."""
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before


def step_seed(seed: int, *ids: int | str) -> int:
    """Return a torch seed, in [0, 2^63), from `seed` and a path of stable identifiers."""
    return int(stream(seed, *ids).integers(2**63))


def generator(seed: int, *ids: int | str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return a torch generator for `seed` and stable identifiers; its numbers depend on the device type."""
    return torch.Generator(device).manual_seed(step_seed(seed, *ids))


class _WithoutInitialisation(TorchFunctionMode):
    """Skip the functions of `torch.nn.init`, which load a compiler (1 s) on tensors without values."""

    def __torch_function__(
        self, function: Callable, types: Sequence[type], args: Sequence = (), kwargs: Mapping | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Create modules with tensor shapes but no memory; torch's global random state does not change."""
    with torch.device("meta"), _WithoutInitialisation():
        yield
