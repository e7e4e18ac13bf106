"""The content of a data file: what is left when it does not matter how a host or a mirror packed it.

A registered checksum is that of the content, and a verified copy is the content: of a file compressed by gzip
what it unpacks to, of an archive its files in the order of their names, without dates and owners.
"""

from collections.abc import Iterator
from pathlib import Path

from biaslab.core.archives import DAMAGED_GZIP, open_unpacked, tar_files, write_tar, write_zip, zip_files
from biaslab.core.errors import InputError, one_line

TAR, ZIP, PACKED = ".tar", (".npz", ".zip"), ".gz"
"""How the registered names of archives end, and those of files that stay packed."""

_CHUNK_BYTES = 2**20


def copy_content(source: Path, target: Path, filename: str, n_bytes: int) -> None:
    """Write the content of a file; its registered name tells whether it is an archive or stays packed.

    No packed file is unpacked to more than the registered `n_bytes`; an archive to twice as much, because
    another one of the same files may have more headers.
    """
    if filename.endswith(TAR):
        write_tar(target, tar_files(source, 2 * n_bytes))
        return
    if filename.endswith(ZIP):
        write_zip(target, zip_files(source, 2 * n_bytes))
        return
    with target.open("wb") as copy:
        copy.writelines(_blocks(source, filename.endswith(PACKED), n_bytes))


def _blocks(path: Path, as_it_is: bool, n_bytes: int) -> Iterator[bytes]:
    """Yield what a file holds; what it unpacks to, unless it is wanted as it is."""
    try:
        left = max(n_bytes, path.stat().st_size)
        with path.open("rb") if as_it_is else open_unpacked(path) as file:
            while data := file.read(_CHUNK_BYTES):
                left -= len(data)
                if left < 0:
                    raise InputError(f"{path}: unpacks to more than the registered {n_bytes} bytes; refused")
                yield data
    except DAMAGED_GZIP as error:
        raise InputError(f"{path}: not a whole gzip file ({one_line(error)}); get it again") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct its permissions") from error
