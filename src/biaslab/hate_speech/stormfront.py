"""Extract the sentences of de Gibert et al. 2018 from the archive of their repository."""

from collections.abc import Sequence
from pathlib import Path

from biaslab.core.archives import tar_files, write_tar

MAX_UNPACKED_BYTES = 2**26  # maximum unpacked size of the archive; the published archive has 14 MB

_KEPT = ("LICENSE", "README.md", "annotations_metadata.csv", "all_files")


def keep_sentences(files: Sequence[Path], target: Path) -> None:
    """Write an archive of all sentences with annotations and licence, without the authors' samples."""
    (archive,) = files
    members = tar_files(archive, MAX_UNPACKED_BYTES)
    # The second component of a path is a file or folder in the archive's top folder.
    parts = ((name.partition("/")[2].partition("/")[0], name, data) for name, data in members)
    write_tar(target, ((name, data) for part, name, data in parts if part in _KEPT))
