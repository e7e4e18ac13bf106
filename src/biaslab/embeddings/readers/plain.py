"""Plain text: one document a line, or one file a document."""

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from biaslab.core.errors import InputError, number_of
from biaslab.embeddings.readers import common
from biaslab.embeddings.readers.common import Document


def read_text(path: str | os.PathLike, say: Callable[[str], None] = warnings.warn) -> Iterator[Document]:
    """Read a UTF-8 file, plain or compressed, whose lines are the documents.

    The id is the number of the line, from 1; `say` receives how many blank lines were skipped.
    """
    n_blank = 0
    for number, line in common.read_lines(path):
        if line.strip():
            yield Document(str(number), str(number), line)
        else:
            n_blank += 1
    if n_blank:
        say(f"{path}: {number_of(n_blank, 'blank line')} left out")


def read_folder(folder: str | os.PathLike, say: Callable[[str], None] = warnings.warn) -> Iterator[Document]:
    """Read every ``.txt`` file below a folder, in the order of the relative paths, which are the ids.

    `say` receives how many files of other names are left out.
    """
    folder = Path(folder)
    n_others = sum(path.is_file() and not path.name.endswith(".txt") for path in folder.rglob("*"))
    if n_others:
        say(f"{folder}: {number_of(n_others, 'file')} left out, because the names do not end in .txt")
    for path in common.files_below(folder, (".txt",)):
        if path.stat().st_size > common.MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{path}: larger than {common.MAX_DOCUMENT_BYTES} bytes; split it into documents"
            )
        name = path.relative_to(folder).as_posix()
        yield Document(name, name, common.decode(path.read_bytes(), str(path)))
