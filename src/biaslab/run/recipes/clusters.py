"""The cluster of every row, from a clustering that scikit-learn fitted and joblib pickled.

The pickle is read, not loaded: its opcodes are followed on plain data, no name in it is ever looked up, and
an opcode, a name or an array that such a file does not need is refused.
"""

import io
import math
import pickletools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.core.errors import InputError

CLUSTERING = "sklearn.cluster.k_means_ KMeans"

_ARRAY = "sklearn.externals.joblib.numpy_pickle NumpyArrayWrapper"
_DTYPE, _SCALAR = "numpy dtype", "numpy.core.multiarray scalar"
_NAMES = frozenset({CLUSTERING, _ARRAY, _DTYPE, _SCALAR, "numpy ndarray"})
_KINDS = frozenset({"f8", "i4"})
_MARK = object()


@dataclass
class _Named:
    """What a name in the stream stands for: a word, and nothing that could be called."""

    name: str


@dataclass
class _Made:
    """What the stream would make of a name: the arguments, and the state that it would be given."""

    name: str
    arguments: tuple
    state: Any = None


class _RefusedError(Exception):
    """What no pickled clustering holds."""


def write_labels(files: Sequence[Path], target: Path) -> None:
    """Write the cluster of every row, one a line below the header ``cluster``."""
    (path,) = files
    lines = ["cluster", *map(str, read_labels(path)), ""]
    target.write_text("\n".join(lines), encoding="ascii", newline="\n")


def read_labels(path: Path) -> np.ndarray:
    """Return the labels of a pickled k-means clustering; nothing of it is executed."""
    try:
        made = _Reader(path.read_bytes()).read()
        if not (isinstance(made, _Made) and made.name == CLUSTERING and isinstance(made.state, dict)):
            raise _RefusedError("it holds no clustering")
        labels = made.state.get("labels_")
        if not (isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype == np.dtype("<i4")):
            raise _RefusedError("its labels_ are no list of whole numbers")
    except (_RefusedError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise InputError(f"{path}: not a pickled k-means clustering ({error}); refused") from error
    return labels


class _Reader:
    """Follows the opcodes of one stream."""

    def __init__(self, data: bytes):
        self._file = io.BytesIO(data)
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self) -> Any:
        """Return what the stream stands for."""
        for opcode, argument, place in pickletools.genops(self._file):
            if opcode.name == "STOP":
                if len(self._stack) != 1 or self._file.read(1):
                    raise _RefusedError("it goes on after its end")
                return self._stack.pop()
            if opcode.name not in _FOLLOWED:
                raise _RefusedError(f"opcode {opcode.name} at byte {place} is not allowed")
            _FOLLOWED[opcode.name](self, argument)
        raise _RefusedError("it has no end")

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def name(self, name: str) -> None:
        if name not in _NAMES:
            raise _RefusedError(f"the name {name[:80]!r} is not allowed")
        self._stack.append(_Named(name))

    def remember(self, key: int) -> None:
        self._memo[key] = self._stack[-1]

    def recall(self, key: int) -> None:
        self._stack.append(self._memo[key])

    def gather(self, count: int) -> None:
        self._stack[-count:] = [tuple(self._stack[-count:])]

    def since_mark(self) -> list[Any]:
        """Take what lies above the last mark."""
        above = []
        while (value := self._stack.pop()) is not _MARK:
            above.append(value)
        return above[::-1]

    def gather_marked(self, _: None) -> None:
        self._stack.append(tuple(self.since_mark()))

    def set_items(self, _: None) -> None:
        items = self.since_mark()
        if not isinstance(self._stack[-1], dict) or not all(isinstance(key, str) for key in items[::2]):
            raise _RefusedError("it sets items of what is no mapping of words")
        self._stack[-1].update(zip(items[::2], items[1::2], strict=True))

    def make(self, _: None) -> None:
        arguments, named = self._stack.pop(), self._stack.pop()
        if not (isinstance(named, _Named) and isinstance(arguments, tuple)):
            raise _RefusedError("it calls what is no name")
        self._stack.append(_Made(named.name, arguments))

    def build(self, _: None) -> None:
        """Give something its state; the numbers of an array follow in the stream."""
        state, made = self._stack.pop(), self._stack[-1]
        if not isinstance(made, _Made) or made.state is not None:
            raise _RefusedError("it gives a state to what has none")
        made.state = state
        if made.name == _ARRAY:
            self._stack[-1] = self._numbers(state)

    def _numbers(self, state: dict[str, Any]) -> np.ndarray:
        shape, kind = state["shape"], _kind(state["dtype"])
        is_shape = all(type(length) is int and length >= 0 for length in shape)
        if not is_shape or state["order"] not in ("C", "F"):
            raise _RefusedError("it has an array of another form")
        n_bytes = math.prod(shape) * kind.itemsize
        data = self._file.read(n_bytes)
        if len(data) != n_bytes:
            raise _RefusedError("an array is cut off")
        return np.frombuffer(data, kind).reshape(shape, order=state["order"])


def _kind(dtype: Any) -> np.dtype:
    """Return the type of an array's numbers."""
    is_known = isinstance(dtype, _Made) and dtype.name == _DTYPE and dtype.arguments[0] in _KINDS
    if not is_known or dtype.state[1] != "<":
        raise _RefusedError("it has an array of another kind of numbers")
    return np.dtype(f"<{dtype.arguments[0]}")


def _nothing(reader: _Reader, argument: Any) -> None:
    """Follow an opcode that changes nothing."""


_VALUES = ("BININT", "BININT1", "BININT2", "BINFLOAT", "BINUNICODE", "SHORT_BINBYTES")
_FOLLOWED: dict[str, Callable[[_Reader, Any], None]] = {
    "PROTO": _nothing,
    **dict.fromkeys(_VALUES, _Reader.push),
    "NONE": lambda reader, _: reader.push(None),
    "NEWTRUE": lambda reader, _: reader.push(True),
    "MARK": lambda reader, _: reader.push(_MARK),
    "EMPTY_DICT": lambda reader, _: reader.push({}),
    "EMPTY_TUPLE": lambda reader, _: reader.push(()),
    "TUPLE1": lambda reader, _: reader.gather(1),
    "TUPLE2": lambda reader, _: reader.gather(2),
    "TUPLE3": lambda reader, _: reader.gather(3),
    "TUPLE": _Reader.gather_marked,
    "SETITEMS": _Reader.set_items,
    "GLOBAL": _Reader.name,
    "BINPUT": _Reader.remember,
    "BINGET": _Reader.recall,
    "NEWOBJ": _Reader.make,
    "REDUCE": _Reader.make,
    "BUILD": _Reader.build,
}
"""What each opcode does to the stack; no other is allowed."""
