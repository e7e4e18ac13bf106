"""Corpus sources of every format, one document at a time in bounded memory."""

import os
import warnings
from collections.abc import Callable, Iterator

from biaslab.core.errors import InputError, suggest
from biaslab.embeddings.readers import jsonl, mediawiki, nitf, plain
from biaslab.embeddings.readers.common import Document

__all__ = ["Document", "read_documents"]

_READERS = {
    "mediawiki": mediawiki.read_dump,
    "jsonl": jsonl.read_json_lines,
    "text": plain.read_text,
    "folder": plain.read_folder,
    "nitf": nitf.read_archives,
}


def read_documents(
    source: str | os.PathLike, format: str, say: Callable[[str], None] = warnings.warn
) -> Iterator[Document]:
    """Read a corpus source document by document, a folder in the order of the sorted file names.

    ``mediawiki`` is an XML dump; ``jsonl``, an object a line with `id`, `text` and perhaps `title`; ``text``,
    a document a line; ``folder``, a ``.txt`` file a document; ``nitf``, a folder of ``.tgz`` of NITF XML, as
    the New York Times Annotated Corpus. Files may be compressed: .gz, .bz2, .zst. `say` receives a line for
    what the reader leaves out, with its count, once the source is read to its end.
    """
    if format not in _READERS:
        raise InputError(
            f"unknown corpus format '{format}'{suggest(format, _READERS)} (known: {', '.join(_READERS)})"
        )
    return _READERS[format](source, say)
