"""What the readers share: the document, and streams that are bounded and fail in one line."""

import contextlib
import io
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from biaslab.core.errors import InputError, one_line

MAX_DOCUMENT_BYTES = 64 * 2**20
"""The most one document may take once it is decompressed."""

_BUFFER_BYTES = 2**20
_COMPRESSIONS = {".gz": "gzip", ".tgz": "gzip", ".bz2": "bz2", ".zst": "zstd"}


@dataclass(frozen=True)
class Document:
    """One text of a corpus, before tokenisation."""

    id: str  # the source's own name for it: a page number, a line number, a file name
    title: str  # the id where the source has no titles
    text: str
    metadata: dict[str, str] = field(default_factory=dict)  # e.g. date, year, section
    where: str = field(default="", compare=False)  # the place in the source, for messages


@contextlib.contextmanager
def open_stream(path: str | os.PathLike) -> Iterator[io.BufferedReader]:
    """Open a file for reading as it was before compression (``.gz``, ``.tgz``, ``.bz2``, ``.zst``, or none).

    Concatenated compressed streams are read as one; memory does not grow with the file.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder; this format reads a file")
    try:
        raw = pa.input_stream(str(path), compression=_COMPRESSIONS.get(path.suffix.lower()))
        with io.BufferedReader(raw, _BUFFER_BYTES) as stream:
            if not stream.peek(1):
                raise InputError(f"{path}: the file is empty; get it again")
            yield stream
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the corpus source") from error
    except OSError as error:
        reason = one_line(error)
        state = "truncated" if "truncated" in reason.lower() else "unreadable"
        raise InputError(f"{path}: the file is {state} ({reason}); get it again") from error


def read_lines(path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and the text of every line of a UTF-8 file, compressed or not."""
    with open_stream(path) as stream:
        for number in itertools.count(1):
            line = stream.readline(MAX_DOCUMENT_BYTES + 1)
            if not line:
                return
            if len(line) > MAX_DOCUMENT_BYTES:
                raise InputError(
                    f"{path}:{number}: the line is longer than {MAX_DOCUMENT_BYTES} bytes;"
                    " split it into documents"
                )
            yield number, decode(line, f"{path}:{number}")


def decode(data: bytes, where: str) -> str:
    """Return UTF-8 bytes as text, without a byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text ({error.reason}); convert it") from error


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return the files anywhere below `folder` that end in one of `suffixes`, sorted by relative path."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; check the corpus source")
    files = [p for p in folder.rglob("*") if p.name.endswith(suffixes) and p.is_file()]
    if not files:
        raise InputError(f"{folder}: no file ending in {' or '.join(suffixes)}; check the corpus source")
    root = folder.resolve()
    for path in files:
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{path}: the link leads out of {folder}; copy the file instead")
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


class MeteredStream:
    """A stream that refuses to deliver more than one document's worth of bytes between two documents."""

    def __init__(self, stream: BinaryIO, path: str | os.PathLike):
        self._stream, self._path, self._spent = stream, path, 0

    def start_document(self) -> None:
        """Begin to count again."""
        self._spent = 0

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes."""
        data = self._stream.read(size)
        self._spent += len(data)
        if self._spent > MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{self._path}: a document takes more than {MAX_DOCUMENT_BYTES} bytes; remove or split it"
            )
        return data
