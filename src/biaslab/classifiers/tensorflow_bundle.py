"""Networks from TensorFlow 1 checkpoints ("bundles"), read without TensorFlow and without trusting the file.

A bundle with the prefix P is two files. ``P.index`` is a LevelDB table: sorted keys with shared prefixes
in blocks, and a footer that leads to them. Its first key, the empty one, has the header; every other one
is a variable and says where its numbers lie in ``P.data-00000-of-00001``, one after the other as they are
in memory. Blocks and variables carry checksums (CRC-32C).
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from biaslab.classifiers.networks import Network
from biaslab.core.archives import write_zip
from biaslab.core.errors import InputError

__all__ = ["load_bundle"]

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER, _TRAILER = 48, 5
_MAX_INDEX, _MAX_DATA, _MAX_KEY = 2**18, 2**24, 256
"""Bytes; a hundred times what a network of a few thousand weights takes."""
_FLOAT = 1
_VARIABLE = re.compile(r"(?P<scope>.+?)(?:_(?P<number>[1-9]\d{0,3}))?/(?P<part>kernel|bias)")


@dataclass(frozen=True)
class _Variable:
    """Where the numbers of a variable lie in the data file."""

    shape: tuple[int, ...]
    offset: int
    size: int
    checksum: int


class _Reader:
    """A cursor in bytes that it never leaves."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        return self._position == len(self._data)

    def take(self, n: int) -> bytes:
        if n > len(self._data) - self._position:
            raise InputError("the bundle's index is cut short or damaged; fetch it again")
        self._position += n
        return self._data[self._position - n : self._position]

    def varint(self) -> int:
        """Return a number of seven bits a byte, the lowest first."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise InputError("the bundle's index holds a number of more than ten bytes; fetch it again")


def load_bundle(prefix: Path) -> Network:
    """Read a network from a TensorFlow 1 checkpoint.

    Parameters
    ----------
    prefix : Path
        The files' common prefix, without ``.index``. Layers are the variables ``NAME/kernel``, ``NAME/bias``,
        ``NAME_1/kernel`` and so on, as in the authors' published models; those of the optimiser are skipped.

    Returns
    -------
    Network
        In float32.

    Raises
    ------
    InputError
        When a file is missing, larger than any such network, cut short, damaged or of another kind, or its
        variables make no network.
    """
    prefix = Path(prefix)
    return _read_bundle(
        *(prefix.with_name(prefix.name + suffix) for suffix in (".index", ".data-00000-of-00001"))
    )


def write_weights(files: Sequence[Path], target: Path) -> None:
    """Write weights (``W0``, …) and biases (``b0``, …) of a bundle's ``.index`` and ``.data`` as ``.npz``."""
    network = _read_bundle(*files)
    arrays = {"W": network.weights, "b": network.biases}
    write_zip(
        target,
        (
            (f"{kind}{i}.npy", _npy(array))
            for kind, layers in arrays.items()
            for i, array in enumerate(layers)
        ),
    )


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _read_bundle(index: Path, data: Path) -> Network:
    index_bytes, data_bytes = _read(index, _MAX_INDEX), _read(data, _MAX_DATA)
    try:
        layers = _layers(_variables(index_bytes))
    except InputError as error:
        raise InputError(f"{index}: {error}") from error
    try:
        arrays = _arrays([variable for layer in layers for variable in layer], data_bytes)
        return Network(arrays[0::2], arrays[1::2])
    except InputError as error:
        raise InputError(f"{data}: {error}") from error


def _read(path: Path, limit: int) -> bytes:
    """Return a file's bytes, but never more than `limit`."""
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


def _variables(index: bytes) -> dict[str, bytes]:
    """Return the entries of all variables; the header must be one that this module understands."""
    if index[-len(_MAGIC) :] != _MAGIC or len(index) < _FOOTER:
        raise InputError("not the index of a TensorFlow bundle, or cut short; fetch it again")
    footer = _Reader(index[-_FOOTER:])
    _block(index, footer.varint(), footer.varint())  # of table properties, of which there are none
    entries: dict[str, bytes] = {}
    left = len(index)
    for _, handle in _block(index, footer.varint(), footer.varint()):
        reader = _Reader(handle)
        offset, size = reader.varint(), reader.varint()
        left -= size
        if left < 0:
            raise InputError("the blocks of the index overlap; fetch it again")
        entries.update((key.decode("utf-8", "replace"), value) for key, value in _block(index, offset, size))
    header = dict(_fields(entries.pop("", b"")))
    if header.get(1) != 1 or header.get(2, 0) != 0:
        raise InputError("the bundle is not one little-endian data file; only such bundles are read")
    return entries


def _block(index: bytes, offset: int, size: int) -> list[tuple[bytes, bytes]]:
    """Return the keys and values of a block, whose checksum must be right."""
    end = offset + size + _TRAILER
    if end > len(index) - _FOOTER or size < 4:
        raise InputError("a block lies outside the index, which is cut short or damaged; fetch it again")
    compression = index[offset + size]
    if masked_crc32c(index[offset : offset + size + 1]) != int.from_bytes(index[end - 4 : end], "little"):
        raise InputError("the checksum of a block of the index is wrong; fetch it again")
    if compression:
        raise InputError("the index is compressed; only plain ones, as TensorFlow writes them, are read")
    n_restarts = int.from_bytes(index[offset + size - 4 : offset + size], "little")
    if 4 * (n_restarts + 1) > size:
        raise InputError("a block of the index is damaged; fetch it again")
    reader = _Reader(index[offset : offset + size - 4 * (n_restarts + 1)])
    entries: list[tuple[bytes, bytes]] = []
    key = b""
    while not reader.is_at_end:
        shared, rest, length = reader.varint(), reader.varint(), reader.varint()
        if shared > len(key) or shared + rest > _MAX_KEY:
            raise InputError("a key of the index is damaged; fetch it again")
        key = key[:shared] + reader.take(rest)
        entries.append((key, reader.take(length)))
    return entries


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
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
                raise InputError("an entry of the index is damaged; fetch it again")


def _layers(entries: dict[str, bytes]) -> list[tuple[_Variable, _Variable]]:
    found: dict[int, dict[str, _Variable]] = {}
    scopes = set()
    for name, entry in entries.items():
        match = _VARIABLE.fullmatch(name)
        if match:
            scopes.add(match["scope"])
            found.setdefault(int(match["number"] or 0), {})[match["part"]] = _variable(name, entry)
    numbers = sorted(found)
    if (
        len(scopes) != 1
        or numbers != list(range(len(numbers)))
        or any(len(parts) < 2 for parts in found.values())
    ):
        raise InputError(
            "the variables are not NAME/kernel, NAME/bias, NAME_1/kernel, …; no network is known"
        )
    return [(found[number]["kernel"], found[number]["bias"]) for number in numbers]


def _variable(name: str, entry: bytes) -> _Variable:
    """Return what a bundle's entry says about a variable of 32-bit floats."""
    # Numbers that are zero are left out.
    values: dict[int, int | bytes] = {1: 0, 2: b"", 3: 0, 4: 0, 5: 0, 6: 0, **dict(_fields(entry))}
    dtype, shape, shard, offset, size, checksum = (values[number] for number in range(1, 7))
    is_whole = dtype == _FLOAT and shard == 0 and 7 not in values
    if not (
        is_whole and isinstance(shape, bytes) and all(isinstance(v, int) for v in (offset, size, checksum))
    ):
        raise InputError(
            f"variable '{name}' is not one whole array of 32-bit floats; only such ones are read"
        )
    dimensions = [
        dict(_fields(d)).get(1, 0) for number, d in _fields(shape) if number == 2 and isinstance(d, bytes)
    ]
    n_numbers = 1
    for dimension in dimensions:
        n_numbers *= dimension if isinstance(dimension, int) else 0
    if not n_numbers or 4 * n_numbers != size:
        raise InputError(
            f"variable '{name}' has {size} bytes for the shape {tuple(dimensions)}; fetch it again"
        )
    return _Variable(tuple(dimensions), offset, size, checksum)


def _arrays(variables: list[_Variable], data: bytes) -> list[np.ndarray]:
    """Return the variables' numbers, whose checksums must be right."""
    if sum(v.size for v in variables) > len(data) or any(v.offset + v.size > len(data) for v in variables):
        raise InputError("cut short: it ends before the variables that the index lists; fetch it again")
    arrays = []
    for variable in variables:
        part = data[variable.offset : variable.offset + variable.size]
        if masked_crc32c(part) != variable.checksum:
            raise InputError("the checksum of a variable is wrong; fetch it again")
        arrays.append(np.frombuffer(part, "<f4").reshape(variable.shape))
    return arrays


def _table() -> list[int]:
    """Return the remainders of all bytes by the reflected Castagnoli polynomial."""
    remainders = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        remainders.append(value)
    return remainders


_REMAINDERS = _table()


def masked_crc32c(data: bytes) -> int:
    """Return the checksum of bytes as LevelDB and TensorFlow store it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _REMAINDERS[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
