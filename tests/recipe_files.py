"""Made-up files in the formats that recipes read: a pickled clustering and a TensorFlow checkpoint."""

import struct
from collections.abc import Mapping

import numpy as np


def _text(word: str) -> bytes:
    return b"X" + struct.pack("<I", len(word)) + word.encode()


def _number(number: int) -> bytes:
    """Write a whole number as pickle does; what needs more than 32 bits by an opcode that is not allowed."""
    return b"J" + struct.pack("<i", number) if abs(number) < 2**31 else b"M\xff\xff" * 2


def _array(values: np.ndarray, shape: tuple[int, ...], kind: str) -> bytes:
    """Write an array as joblib did: a wrapper that tells its form, and then its bytes."""
    dtype = b"cnumpy\ndtype\n" + _text(kind) + b"K\x00K\x01\x87R(K\x03" + _text("<")
    dtype += b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    form = b"(" + b"".join(map(_number, shape)) + b"t"
    wrapper = b"csklearn.externals.joblib.numpy_pickle\nNumpyArrayWrapper\n)\x81}("
    wrapper += _text("subclass") + b"cnumpy\nndarray\n" + _text("shape") + form + _text("order") + _text("C")
    return wrapper + _text("dtype") + dtype + _text("allow_mmap") + b"\x88ub" + values.tobytes()


def clustering(labels: np.ndarray, n_rows: int | None = None, kind: str = "") -> bytes:
    """Return a pickled k-means clustering, perhaps with other rows announced, or another kind of number."""
    shape = labels.shape if n_rows is None else (n_rows,)
    fit = (
        b"\x80\x03csklearn.cluster.k_means_\nKMeans\nq\x00)\x81q\x01}q\x02(" + _text("n_clusters") + b"K\x04"
    )
    fit += _text("init") + b"q\x03" + _text("k-means++") + _text("tol") + b"G" + struct.pack(">d", 1e-4)
    fit += _text("n_jobs") + b"N" + _text("again") + b"h\x03"
    return fit + _text("labels_") + _array(labels, shape, kind or labels.dtype.str[1:]) + b"ub."


def _varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def _field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _block(items: Mapping[bytes, bytes], compression: int = 0) -> bytes:
    """Write a block of a sorted table, a key by what it does not share with the one before."""
    out, before = b"", b""
    for key, value in sorted(items.items()):
        shared = next((i for i, (a, b) in enumerate(zip(key, before, strict=False)) if a != b), None)
        shared = min(len(key), len(before)) if shared is None else shared
        out += _varint(shared) + _varint(len(key) - shared) + _varint(len(value)) + key[shared:] + value
        before = key
    return out + struct.pack("<II", 0, 1) + bytes([compression]) + bytes(4)


def checkpoint(
    variables: Mapping[str, np.ndarray],
    *,
    n_files: int = 1,
    dtype: int = 1,
    shard: int = 0,
    size: int | None = None,
    offset: int | None = None,
    compression: int = 0,
    magic: bytes = bytes.fromhex("57fb808b247547db"),
) -> tuple[bytes, bytes]:
    """Return the index and the data of a checkpoint, perhaps with something wrong in it."""
    data, entries = b"", {b"": _field(1, n_files)}
    for name, values in variables.items():
        content = values.tobytes()
        shape = b"".join(_field(2, _field(1, length)) for length in values.shape)
        entry = _field(1, dtype) + _field(2, shape) + _field(3, shard)
        entry += _field(4, len(data) if offset is None else offset)
        entry += _field(5, len(content) if size is None else size)
        entries[name.encode()] = entry + _varint(6 << 3 | 5) + bytes(4)  # of a checksum
        data += content
    block = _block(entries, compression)
    handle = _varint(0) + _varint(len(block) - 5)
    rest, index = _block({}), _block({b"zzz": handle})
    footer = _varint(len(block)) + _varint(len(rest) - 5)
    footer += _varint(len(block) + len(rest)) + _varint(len(index) - 5)
    return block + rest + index + footer.ljust(40, b"\0") + magic, data
