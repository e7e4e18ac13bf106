"""The sentences of de Gibert et al. 2018 from the archive of their repository."""

from collections.abc import Sequence
from pathlib import Path

from biaslab.core.archives import tar_files, write_tar

MAX_UNPACKED_BYTES = 2**26
"""The most that the archive may unpack to; the published one has 14 MB."""

_KEPT = ("LICENSE", "README.md", "annotations_metadata.csv", "all_files")


def keep_sentences(files: Sequence[Path], target: Path) -> None:
    """Write an archive of all sentences, their annotations and licence, without the authors' samples."""
    (archive,) = files
    members = tar_files(archive, MAX_UNPACKED_BYTES)
    write_tar(target, ((name, data) for name, data in members if _part(name) in _KEPT))


def _part(name: str) -> str:
    """Return the file or folder below the archive's one folder that a file is, or is in."""
    return name.partition("/")[2].partition("/")[0]
