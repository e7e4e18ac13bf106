"""Files from the web: tried several times, checked, and whole or absent.

What arrives lies beside its final name with the suffix ``.part`` until it has the expected size and checksum.
Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``).
"""

import contextlib
import ipaddress
import os
import socket
import time
from collections.abc import Callable, Iterator
from http.client import HTTPException, HTTPMessage, HTTPResponse, responses
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from biaslab.core.errors import InputError
from biaslab.run.locked_folder import locked_folder
from biaslab.run.provenance import sha256_file

if TYPE_CHECKING:
    from tqdm import tqdm

WAITS = (1.0, 2.0, 4.0, 8.0)
"""Seconds before each further attempt."""

_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 2**18
_OUT_OF_ORDER = frozenset({408, 425, 429, 500, 502, 503, 504})  # what a server may get over
_UNITS = ("bytes", "kB", "MB", "GB")


class UnreachableError(InputError):
    """The server cannot be reached at all, so that its other files need not be tried."""


class _BrokenError(Exception):
    """What another attempt may fix."""


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
    """Download a file if it is not there. Of several processes one downloads, and the others wait.

    No more than its `size` is ever read or written, or `max_bytes` where size and checksum are not known.
    `insecure` allows http as well, for servers on this machine. `UnreachableError` says that there is no
    connection.
    """
    if urlsplit(url).scheme not in (("https", "http") if insecure else ("https",)):
        raise InputError(f"{url}: is no https address; correct it")
    if target.is_file():  # also where nothing can be written
        return
    with locked_folder(target.parent):
        if not target.is_file():
            _Download(url, target, name, size, sha256, max_bytes, say).run()


def in_words(size: int) -> str:
    """Return a size in bytes for people: ``664.6 kB``."""
    power = min(len(str(size)) - 1, 11) // 3
    return f"{size / 1000**power:.{1 if power else 0}f} {_UNITS[power]}"


class _Download:
    """One file on its way."""

    def __init__(
        self,
        url: str,
        target: Path,
        name: str,
        size: int | None,
        sha256: str,
        max_bytes: int,
        say: Callable[[str], None],
    ):
        self._url, self._target, self._name = url, target, name
        self._size, self._sha256, self._say = size, sha256, say
        self._limit = max_bytes if size is None else size
        self._part = target.with_name(f"{target.name}.part")
        self._opener = build_opener(_Redirects(url))

    def run(self) -> None:
        """Try until the file is whole, and move it to its place."""
        size = "" if self._size is None else f" ({in_words(self._size)})"
        self._say(f"downloading {self._name}{size} from {self._url}")
        try:
            self._try_often()
            self._part.replace(self._target)
        except OSError as error:
            raise InputError(
                f"cannot write {self._target}: {error.strerror or error}; free space or choose another folder"
            ) from error
        finally:
            with contextlib.suppress(OSError):
                self._part.unlink(missing_ok=True)

    def _try_often(self) -> None:
        for wait in WAITS:
            try:
                self._try()
                return
            except _BrokenError as error:
                self._say(f"{self._name}: {error}; trying again in {wait:g} s")
                time.sleep(wait)
        try:
            self._try()
        except _BrokenError as error:
            tries = len(WAITS) + 1
            raise InputError(f"{self._url}: cannot be downloaded in {tries} attempts ({error})") from error

    def _try(self) -> None:
        """Get the file, and check it."""
        with self._open() as response:
            self._receive(response)
        measured = sha256_file(self._part) if self._size is not None else self._sha256
        if measured != self._sha256:
            raise InputError(
                f"{self._url}: wrong checksum (sha256 {measured}, not {self._sha256}); what was downloaded is"
                " deleted, the file there is another one"
            )

    def _open(self) -> HTTPResponse:
        request = Request(self._url, headers={"User-Agent": "biaslab"})
        try:
            return self._opener.open(request, timeout=_TIMEOUT_SECONDS)
        except HTTPError as error:
            error.close()
            if error.code not in _OUT_OF_ORDER:
                reason = responses.get(error.code, "unknown")
                raise InputError(f"{self._url}: the server answers {error.code} ({reason})") from error
            raise _BrokenError(f"the server answers {error.code}") from error
        except URLError as error:
            if isinstance(error.reason, ConnectionResetError | BrokenPipeError):
                raise _BrokenError(str(error.reason)) from error
            server = urlsplit(self._url).netloc
            raise UnreachableError(f"{server}: no connection ({error.reason}); connect to the web") from error
        except (OSError, HTTPException) as error:
            raise _BrokenError(f"no answer: {error}") from error

    def _receive(self, response: HTTPResponse) -> None:
        announced = response.headers.get("Content-Length", "")
        expected = int(announced) if announced.isdigit() else self._size
        if expected is not None and self._size not in (None, expected):
            raise self._another(f"{expected} bytes")
        there = 0
        with self._part.open("wb") as file, self._progress() as progress:
            for block in _blocks(response):
                there += len(block)
                if there > self._limit:
                    raise self._another("more bytes")
                progress.update(file.write(block))
            _flush(file)
        if expected is not None and there < expected:
            raise _BrokenError(f"the connection ended after {there} of {expected} bytes")

    def _progress(self) -> "tqdm":
        from tqdm import tqdm  # what plans a run must do with the packages that Snakemake needs itself

        return tqdm(total=self._size, unit="B", unit_scale=True, desc=self._name, disable=None)

    def _another(self, what: str) -> InputError:
        expected = f"at most {self._limit}" if self._size is None else f"{self._size}"
        return InputError(
            f"{self._url}: holds {what}, not the expected {expected} bytes; the file there is another one"
        )


def _blocks(response: HTTPResponse) -> Iterator[bytes]:
    """Yield what arrives, until the connection ends."""
    try:
        while block := response.read1(_CHUNK_BYTES):
            yield block
    except (OSError, HTTPException) as error:
        raise _BrokenError(f"the connection broke: {error}") from error


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


class _Redirects(HTTPRedirectHandler):
    """Follows to public addresses of the same scheme; also to private ones if the first one was.

    Otherwise a server outside could make this machine read its own files and ask its neighbours.
    """

    def __init__(self, url: str):
        self._scheme, self._private_too = urlsplit(url).scheme, _is_private(url)

    def http_error_302(
        self, request: Request, answer: HTTPResponse, code: int, reason: str, headers: HTTPMessage
    ) -> HTTPResponse | None:
        """Follow, or raise InputError."""
        target = urljoin(request.full_url, headers.get("Location", ""))
        if urlsplit(target).scheme != self._scheme:
            raise InputError(f"{request.full_url}: leads to {target}, which is not {self._scheme}; refused")
        if not self._private_too and _is_private(target):
            raise InputError(f"{request.full_url}: leads to {target}, an address that is not public; refused")
        return super().http_error_302(request, answer, code, reason, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _is_private(url: str) -> bool:
    """Tell whether a host is this machine or one of its network; False for a name that only a proxy knows."""
    with contextlib.suppress(OSError, ValueError):
        addresses = {entry[4][0] for entry in socket.getaddrinfo(urlsplit(url).hostname or "", None)}
        return not all(_is_public(ipaddress.ip_address(address.partition("%")[0])) for address in addresses)
    return False


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return (getattr(address, "ipv4_mapped", None) or address).is_global
