"""Plain text: one document a line, or one file a document."""

import os
from collections.abc import Iterator
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.embeddings.readers import common
from biaslab.embeddings.readers.common import Document


def read_text(path: str | os.PathLike) -> Iterator[Document]:
    """Read a UTF-8 file, plain or compressed, whose lines are the documents.

    The id is the number of the line, from 1; blank lines are counted and skipped.
    """
    for number, line in common.read_lines(path):
        if line.strip():
            yield Document(str(number), str(number), line)


def read_folder(folder: str | os.PathLike) -> Iterator[Document]:
    """Read every ``.txt`` file below a folder, in the order of the relative paths, which are the ids."""
    folder = Path(folder)
    for path in common.files_below(folder, (".txt",)):
        if path.stat().st_size > common.MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{path}: larger than {common.MAX_DOCUMENT_BYTES} bytes; split it into documents"
            )
        name = path.relative_to(folder).as_posix()
        yield Document(name, name, common.decode(path.read_bytes(), str(path)))
