"""The weights of a layered network, from a checkpoint that TensorFlow wrote (a "tensor bundle").

A checkpoint is two files. The index is a sorted table in LevelDB's format: blocks of keys, each of which
shares a prefix with the one before it; its values (protocol buffers) say where in the data file a variable
lies and of which type and shape it is. Blocks and variables have checksums (CRC-32C, masked), which are
compared. Only what these networks need is read: one data file, blocks without compression, 32-bit numbers.
"""

import io
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from biaslab.core.archives import write_zip
from biaslab.core.errors import InputError

_MAGIC = bytes.fromhex("57fb808b247547db")
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5  # of a block: its compression and its checksum
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5  # how protocol buffers write a field
_FLOAT32 = 1
_DTYPE, _SHAPE, _SHARD, _OFFSET, _SIZE, _CHECKSUM = range(1, 7)  # the fields of an entry
_DIMENSION, _LENGTH = 2, 1  # of a shape, and of one dimension in it
_POLYNOMIAL = 0x82F63B78

Fields = dict[int, list[int | bytes]]


class _RefusedError(Exception):
    """What such a checkpoint does not hold."""


def write_weights(files: Sequence[Path], target: Path) -> None:
    """Write the kernels (``W0``, ``W1``, …) and biases (``b0``, …) of a network as ``.npz``.

    Parameters
    ----------
    files : sequence of pathlib.Path
        The checkpoint's ``.index`` and its one ``.data`` file.
    target : pathlib.Path
        The file to write.

    Raises
    ------
    InputError
        When they are no such checkpoint, damaged, or do not hold a network of linear layers.
    """
    index, data = files
    tensors = read_checkpoint(index, data)
    arrays = {}
    for letter, kind in (("W", "kernel"), ("b", "bias")):
        number = 0
        while (name := f"linear{f'_{number}' if number else ''}/{kind}") in tensors:
            arrays[f"{letter}{number}.npy"] = _npy(tensors[name])
            number += 1
    if not arrays:
        raise InputError(f"{index}: holds no network of linear layers; get the registered file")
    write_zip(target, arrays.items())


def read_checkpoint(index: Path, data: Path) -> dict[str, np.ndarray]:
    """Return the 32-bit numbers of a TensorFlow checkpoint by the names of its variables.

    Raises
    ------
    InputError
        When the files are no such checkpoint, or their checksums are wrong.
    """
    try:
        entries = dict(_table(index.read_bytes()))
    except (_RefusedError, LookupError, ValueError, struct.error) as error:
        raise InputError(f"{index}: not the index of a TensorFlow checkpoint ({error}); refused") from error
    numbers = data.read_bytes()
    try:
        variables = {name.decode(): _fields(value) for name, value in entries.items() if name}
        if sum(_last(fields, _SIZE) for fields in variables.values()) > len(numbers):
            raise _RefusedError("its variables overlap, or it ends too early")
        return {name: _tensor(fields, numbers) for name, fields in variables.items()}
    except (_RefusedError, LookupError, ValueError, TypeError, struct.error) as error:
        raise InputError(f"{data}: not the data of {index.name} ({error}); refused") from error


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of some bytes."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked(crc: int) -> int:
    """Return a checksum as LevelDB and TensorFlow store it."""
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def _crc_of_byte(byte: int) -> int:
    for _ in range(8):
        byte = (byte >> 1) ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_CRC_TABLE = [_crc_of_byte(byte) for byte in range(256)]


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _tensor(entry: Mapping[int, list], data: bytes) -> np.ndarray:
    """Return the variable that an entry of the index is about."""
    dtype, shard = _last(entry, _DTYPE), _last(entry, _SHARD)
    if (dtype, shard) != (_FLOAT32, 0):
        raise _RefusedError("a variable of another type or in another file")
    offset, size = _last(entry, _OFFSET), _last(entry, _SIZE)
    dimensions = _fields(_last(entry, _SHAPE) or b"").get(_DIMENSION, [])
    shape = [_last(_fields(dimension), _LENGTH) for dimension in dimensions]
    content = data[offset : offset + size]
    if len(content) != size:
        raise _RefusedError("it ends too early")
    if masked(crc32c(content)) != _last(entry, _CHECKSUM):
        raise _RefusedError("wrong checksum")
    return np.frombuffer(content, "<f4").reshape(shape)


def _table(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values of a sorted table."""
    footer = data[-_FOOTER_BYTES:]
    if len(footer) != _FOOTER_BYTES or not footer.endswith(_MAGIC):
        raise _RefusedError("it does not end as one")
    numbers = _Varints(footer)
    numbers.handle()  # of a block about blocks: it is empty
    handles = [_Varints(value).handle() for _, value in _block(data, *numbers.handle())]
    if sum(size for _, size in handles) > len(data):
        raise _RefusedError("its blocks overlap")
    for handle in handles:
        yield from _block(data, *handle)


def _block(data: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield keys and values of the block at a place."""
    block = data[offset : offset + size + _TRAILER_BYTES]
    if len(block) != size + _TRAILER_BYTES:
        raise _RefusedError("a block is cut off")
    content, compression, (checksum,) = block[:size], block[size], struct.unpack("<I", block[size + 1 :])
    if masked(crc32c(block[: size + 1])) != checksum:
        raise _RefusedError("wrong checksum")
    if compression:
        raise _RefusedError("a block is compressed")
    (n_restarts,) = struct.unpack("<I", content[-4:])
    entries = _Varints(content[: size - 4 * (n_restarts + 1)])
    key = b""
    while entries.left():
        n_shared, n_own, n_value = entries.next(), entries.next(), entries.next()
        key = key[:n_shared] + entries.take(n_own)
        yield key, entries.take(n_value)


def _fields(message: bytes) -> Fields:
    """Return the fields of a protocol buffer by their numbers; numbers without a sign."""
    found: Fields = {}
    reader = _Varints(message)
    while reader.left():
        tag = reader.next()
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value = reader.next()
        elif kind == _BYTES:
            value = reader.take(reader.next())
        elif kind in (_FIXED32, _FIXED64):
            value = int.from_bytes(reader.take(4 if kind == _FIXED32 else 8), "little")
        else:
            raise _RefusedError("a field of an unknown kind")
        found.setdefault(number, []).append(value)
    return found


def _last(fields: Mapping[int, list], number: int) -> int | bytes:
    """Return the value of a field; 0, which is not written, where it is missing."""
    return fields[number][-1] if number in fields else 0


class _Varints:
    """Bytes with numbers among them, seven bits a byte, the lowest first."""

    def __init__(self, data: bytes):
        self._data, self._place = data, 0

    def left(self) -> int:
        return len(self._data) - self._place

    def next(self) -> int:
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number
            if shift > 63:
                raise _RefusedError("a number is too large")

    def handle(self) -> tuple[int, int]:
        """Return where a block begins and how long it is."""
        return self.next(), self.next()

    def take(self, size: int) -> bytes:
        if size > self.left():
            raise _RefusedError("it ends too early")
        self._place += size
        return self._data[self._place - size : self._place]
