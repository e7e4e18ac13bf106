"""Download the archive of a run from an https address or a DOI."""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin, urlsplit

from biaslab.core.errors import InputError
from biaslab.run.data.download import answered, attempt, check_address, check_link, download
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate import ARCHIVE

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


def fetch_archive(address: str, folder: Path, max_bytes: int, say: Callable[[str], None]) -> Path:
    """Download the archive of a run to a folder of archives, unless it is there, and return its file.

    The address is https or a DOI; an appended ``#sha256=DIGEST`` is checked before the archive is opened.
    """
    place, _, sha256 = address.partition(_DIGEST)
    if _DIGEST in address and not re.fullmatch("[0-9a-f]{64}", sha256):
        raise InputError(f"{address}: '{sha256}' not a SHA-256; write 64 hexadecimal digits")
    doi = _DOI.fullmatch(place)
    url = _find_archive(f"{RESOLVER}{doi[1]}", say) if doi else place
    last = PurePosixPath(urlsplit(url).path).name
    name = last if re.fullmatch(rf"[\w.-]{{1,100}}\{ARCHIVE}", last) else f"crate{ARCHIVE}"
    file = folder / hashlib.sha256(f"{url}{sha256}".encode()).hexdigest()[:16] / name
    download(url, file, name=name, sha256=sha256, max_bytes=max_bytes, say=say)
    if not sha256:
        say(f"{name}: not checked; '{_DIGEST}{sha256_file(file)}' after its address pins the downloaded file")
    return file


def _find_archive(url: str, say: Callable[[str], None]) -> str:
    """Return the address of the only archive of a DOI, from the typed links of its page (Signposting).

    The page links its files (``rel="item"``), or a set of links to its files (``rel="linkset"``).
    """
    check_address(url)
    links = attempt(url, url, lambda: _links_of_page(url), say)
    sets = [link["url"] for link in links if link["rel"] == "linkset" and link["type"] == _LINKSET]
    if not any(link["rel"] == "item" for link in links) and sets:
        check_link(url, sets[0])
        links = attempt(sets[0], url, lambda: _links_of_set(sets[0]), say)
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


def _links_of_page(url: str) -> list[dict[str, str]]:
    """Return the typed links of a page, with absolute addresses."""
    from requests.utils import parse_header_links

    with answered(url, {}) as answer:
        links = parse_header_links(answer.headers.get("Link", ""))
        return [{"rel": "", "type": "", **link, "url": urljoin(answer.url, link["url"])} for link in links]


def _links_of_set(url: str) -> list[dict[str, str]]:
    """Return the typed links of a set (RFC 9264), with absolute addresses."""
    data = b""
    with answered(url, {"Accept": _LINKSET}) as answer:
        for part in answer.iter_content(_MAX_LINKS):
            data += part
            if len(data) > _MAX_LINKS:
                break
    try:
        links = [link for context in json.loads(data)["linkset"] for link in context.get("item", [])]
        return [
            {"rel": "item", "type": link.get("type", ""), "url": urljoin(answer.url, link["href"])}
            for link in links
        ]
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise InputError(f"{url}: the set of links is not readable; name the address of a file") from error
