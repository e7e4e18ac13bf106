"""Read networks from TensorFlow 1 checkpoints ("bundles") without TensorFlow.

A bundle with the prefix P consists of two files. ``P.index`` is a LevelDB table: blocks of sorted keys with
shared prefixes, and a footer with the position of the blocks. The first key is empty and has the header.
Every other key is a variable with the position of its numbers in ``P.data-00000-of-00001``, where they are
stored as in memory. Checksums of blocks and variables are not verified, because the output of a recipe is
compared with the registered SHA-256.
"""

import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biaslab.core.archives import write_zip
from biaslab.core.errors import InputError

if TYPE_CHECKING:
    from biaslab.classifiers.networks import Network

__all__ = ["load_bundle"]

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER = 48
_MAX_INDEX, _MAX_DATA, _MAX_KEY = 2**18, 2**24, 256
"""Bytes, a hundred times the size of a network of a few thousand weights."""
_FLOAT = 1
_VARIABLE = re.compile(r"(?P<scope>.+?)(?:_(?P<number>[1-9]\d{0,3}))?/(?P<part>kernel|bias)")


class _Reader:
    """A cursor in bytes; reading beyond the end raises an error."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        return self._position == len(self._data)

    def take(self, n: int) -> bytes:
        if n > len(self._data) - self._position:
            raise ValueError("cut short")
        self._position += n
        return self._data[self._position - n : self._position]

    def varint(self) -> int:
        """Return an integer with seven bits a byte, the lowest first."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of more than ten bytes")


def load_bundle(prefix: Path) -> "Network":
    """Read a network from a TensorFlow 1 checkpoint.

    Parameters
    ----------
    prefix : Path
        The files' common prefix, without ``.index``. Layers are the variables ``NAME/kernel``, ``NAME/bias``,
        ``NAME_1/kernel`` and so on, as in the authors' published models. Other variables are skipped.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If a file is missing, too large, cut short or of another format, or its variables define no network.
    """
    return _read_bundle(*(Path(f"{prefix}{suffix}") for suffix in (".index", ".data-00000-of-00001")))


def write_weights(files: Sequence[Path], target: Path) -> None:
    """Write weights (``W0``, …) and biases (``b0``, …) of a bundle's ``.index`` and ``.data`` as ``.npz``."""
    network = _read_bundle(*files)
    members = []
    for kind, layers in (("W", network.weights), ("b", network.biases)):
        for number, array in enumerate(layers):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
            members.append((f"{kind}{number}.npy", buffer.getvalue()))
    write_zip(target, members)


def _read_bundle(index: Path, data: Path) -> "Network":
    from biaslab.classifiers.networks import Network

    index_bytes, data_bytes = _read(index, _MAX_INDEX), _read(data, _MAX_DATA)
    try:
        arrays = [_numbers(entry, data_bytes) for entry in _layers(_entries(index_bytes))]
        return Network(arrays[0::2], arrays[1::2])
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise InputError(
            f"{index}: not a complete bundle of one network in one data file ({error}); download it again"
        ) from error
    except InputError as error:
        raise InputError(f"{index}: {error}") from error


def _read(path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(limit + 1)
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name the bundle by its prefix"
        ) from error
    if len(content) > limit:
        raise InputError(f"{path}: more than {limit} bytes, too large for a bundle of a small network")
    return content


def _entries(index: bytes) -> dict[bytes, bytes]:
    """Return the entries of all variables; raise an error for an unknown header."""
    if index[-len(_MAGIC) :] != _MAGIC:
        raise ValueError("the last bytes are not those of an index")
    footer = _Reader(index[-_FOOTER:])
    footer.varint(), footer.varint()  # position of the table's properties, which are empty
    entries: dict[bytes, bytes] = {}
    for _, handle in _block(index, footer.varint(), footer.varint()):
        reader = _Reader(handle)
        entries.update(_block(index, reader.varint(), reader.varint()))
    header = dict(_fields(entries.pop(b"")))
    if header.get(1) != 1 or header.get(2, 0) != 0:
        raise ValueError("it is not one little-endian data file")
    return entries


def _block(index: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    if index[offset + size]:
        raise ValueError("the index is compressed")
    n_restarts = int.from_bytes(index[offset + size - 4 : offset + size], "little")
    reader = _Reader(index[offset : offset + size - 4 * (n_restarts + 1)])
    key = b""
    while not reader.is_at_end:
        shared, rest, length = reader.varint(), reader.varint(), reader.varint()
        key = key[:shared] + reader.take(rest)
        if len(key) > _MAX_KEY:
            raise ValueError(f"a key has more than {_MAX_KEY} bytes")
        yield key, reader.take(length)


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yield the numbers and values of the fields of a protocol buffer message."""
    reader = _Reader(message)
    while not reader.is_at_end:
        tag = reader.varint()
        match tag & 7:
            case 0:
                yield tag >> 3, reader.varint()
            case 2:
                yield tag >> 3, reader.take(reader.varint())
            case 5:
                yield tag >> 3, int.from_bytes(reader.take(4), "little")
            case _:
                raise ValueError("an entry has a field of an unknown type")


def _layers(entries: dict[bytes, bytes]) -> list[bytes]:
    """Return the entries of kernel and bias of each layer, one after the other."""
    layers: dict[int, dict[str, bytes]] = {}
    scopes = set()
    for name, entry in entries.items():
        if match := _VARIABLE.fullmatch(name.decode("utf-8", "replace")):
            scopes.add(match["scope"])
            layers.setdefault(int(match["number"] or 0), {})[match["part"]] = entry
    is_complete = len(scopes) == 1 and all(len(parts) == 2 for parts in layers.values())
    if not is_complete or sorted(layers) != list(range(len(layers))):
        raise ValueError("the variables are not NAME/kernel, NAME/bias, NAME_1/kernel, …")
    return [layers[number][part] for number in range(len(layers)) for part in ("kernel", "bias")]


def _numbers(entry: bytes, data: bytes) -> np.ndarray:
    """Return the numbers of a variable; its entry omits fields that are zero."""
    fields = dict(_fields(entry))
    if fields.get(1) != _FLOAT or fields.get(3, 0) or 7 in fields:
        raise ValueError("a variable is not one whole array of 32-bit floats")
    shape = [dict(_fields(dimension))[1] for number, dimension in _fields(fields[2]) if number == 2]
    offset = fields.get(4, 0)
    return np.frombuffer(data[offset : offset + fields[5]], "<f4").reshape(shape)
