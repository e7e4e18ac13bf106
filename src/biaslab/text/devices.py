"""Where torch computes, with how many threads, its random numbers, and modules that are not drawn yet."""

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
    """Return the device that a configuration asks for; "auto" is CUDA where torch finds it, else the CPU."""
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
    """Fix the threads of one operation and let torch choose only algorithms that repeat bit for bit.

    With the same number of threads, everything has the same bytes every time. With another number, torch and
    its matrix library add up gradients in another order, and no setting of theirs prevents it. Measured with
    1 and 2 threads and two layers of MiniLM: predictions of given weights have the same bytes; a gradient
    differs by 3e-7 of the largest entry at most (tests allow 1e-6); after 5 training steps weights differ by
    2e-7 and scores by 5e-8. Who wants the same bytes on every machine of a kind trains with one thread, and
    runs trainings beside each other. Operations do not run beside each other.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA starts
    torch.set_num_threads(threads)
    if torch.get_num_interop_threads() != 1:
        with contextlib.suppress(RuntimeError):  # too late in this process: harmless, nothing uses them
            torch.set_num_interop_threads(1)
    torch.set_deterministic_debug_mode("error")  # use_deterministic_algorithms also imports a compiler: 1.5 s
    torch.utils.deterministic.fill_uninitialized_memory = False  # costs time and hides nothing we read
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False


@contextlib.contextmanager
def without_onednn() -> Iterator[None]:
    """Do without oneDNN: its LSTM adds up in blocks that fit the processor's caches, so its bytes differ."""
    before = torch.backends.mkldnn.enabled
    torch.backends.mkldnn.enabled = False
    try:
        yield
    finally:
        torch.backends.mkldnn.enabled = before


def step_seed(seed: int, *ids: int | str) -> int:
    """Return the seed of torch that belongs to `seed` and a path of stable identifiers, in [0, 2^63)."""
    return int(stream(seed, *ids).integers(2**63))


def generator(seed: int, *ids: int | str, device: torch.device | str = "cpu") -> torch.Generator:
    """Return torch's random numbers of `seed` and stable identifiers; those of two kinds of device differ."""
    return torch.Generator(device).manual_seed(step_seed(seed, *ids))


class _WithoutInitialisation(TorchFunctionMode):
    """Leaves out what `torch.nn.init` would do; on tensors without values that loads a compiler (1 s)."""

    def __torch_function__(
        self, function: Callable, types: Sequence[type], args: Sequence = (), kwargs: Mapping | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


@contextlib.contextmanager
def without_values() -> Iterator[None]:
    """Make modules whose tensors have shapes but no memory; torch's global random numbers stay the same."""
    with torch.device("meta"), _WithoutInitialisation():
        yield
