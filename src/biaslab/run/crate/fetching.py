"""Download the archive of a run from an https address or a DOI."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from biaslab.core.errors import InputError
from biaslab.run.crate import ARCHIVE
from biaslab.run.download import answered, attempt, check_address, check_link, download
from biaslab.run.provenance import sha256_file

if TYPE_CHECKING:
    from requests import Response

RESOLVER = "https://doi.org/"
_DOI = re.compile(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_DIGEST = "#sha256="
_LINKSET = "application/linkset+json"
_ZIP = "application/zip"
_MAX_LINKS = 2**20  # maximum bytes of a set of links


def is_address(text: str) -> bool:
    """Return whether a text is an address or a DOI rather than a path."""
    return bool(_ADDRESS.fullmatch(text)) or (bool(_DOI.fullmatch(text)) and not Path(text).exists())


def fetch_archive(
    address: str,
    folder: Path,
    max_bytes: int,
    say: Callable[[str], None],
    *,
    insecure: bool = False,
) -> Path:
    """Download the archive of a run if it is not downloaded yet, and return its file.

    Parameters
    ----------
    address : str
        An https address or a DOI; an appended ``#sha256=DIGEST`` is checked before the archive is opened.
    folder : Path
        Folder of downloaded archives.
    max_bytes : int
        Maximum size of the download.
    insecure : bool
        Also allow http, for servers on this machine.
    """
    place, _, sha256 = address.partition(_DIGEST)
    if _DIGEST in address and not re.fullmatch("[0-9a-f]{64}", sha256):
        raise InputError(f"{address}: '{sha256}' not a SHA-256; write 64 hexadecimal digits")
    doi = _DOI.fullmatch(place)
    url = _find_archive(f"{RESOLVER}{doi[1]}", say, insecure) if doi else place
    last = PurePosixPath(urlsplit(url).path).name
    name = last if re.fullmatch(rf"[\w.-]{{1,100}}\{ARCHIVE}", last) else f"crate{ARCHIVE}"
    file = folder / hashlib.sha256(f"{url}{sha256}".encode()).hexdigest()[:16] / name
    download(url, file, name=name, sha256=sha256, max_bytes=max_bytes, say=say, insecure=insecure)
    if not sha256:
        say(f"{name}: not checked; '{_DIGEST}{sha256_file(file)}' after its address pins the downloaded file")
    return file


def _find_archive(url: str, say: Callable[[str], None], insecure: bool) -> str:
    """Return the address of the only archive of a DOI, from the typed links of its page (Signposting).

    The page links its files (``rel="item"``), or a set of links to its files (``rel="linkset"``).
    """
    check_address(url, insecure)
    links = attempt(url, url, lambda: _links(url), say)
    sets = [link["url"] for link in links if link["rel"] == "linkset" and link["type"] == _LINKSET]
    if not any(link["rel"] == "item" for link in links) and sets:
        check_link(url, sets[0])
        links = attempt(sets[0], url, lambda: _links(sets[0], is_set=True), say)
    items = [link for link in links if link["rel"] == "item"]
    archives = {
        link["url"] for link in items if link["type"] == _ZIP or urlsplit(link["url"]).path.endswith(ARCHIVE)
    }
    if len(archives) != 1:
        listing = f" ({', '.join(sorted(archives))})" if archives else ""
        raise InputError(
            f"{url}: its page links {len(archives)} archives{listing}, not one; name the https address of one"
        )
    archive = archives.pop()
    check_link(url, archive)
    return archive


def _links(url: str, is_set: bool = False) -> list[dict[str, str]]:
    """Return the typed links of a page or of a set of links, with absolute addresses."""
    from requests.utils import parse_header_links

    with answered(url, {"Accept": _LINKSET} if is_set else {}) as answer:
        if is_set:
            links = list(_links_of_set(url, _read_start(answer)))
        else:
            header_links = parse_header_links(answer.headers.get("Link", ""))
            links = [{"rel": "", "type": "", **link} for link in header_links]
        return [{**link, "url": urljoin(answer.url, link["url"])} for link in links]


def _read_start(answer: "Response") -> bytes:
    """Read a response up to slightly more than the maximum size of a set of links."""
    parts: list[bytes] = []
    for part in answer.iter_content(_MAX_LINKS):
        parts.append(part)
        if sum(map(len, parts)) > _MAX_LINKS:
            break
    return b"".join(parts)


def _links_of_set(url: str, data: bytes) -> Iterator[dict[str, str]]:
    """Yield the links of a set (RFC 9264)."""
    try:
        for context in json.loads(data)["linkset"]:
            for link in context.get("item", []):
                yield {"rel": "item", "type": link.get("type", ""), "url": link["href"]}
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{url}: the set of links is not readable; name the address of a file") from error
