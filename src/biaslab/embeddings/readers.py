"""Read corpus sources of every format, one document at a time in bounded memory."""

import contextlib
import io
import itertools
import os
import tarfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from xml.etree.ElementTree import Element
from xml.parsers import expat

import pyarrow as pa
from defusedxml.common import DefusedXmlException, DTDForbidden
from defusedxml.ElementTree import ParseError, fromstring, iterparse

from biaslab.core.archives import BoundedStream
from biaslab.core.errors import InputError, number_of, one_line, suggest
from biaslab.core.files import parse_json_object

MAX_DOCUMENT_BYTES = 64 * 2**20  # largest size of a decompressed document

_BUFFER_BYTES = 2**20
_COMPRESSIONS = {".gz": "gzip", ".tgz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_ENDS_TOO_EARLY = {
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
    )
}
_REDIRECT, _ELSEWHERE = "redirects", "outside the main namespace (such as talk pages)"


@dataclass(frozen=True)
class Document:
    """One text of a corpus, before tokenisation."""

    id: str  # identifier in the source: a page number, a line number, a file name
    title: str  # the id if the source has no titles
    text: str
    metadata: dict[str, str] = field(default_factory=dict)  # e.g. date, year, section
    where: str = field(default="", compare=False)  # the place in the source, for messages


def read_documents(
    source: str | os.PathLike, format: str, say: Callable[[str], None] = warnings.warn
) -> Iterator[Document]:
    """Read a corpus source document by document, a folder in the order of the sorted file names.

    ``mediawiki`` is an XML dump; ``jsonl``, an object per line with `id`, `text` and optionally `title`;
    ``text``, a document per line; ``folder``, a ``.txt`` file per document; ``nitf``, a folder of ``.tgz``
    archives of NITF XML, such as the New York Times Annotated Corpus. Files may be compressed: .gz, .bz2,
    .zst. At the end of the source, `say` receives a line with the count of each type of omission.
    """
    if format not in _READERS:
        raise InputError(
            f"unknown corpus format '{format}'{suggest(format, _READERS)} (known: {', '.join(_READERS)})"
        )
    return _READERS[format](source, say)


def read_text(path: str | os.PathLike, say: Callable[[str], None]) -> Iterator[Document]:
    """Read a UTF-8 file with a document per line; the id is the number of the line, from 1."""
    for number, line in _filled_lines(path, say):
        yield Document(str(number), str(number), line)


def read_folder(folder: str | os.PathLike, say: Callable[[str], None]) -> Iterator[Document]:
    """Read every ``.txt`` file below a folder, in the order of the relative paths, which are the ids."""
    folder = Path(folder)
    n_others = sum(path.is_file() and not path.name.endswith(".txt") for path in folder.rglob("*"))
    if n_others:
        say(f"{folder}: {number_of(n_others, 'file')} omitted, because the names do not end in .txt")
    for path in files_below(folder, (".txt",)):
        if path.stat().st_size > MAX_DOCUMENT_BYTES:
            raise InputError(
                f"{path}: the file is larger than {MAX_DOCUMENT_BYTES} bytes; split it into documents"
            )
        name = path.relative_to(folder).as_posix()
        yield Document(name, name, decode(path.read_bytes(), str(path)))


def read_json_lines(path: str | os.PathLike, say: Callable[[str], None]) -> Iterator[Document]:
    """Read a file with one JSON object per line.

    `id` (text or number) and `text` are required; `title` defaults to the id. All other keys with text, a
    number or a boolean are metadata.
    """
    left_out: Counter[str] = Counter()
    for number, line in _filled_lines(path, say):
        where = f"{path}, line {number}"
        record = parse_json_object(line, where, "id, title and text")
        identifier = str(_take(record, "id", (str, int), where))
        text = _take(record, "text", (str,), where)
        title = _take({"title": identifier} | record, "title", (str,), where)
        others = {key: value for key, value in record.items() if key not in ("id", "title", "text")}
        metadata = {key: str(value) for key, value in others.items() if isinstance(value, str | int | float)}
        left_out.update(others.keys() - metadata.keys())
        yield Document(identifier, title, text, metadata, where)
    for key, n in sorted(left_out.items()):
        say(
            f"{path}: the key '{key}' of {number_of(n, 'document')} is omitted, because its value is a list,"
            " an object or null"
        )


def _take(record: dict, key: str, types: tuple[type, ...], where: str) -> str | int:
    if key not in record:
        raise InputError(f"{where}: the key '{key}' is missing{suggest(key, record) or '; add the key'}")
    if not isinstance(record[key], types) or isinstance(record[key], bool):
        expected, found = types[0].__name__, type(record[key]).__name__
        raise InputError(f"{where}: the key '{key}': expected {expected}, found {found}; correct the value")
    return record[key]


def read_dump(path: str | os.PathLike, say: Callable[[str], None]) -> Iterator[Document]:
    """Read the articles of a ``pages-articles`` dump, single- or multistream: main namespace, no redirects.

    gensim's `filter_wiki` removes the markup. A dump without an article raises InputError.
    """
    from gensim.corpora.wikicorpus import IGNORED_NAMESPACES, filter_wiki

    elsewhere = tuple(f"{namespace}:" for namespace in IGNORED_NAMESPACES)
    n_pages, n_read, n_kept, left_out = 0, 0, 0, Counter()
    with open_stream(path) as stream:
        for n_pages, page in enumerate(_pages(_bounded(stream, path), path), 1):
            title = page.findtext("{*}title")
            if page.findtext("{*}ns", "0") != "0" or title.startswith(elsewhere):
                left_out[_ELSEWHERE] += 1
            elif page.find("{*}redirect") is not None:
                left_out[_REDIRECT] += 1
            else:
                markup = page.findtext("{*}revision/{*}text")
                text = filter_wiki(markup)
                n_read, n_kept = n_read + len(markup), n_kept + len(text)
                yield Document(
                    page.findtext("{*}id"), title, text, where=f"{path}: page {n_pages} ('{title}')"
                )
    counts = ", ".join(f"{reason} ({n:,})" for reason, n in left_out.most_common())
    if not n_pages:
        raise InputError(f"{path}: the dump contains no pages; give a pages-articles dump")
    if left_out.total() == n_pages:
        if len(left_out) == 1:
            raise InputError(
                f"{path}: all {number_of(n_pages, 'page')} are {next(iter(left_out))}; give a"
                " pages-articles dump"
            )
        raise InputError(f"{path}: no page is an article: {counts}; give a pages-articles dump")
    if left_out:
        say(f"{path}: pages omitted: {counts}")
    if n_kept < n_read:
        say(f"{path}: markup omitted: {n_read - n_kept:,} of {n_read:,} characters of the articles")


def _pages(stream: BoundedStream, path: str | os.PathLike) -> Iterator:
    """Yield each ``page`` element, and then release its memory; the root of the dump sets the namespace."""
    from gensim.corpora.wikicorpus import get_namespace

    root = None
    try:
        events = iterparse(stream, events=("start", "end"), forbid_dtd=True)
        _, root = next(events)
        page_tag = f"{{{get_namespace(root.tag)}}}page"
        for event, element in events:
            if event == "end" and element.tag == page_tag:
                if None in map(element.findtext, ("{*}title", "{*}id", "{*}revision/{*}text")):
                    raise InputError(f"{path}: a page has no title, id or text; give a pages-articles dump")
                yield element
                root.clear()
                stream.restart()
    except DTDForbidden as error:
        raise InputError(
            f"{path}: the file declares a DOCTYPE and is refused; give a MediaWiki dump, which has none"
        ) from error
    except ParseError as error:
        if root is None:
            problem = f"the file is not a MediaWiki dump ({error}); give the XML of pages-articles"
        else:
            state = "truncated" if error.code in _ENDS_TOO_EARLY else "damaged"
            problem = f"the dump is {state} ({error}); download it again"
        raise InputError(f"{path}: {problem}") from error
    except (ValueError, LookupError) as error:
        raise InputError(
            f"{path}: the file is not a MediaWiki dump ({error}); give the XML of pages-articles"
        ) from error


def read_archives(source: str | os.PathLike, say: Callable[[str], None]) -> Iterator[Document]:
    """Read the articles of one archive, or of all archives below a folder in the order of their paths.

    The archives are streamed, never extracted. The text is the ``full_text`` block, or all paragraphs of the
    body if that block is missing. The lead paragraph block is ignored, because it repeats the beginning.
    ``date``, ``year`` and ``section`` (online section, else desk) are metadata.
    """
    source = Path(source)
    archives = files_below(source, (".tgz", ".tar.gz")) if source.is_dir() else [source]
    for archive in archives:
        n_others = 0
        with open_stream(archive) as raw:
            stream = _bounded(raw, archive)
            try:
                with tarfile.open(fileobj=stream, mode="r|") as tar:
                    while (member := tar.next()) is not None:
                        stream.restart()
                        _refuse_unsafe(member, archive)
                        n_others += member.isreg() and not member.name.endswith(".xml")
                        if member.isreg() and member.name.endswith(".xml"):
                            where = f"{archive}: member {member.name}"
                            yield _nitf_document(tar.extractfile(member).read(), member.name, where)
                        tar.members.clear()  # tarfile would otherwise keep every member in memory
            except tarfile.TarError as error:
                raise InputError(
                    f"{archive}: the tar archive is incomplete or damaged ({error}); download it again"
                ) from error
        if n_others:
            say(f"{archive}: {number_of(n_others, 'member')} omitted, because the names do not end in .xml")


def _refuse_unsafe(member: tarfile.TarInfo, archive: Path) -> None:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise InputError(
            f"{archive}: member {member.name} points outside the archive and is refused; correct the archive"
        )
    if not (member.isreg() or member.isdir()):
        raise InputError(
            f"{archive}: member {member.name} is a link or a device and is refused; replace it with a file"
        )
    if member.size > MAX_DOCUMENT_BYTES:
        raise InputError(
            f"{archive}: member {member.name} has {member.size} bytes, more than {MAX_DOCUMENT_BYTES}, and is"
            " refused; split the member"
        )


def _nitf_document(data: bytes, name: str, where: str) -> Document:
    try:  # an external DTD, which real files name, is never loaded; entities are refused
        root = fromstring(data)
    except DefusedXmlException as error:
        raise InputError(f"{where} declares an entity and is refused; remove the entity") from error
    except (ParseError, ValueError, LookupError) as error:
        raise InputError(f"{where} is not well-formed XML ({error}); correct the member") from error
    if root.tag != "nitf":
        raise InputError(f"{where} is not NITF (its root is <{root.tag}>); give archives of NITF XML")
    identifier = _attribute(root, ".//doc-id", "id-string") or name
    title = _flat(root.find(".//hedline/hl1")) or _flat(root.find("./head/title")) or identifier
    body = ".//body.content"
    full_text = f"{body}/block[@class='full_text']"
    inside = full_text if root.find(full_text) is not None else body
    text = "\n".join(_flat(paragraph) for paragraph in root.findall(f"{inside}//p"))
    metadata = {}
    with contextlib.suppress(ValueError):  # no metadata if the date is missing or malformed
        date = datetime.strptime(_attribute(root, ".//pubdata", "date.publication")[:8], "%Y%m%d")
        metadata |= {"date": date.date().isoformat(), "year": f"{date.year:04d}"}
    meta = {element.get("name"): element.get("content", "") for element in root.iterfind("./head/meta")}
    if section := meta.get("online_sections") or meta.get("dsk"):
        metadata["section"] = section
    return Document(identifier, title, text, metadata, where)


def _attribute(root: Element, path: str, name: str) -> str:
    element = root.find(path)
    return "" if element is None else element.get(name, "")


def _flat(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())


@contextlib.contextmanager
def open_stream(path: str | os.PathLike) -> Iterator[io.BufferedReader]:
    """Open a file for reading, decompressed if it ends in ``.gz``, ``.tgz``, ``.bz2`` or ``.zst``.

    Concatenated compressed streams are read as one stream. Memory does not grow with the file.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: expected a file, found a folder; name a file or another format")
    try:
        raw = pa.input_stream(str(path), compression=_COMPRESSIONS.get(path.suffix.lower()))
        with io.BufferedReader(raw, _BUFFER_BYTES) as stream:
            if not stream.peek(1):
                raise InputError(f"{path}: the file is empty; download it again")
            yield stream
    except FileNotFoundError as error:
        raise InputError(f"{path}: the file does not exist; check the corpus source") from error
    except OSError as error:
        reason = one_line(error)
        state = "truncated" if "truncated" in reason.lower() else "unreadable"
        raise InputError(f"{path}: the file is {state} ({reason}); download it again") from error


def _filled_lines(path: str | os.PathLike, say: Callable[[str], None]) -> Iterator[tuple[int, str]]:
    """Yield the number (from 1) and the text of each non-blank line of a UTF-8 file."""
    n_blank = 0
    with open_stream(path) as stream:
        for number in itertools.count(1):
            line = stream.readline(MAX_DOCUMENT_BYTES + 1)
            if not line:
                break
            if len(line) > MAX_DOCUMENT_BYTES:
                raise InputError(
                    f"{path}, line {number}: the line is longer than {MAX_DOCUMENT_BYTES} bytes;"
                    " split it into documents"
                )
            text = decode(line, f"{path}, line {number}")
            if text.strip():
                yield number, text
            else:
                n_blank += 1
    if n_blank:
        say(f"{path}: {number_of(n_blank, 'blank line')} omitted")


def decode(data: bytes, where: str) -> str:
    """Decode UTF-8 bytes without their byte order mark."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: the text is not UTF-8 ({error.reason}); convert the file") from error


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """Return all files below `folder` that end in one of `suffixes`, sorted by relative path."""
    if not folder.is_dir():
        raise InputError(f"{folder}: the folder does not exist; check the corpus source")
    files = [p for p in folder.rglob("*") if p.name.endswith(suffixes) and p.is_file()]
    if not files:
        raise InputError(
            f"{folder}: the folder has no files that end in {' or '.join(suffixes)}; check the corpus source"
        )
    root = folder.resolve()
    for path in files:
        if not path.resolve().is_relative_to(root):
            raise InputError(f"{path}: the link points outside {folder}; copy the file instead")
    return sorted(files, key=lambda path: path.relative_to(folder).as_posix())


def _bounded(stream: BinaryIO, path: str | os.PathLike) -> BoundedStream:
    """Return a stream that refuses a document above `MAX_DOCUMENT_BYTES`; it restarts for each document."""
    problem = f"{path}: a document has more than {MAX_DOCUMENT_BYTES} bytes; remove or split it"
    return BoundedStream(stream, MAX_DOCUMENT_BYTES, problem)


_READERS = {
    "mediawiki": read_dump,
    "jsonl": read_json_lines,
    "text": read_text,
    "folder": read_folder,
    "nitf": read_archives,
}
