"""Read archives (``.tar``, ``.tar.gz``, ``.zip``) with size limits, and write them without dates."""

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from biaslab.core.errors import InputError, one_line
from biaslab.core.files import DAMAGED_ZIP

DAMAGED_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)  # exceptions that gzip raises for a damaged file

_CHUNK_BYTES = 2**20
_GZIP = b"\x1f\x8b"
_UNIX = 3  # code of Unix in zip archives
_REMEDY = "take the published archive"


def open_unpacked(path: Path) -> BinaryIO:
    """Open a file for reading bytes; decompress it if it begins with the gzip signature."""
    with path.open("rb") as file:
        is_packed = file.read(len(_GZIP)) == _GZIP
    return gzip.open(path) if is_packed else path.open("rb")


def tar_files(path: Path, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file of a ``.tar`` or ``.tar.gz``, without writing files."""
    try:
        with open_unpacked(path) as file:
            stream = BoundedStream(
                file, max_bytes, f"{path}: unpacks to more than {max_bytes} bytes; {_REMEDY}"
            )
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    if not (member.isfile() or member.isdir()) or member.issparse():
                        raise InputError(f"{path}: has a link or a device in it; {_REMEDY}")
                    if member.isfile():
                        yield member.name, archive.extractfile(member).read()
            while stream.read(_CHUNK_BYTES):  # read up to the checksum at the end
                pass
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except (OSError, tarfile.TarError, *DAMAGED_GZIP) as error:
        raise InputError(f"{path}: not a readable .tar.gz ({one_line(error)}); {_REMEDY}") from error


def write_tar(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write a tar archive that depends only on the names and bytes of its files, not on their order."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        for name, data in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, BytesIO(data))


def zip_files(path: Path, max_bytes: int) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the bytes of each file of a ``.zip`` or ``.npz``, without writing files."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(member.file_size for member in archive.infolist()) > max_bytes:
                raise InputError(f"{path}: unpacks to more than {max_bytes} bytes; {_REMEDY}")
            for member in archive.infolist():
                yield member.filename, archive.read(member)  # at most the announced size
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; check the path") from error
    except (OSError, *DAMAGED_ZIP) as error:
        raise InputError(f"{path}: not a readable .zip ({one_line(error)}); {_REMEDY}") from error


def write_zip(path: Path, files: Iterable[tuple[str, bytes]]) -> None:
    """Write an uncompressed zip archive that depends only on the names and bytes of its files."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in sorted(files):
            member = zipfile.ZipInfo(name)
            member.create_system, member.external_attr = _UNIX, 0o644 << 16
            archive.writestr(member, data)


class BoundedStream:
    """A stream that raises InputError with `problem` if more than `max_bytes` are read before a restart."""

    def __init__(self, stream: BinaryIO, max_bytes: int, problem: str):
        self._stream, self._max_bytes, self._problem, self._spent = stream, max_bytes, problem, 0

    def restart(self) -> None:
        """Reset the count of bytes."""
        self._spent = 0

    def read(self, size: int) -> bytes:
        """Read at most `size` bytes."""
        data = self._stream.read(size)
        self._spent += len(data)
        if self._spent > self._max_bytes:
            raise InputError(self._problem)
        return data
