"""Files from the web: bounded, tried several times, resumed, and complete or absent.

What arrives lies next to its final name with the suffix ``.part`` until its size and its checksum are the
expected ones. Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``).
"""

import contextlib
import ipaddress
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import responses
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar
from urllib.parse import urljoin, urlsplit

from biaslab.core.errors import InputError
from biaslab.run.locked_folder import locked_folder
from biaslab.run.provenance import sha256_file

if TYPE_CHECKING:
    from requests import Response

WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further attempt."""

_T = TypeVar("_T")
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 2**18
_NO_SUCH_RANGE = 416
_OUT_OF_ORDER = frozenset({408, 425, 429, 500, 502, 503, 504})  # another attempt may succeed


class UnreachableError(InputError):
    """The server cannot be reached at all, so that its other files need not be tried."""


class _BrokenError(Exception):
    """Another attempt may succeed."""


class _RangeError(_BrokenError):
    """What has arrived is not the beginning of the file."""


def download(
    url: str,
    target: Path,
    *,
    name: str,
    size: int | None = None,
    sha256: str = "",
    max_bytes: int = 0,
    say: Callable[[str], None] = lambda line: None,
    insecure: bool = False,
) -> None:
    """Download a file if it is missing. Of several processes one downloads, and the others wait.

    No more than its `size` is ever read or written, or `max_bytes` if the size is not known. With a checksum
    a download that another process began is resumed. `insecure` allows http as well, for servers on this
    machine. `UnreachableError` means that there is no connection.
    """
    from rich.filesize import decimal  # planning a run needs the packages of Snakemake alone

    check_address(url, insecure)
    if target.is_file():  # also where nothing can be written
        return
    with locked_folder(target.parent):
        if target.is_file():
            return
        say(f"downloading {name}{'' if size is None else f' ({decimal(size)})'} from {url}")
        part = target.with_name(f"{target.name}.part")
        try:
            if not sha256:
                part.unlink(missing_ok=True)
            transfer = _Transfer(url, part, name, size, max_bytes if size is None else size, bool(sha256))
            attempt(url, name, transfer.receive, say)
            _check(url, part, sha256)
            part.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise InputError(
                f"cannot write {target}: {error.strerror or error}; free space or choose another folder"
            ) from error


def attempt(url: str, name: str, action: Callable[[], _T], say: Callable[[str], None]) -> _T:
    """Return what an action on an address returns; try it again where that may help."""
    for wait in WAITS:
        try:
            return action()
        except _BrokenError as error:
            say(f"{name}: {error}; trying again in {wait:g} s")
            time.sleep(wait)
    try:
        return action()
    except _BrokenError as error:
        tries = len(WAITS) + 1
        raise InputError(f"{url}: cannot be downloaded in {tries} attempts ({error})") from error


def check_address(url: str, insecure: bool = False) -> None:
    """Refuse an address that is not https, or http where `insecure` allows that."""
    if urlsplit(url).scheme not in (("https", "http") if insecure else ("https",)):
        raise InputError(f"{url}: is no https address; correct it")


@contextlib.contextmanager
def answered(url: str, headers: dict[str, str]) -> Iterator["Response"]:
    """Yield what a server answers, redirects followed, before its content is read; for `attempt`."""
    import requests
    from urllib3.exceptions import MaxRetryError

    hooks = {"response": _check_redirect}
    headers = {"User-Agent": "biaslab", "Accept-Encoding": "identity", **headers}
    try:
        given = {"headers": headers, "hooks": hooks, "timeout": _TIMEOUT_SECONDS, "verify": _authorities()}
        with requests.get(url, stream=True, **given) as answer:
            if answer.status_code == _NO_SUCH_RANGE:
                raise _RangeError(f"the server answers {answer.status_code}")
            if answer.status_code in _OUT_OF_ORDER:
                raise _BrokenError(f"the server answers {answer.status_code}")
            if not answer.ok:
                reason = responses.get(answer.status_code, "unknown")
                raise InputError(f"{url}: the server answers {answer.status_code} ({reason})")
            yield answer
    except requests.TooManyRedirects as error:
        raise InputError(f"{url}: leads from address to address without end; refused") from error
    except requests.RequestException as error:
        cause = error.args[0] if error.args else error
        if isinstance(cause, MaxRetryError):  # which is raised before any connection
            server, reason = urlsplit(url).netloc, str(cause.reason).rpartition(": ")[2]
            reason = re.sub(r"['\"]\)+$", "", reason)  # of a proxy's error, which quotes another
            raise UnreachableError(f"{server}: no connection ({reason}); connect to the web") from error
        raise _BrokenError(f"no answer: {cause}") from error


def _authorities() -> str | bool:
    """Return where this machine keeps the certificates that it trusts; True for those of requests."""
    paths = ssl.get_default_verify_paths()  # which SSL_CERT_FILE and SSL_CERT_DIR may name
    has_folder = paths.capath is not None and bool(os.listdir(paths.capath))
    return paths.cafile or (paths.capath if has_folder else True)


@dataclass
class _Transfer:
    """A file on its way."""

    url: str
    part: Path
    name: str
    size: int | None
    limit: int
    can_resume: bool
    tag: str = ""  # what the server calls this version of the file

    def receive(self) -> None:
        """Receive the file, or what is missing of it."""
        there = self.part.stat().st_size if self.part.exists() else 0
        if not (self.can_resume or self.tag):
            there = 0
        headers = {"Range": f"bytes={there}-"} if there else {}
        if there and self.tag:
            headers["If-Range"] = self.tag
        try:
            with answered(self.url, headers) as answer:
                if not answer.headers.get("Content-Range", "").startswith(f"bytes {there}-"):
                    there = 0
                tag = answer.headers.get("ETag", "")
                self.tag = "" if tag.startswith("W/") else tag
                self._write(answer, there)
        except _RangeError:  # the whole file, when a process was killed before it moved it, or another one
            self.part.unlink(missing_ok=True)
            raise

    def _write(self, answer: "Response", there: int) -> None:
        from tqdm import tqdm

        announced = answer.headers.get("Content-Length", "")
        expected = there + int(announced) if announced.isdigit() else self.size
        if expected is not None and self.size not in (None, expected):
            raise self._refusal(f"{expected} bytes")
        with (
            self.part.open("ab" if there else "wb") as file,
            tqdm(
                total=expected, initial=there, unit="B", unit_scale=True, desc=self.name, disable=None
            ) as bar,
        ):
            for block in _blocks(answer):
                there += len(block)
                if there > self.limit:
                    raise self._refusal("more bytes")
                bar.update(file.write(block))
            _flush(file)
        if expected is not None and there < expected:
            raise _BrokenError(f"the connection ended after {there} of {expected} bytes")

    def _refusal(self, what: str) -> InputError:
        self.part.unlink(missing_ok=True)
        expected = f"at most {self.limit}" if self.size is None else f"{self.size}"
        return InputError(
            f"{self.url}: holds {what}, not the expected {expected} bytes; the file there is another one"
        )


def _blocks(answer: "Response") -> Iterator[bytes]:
    """Yield what arrives, as it is packed, until the connection ends."""
    from urllib3.exceptions import HTTPError

    try:
        yield from answer.raw.stream(_CHUNK_BYTES, decode_content=False)
    except HTTPError:  # how much has arrived is counted
        return


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _check(url: str, part: Path, sha256: str) -> None:
    measured = sha256_file(part) if sha256 else ""
    if measured != sha256:
        part.unlink()
        raise InputError(
            f"{url}: wrong checksum (sha256 {measured}, not {sha256}); what was downloaded is deleted, the"
            " file there is another one"
        )


def _check_redirect(answer: "Response", **_: object) -> None:
    if answer.is_redirect:
        check_link(answer.url, urljoin(answer.url, answer.headers["Location"]))


def check_link(origin: str, target: str) -> None:
    """Refuse to follow a server's address to another scheme, or from a public address to a private one.

    Otherwise a server outside could make this machine read its own files and ask its neighbours.
    """
    scheme = urlsplit(origin).scheme
    if urlsplit(target).scheme != scheme:
        raise InputError(f"{origin}: leads to {target}, which is not {scheme}; refused")
    if _is_private(target) and not _is_private(origin):
        raise InputError(f"{origin}: leads to {target}, an address that is not public; refused")


def _is_private(url: str) -> bool:
    """Tell whether a host is this machine or one of its network; False for a name that only a proxy knows."""
    with contextlib.suppress(OSError, ValueError):
        addresses = {entry[4][0] for entry in socket.getaddrinfo(urlsplit(url).hostname or "", None)}
        return not all(_is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses)
    return False


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return (getattr(address, "ipv4_mapped", None) or address).is_global
