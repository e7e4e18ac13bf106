"""Extract the content of a data file, independent of how a host or mirror packed it.

Registered checksums and verified copies refer to the content. The content of a gzip file is its unpacked
data. The content of an archive is its files, sorted by name, without dates and owners.
"""

from collections.abc import Iterator
from pathlib import Path

from biaslab.core.archives import DAMAGED_GZIP, open_unpacked, tar_files, write_tar, write_zip, zip_files
from biaslab.core.errors import InputError, one_line

TAR, ZIP, PACKED = ".tar", (".npz", ".zip"), ".gz"
"""Suffixes of the registered names of archives, and of files that stay packed."""

_CHUNK_BYTES = 2**20


def copy_content(source: Path, target: Path, filename: str, n_bytes: int) -> None:
    """Write the content of a file; the registered `filename` determines how it is unpacked.

    A packed file may unpack to at most the registered `n_bytes`. An archive may unpack to twice as much,
    because another archive of the same files may have more headers.
    """
    if filename.endswith(TAR):
        write_tar(target, tar_files(source, 2 * n_bytes))
        return
    if filename.endswith(ZIP):
        write_zip(target, zip_files(source, 2 * n_bytes))
        return
    with target.open("wb") as copy:
        copy.writelines(_blocks(source, filename.endswith(PACKED), n_bytes))


def _blocks(path: Path, stays_packed: bool, n_bytes: int) -> Iterator[bytes]:
    """Yield the bytes of a file, unpacked unless `stays_packed`."""
    try:
        left = max(n_bytes, path.stat().st_size)
        with path.open("rb") if stays_packed else open_unpacked(path) as file:
            while data := file.read(_CHUNK_BYTES):
                left -= len(data)
                if left < 0:
                    raise InputError(f"{path}: unpacks to more than the registered {n_bytes} bytes; refused")
                yield data
    except DAMAGED_GZIP as error:
        raise InputError(
            f"{path}: the gzip file is damaged or cut off ({one_line(error)}); get it again"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from error
