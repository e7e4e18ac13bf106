"""NITF XML in monthly ``.tgz`` archives: the layout of the New York Times Annotated Corpus (LDC2008T19)."""

import contextlib
import os
import tarfile
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, fromstring

from biaslab.core.errors import InputError, number_of
from biaslab.embeddings.readers import common
from biaslab.embeddings.readers.common import Document, MeteredStream, open_stream


def read_archives(
    source: str | os.PathLike, say: Callable[[str], None] = warnings.warn
) -> Iterator[Document]:
    """Read the articles of one archive, or of all archives below a folder in the order of their paths.

    The archives are streamed, never extracted. The text is the ``full_text`` block (the lead paragraph block
    repeats its beginning), or all paragraphs of the body where there is none; ``date``, ``year`` and
    ``section`` (the online section, else the desk) are metadata. `say` receives how many members are no .xml.
    """
    source = Path(source)
    archives = common.files_below(source, (".tgz", ".tar.gz")) if source.is_dir() else [source]
    for archive in archives:
        yield from _read_archive(archive, say)


def _read_archive(archive: Path, say: Callable[[str], None]) -> Iterator[Document]:
    n_others = 0
    with open_stream(archive) as raw:
        stream = MeteredStream(raw, archive)
        try:
            with tarfile.open(fileobj=stream, mode="r|") as tar:
                while (member := tar.next()) is not None:
                    stream.start_document()
                    _refuse_unsafe(member, archive)
                    n_others += member.isreg() and not member.name.endswith(".xml")
                    if member.isreg() and member.name.endswith(".xml"):
                        where = f"{archive}: member {member.name}"
                        yield _document(tar.extractfile(member).read(), member.name, where)
                    tar.members.clear()  # it would otherwise remember every member
        except tarfile.TarError as error:
            raise InputError(f"{archive}: not a whole tar archive ({error}); get it again") from error
    if n_others:
        say(f"{archive}: {number_of(n_others, 'member')} left out, because the names do not end in .xml")


def _refuse_unsafe(member: tarfile.TarInfo, archive: Path) -> None:
    name = PurePosixPath(member.name)
    if name.is_absolute() or ".." in name.parts:
        raise InputError(f"{archive}: member {member.name} leads out of the archive; refused")
    if not (member.isreg() or member.isdir()):
        raise InputError(f"{archive}: member {member.name} is a link or a device; refused")
    if member.size > common.MAX_DOCUMENT_BYTES:
        raise InputError(
            f"{archive}: member {member.name} takes {member.size} bytes,"
            f" more than {common.MAX_DOCUMENT_BYTES}; refused"
        )


def _document(data: bytes, name: str, where: str) -> Document:
    root = _parse(data, where)
    identifier = _attribute(root, ".//doc-id", "id-string") or name
    title = _flat(root.find(".//hedline/hl1")) or _flat(root.find("./head/title")) or identifier
    body = ".//body.content"
    full_text = f"{body}/block[@class='full_text']"
    inside = full_text if root.find(full_text) is not None else body
    text = "\n".join(_flat(paragraph) for paragraph in root.findall(f"{inside}//p"))
    return Document(identifier, title, text, _metadata(root), where)


def _parse(data: bytes, where: str) -> Element:
    """Parse one file. The real ones name an external DTD, which is never loaded; entities are refused."""
    try:
        root = fromstring(data)
    except DefusedXmlException as error:
        raise InputError(f"{where} declares an entity; refused") from error
    except (ParseError, ValueError, LookupError) as error:
        raise InputError(f"{where} is not well-formed XML ({error})") from error
    if root.tag != "nitf":
        raise InputError(f"{where} is not NITF (its root is <{root.tag}>)")
    return root


def _metadata(root: Element) -> dict[str, str]:
    metadata = {}
    with contextlib.suppress(ValueError):  # an article without a proper date has none
        date = datetime.strptime(_attribute(root, ".//pubdata", "date.publication")[:8], "%Y%m%d")
        metadata |= {"date": date.date().isoformat(), "year": f"{date.year:04d}"}
    meta = {element.get("name"): element.get("content", "") for element in root.iterfind("./head/meta")}
    section = meta.get("online_sections") or meta.get("dsk")
    return metadata | ({"section": section} if section else {})


def _attribute(root: Element, path: str, name: str) -> str:
    element = root.find(path)
    return "" if element is None else element.get(name, "")


def _flat(element: Element | None) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
