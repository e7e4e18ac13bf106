"""Modules with shapes but without values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class _WithoutInitialisation(TorchFunctionMode):
    """Leaves out what `torch.nn.init` would do; on tensors without values that loads a compiler (1 s)."""

    def __torch_function__(
        self, function: Callable, types: Sequence[type], args: Sequence = (), kwargs: Mapping | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(function, "__module__", None) == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


@contextmanager
def without_values() -> Iterator[None]:
    """Make modules whose tensors have shapes but no memory; torch's global random numbers stay the same."""
    with torch.device("meta"), _WithoutInitialisation():
        yield
