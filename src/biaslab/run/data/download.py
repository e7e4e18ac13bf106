"""Download files from the web with size limits, retries and resumption; a file is complete or absent.

Data are written next to the target with the suffix ``.part`` until size and checksum are correct. Proxies are
taken from the environment (``HTTPS_PROXY``, ``NO_PROXY``).
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
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin, urlsplit

from biaslab.core.errors import InputError
from biaslab.run.life.lock import locked_folder
from biaslab.run.record.provenance import sha256_file

if TYPE_CHECKING:
    from requests import Response

SCHEMES = ("https",)  # the schemes of addresses that are allowed
WAITS = (1.0, 2.0, 4.0, 8.0)  # seconds before each retry

_T = TypeVar("_T")
_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 2**18
_NO_SUCH_RANGE = 416
_OUT_OF_ORDER = frozenset({408, 425, 429, 500, 502, 503, 504})  # a retry may succeed


class UnreachableError(InputError):
    """The server cannot be reached, so downloads of its other files are pointless."""


class _BrokenError(Exception):
    """A retry may succeed."""


class _RangeError(_BrokenError):
    """The partial file is not the beginning of the file."""


def download(
    url: str,
    target: Path,
    *,
    name: str,
    size: int | None = None,
    sha256: str = "",
    max_bytes: int = 0,
    say: Callable[[str], None] = lambda line: None,
) -> None:
    """Download a file if it is missing. If several processes need it, one downloads and the others wait.

    At most `size` bytes are read and written, or `max_bytes` if the size is unknown. With a checksum, the
    download of an earlier process is resumed. `UnreachableError` means that there is no connection.
    """
    from rich.filesize import decimal  # planning a run needs only the packages of Snakemake

    check_address(url)
    if target.is_file():  # works also on a read-only disk
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
            measured = sha256_file(part) if sha256 else ""
            if measured != sha256:
                part.unlink()
                raise InputError(
                    f"{url}: wrong checksum (sha256 {measured}, not {sha256}); the download is deleted, the"
                    " file there is another one"
                )
            part.replace(target)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise InputError(
                f"cannot write {target}: {error.strerror or error}; free space or choose another folder"
            ) from error


def attempt(url: str, name: str, action: Callable[[], _T], say: Callable[[str], None]) -> _T:
    """Call `action` and return its result; retry it after transient errors."""
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


def check_address(url: str) -> None:
    """Refuse an address that is not https."""
    if urlsplit(url).scheme not in SCHEMES:
        raise InputError(f"{url}: not an https address; correct it")


@contextlib.contextmanager
def answered(url: str, headers: dict[str, str]) -> Iterator["Response"]:
    """Yield the response of a server after redirects, before its content is read; for `attempt`."""
    import requests
    from urllib3.exceptions import MaxRetryError

    hooks = {"response": _check_redirect}
    headers = {"User-Agent": "biaslab", "Accept-Encoding": "identity", **headers}
    paths = ssl.get_default_verify_paths()  # respects SSL_CERT_FILE and SSL_CERT_DIR
    folder = paths.capath if paths.capath is not None and os.listdir(paths.capath) else None
    settings = {"hooks": hooks, "timeout": _TIMEOUT_SECONDS, "verify": paths.cafile or folder or True}
    try:
        with requests.get(url, stream=True, headers=headers, **settings) as answer:
            if answer.status_code == _NO_SUCH_RANGE:
                raise _RangeError(f"the server answers {answer.status_code}")
            if answer.status_code in _OUT_OF_ORDER:
                raise _BrokenError(f"the server answers {answer.status_code}")
            if not answer.ok:
                reason = responses.get(answer.status_code, "unknown")
                raise InputError(f"{url}: the server answers {answer.status_code} ({reason})")
            yield answer
    except requests.TooManyRedirects as error:
        raise InputError(f"{url}: too many redirects; refused") from error
    except requests.RequestException as error:
        cause = error.args[0] if error.args else error
        if isinstance(cause, MaxRetryError):  # raised before any connection
            server, reason = urlsplit(url).netloc, str(cause.reason).rpartition(": ")[2]
            reason = re.sub(r"['\"]\)+$", "", reason)  # quotes of a nested proxy error
            raise UnreachableError(f"{server}: no connection ({reason}); connect to the web") from error
        raise _BrokenError(f"no answer: {cause}") from error


@dataclass
class _Transfer:
    url: str
    part: Path
    name: str
    size: int | None
    limit: int
    can_resume: bool
    tag: str = ""  # the server's ETag of this version of the file

    def receive(self) -> None:
        """Receive the file, or its missing part."""
        received = self.part.stat().st_size if self.part.exists() else 0
        if not (self.can_resume or self.tag):
            received = 0
        headers = {"Range": f"bytes={received}-"} if received else {}
        if received and self.tag:
            headers["If-Range"] = self.tag
        try:
            with answered(self.url, headers) as answer:
                if not answer.headers.get("Content-Range", "").startswith(f"bytes {received}-"):
                    received = 0
                tag = answer.headers.get("ETag", "")
                self.tag = "" if tag.startswith("W/") else tag
                self._write(answer, received)
        except _RangeError:  # the part is complete (killed before the rename) or of another file
            self.part.unlink(missing_ok=True)
            raise

    def _write(self, answer: "Response", received: int) -> None:
        from tqdm import tqdm

        announced = answer.headers.get("Content-Length", "")
        expected = received + int(announced) if announced.isdigit() else self.size
        if expected is not None and self.size not in (None, expected):
            raise self._refusal(f"{expected} bytes")
        progress = {"total": expected, "initial": received, "desc": self.name, "disable": None}
        progress |= {"unit": "B", "unit_scale": True}
        with self.part.open("ab" if received else "wb") as file, tqdm(**progress) as bar:
            for block in _blocks(answer):
                received += len(block)
                if received > self.limit:
                    raise self._refusal("more bytes")
                bar.update(file.write(block))
            file.flush()
            os.fsync(file.fileno())
        if expected is not None and received < expected:
            raise _BrokenError(f"the connection ended after {received} of {expected} bytes")

    def _refusal(self, content: str) -> InputError:
        self.part.unlink(missing_ok=True)
        expected = f"at most {self.limit}" if self.size is None else f"{self.size}"
        return InputError(
            f"{self.url}: holds {content}, not the expected {expected} bytes; the file at the"
            " address has changed"
        )


def _blocks(answer: "Response") -> Iterator[bytes]:
    """Yield the raw bytes of a response until the connection ends."""
    from urllib3.exceptions import HTTPError

    try:
        yield from answer.raw.stream(_CHUNK_BYTES, decode_content=False)
    except HTTPError:  # the caller counts the received bytes
        return


def _check_redirect(answer: "Response", **_: object) -> None:
    if answer.is_redirect:
        check_link(answer.url, urljoin(answer.url, answer.headers["Location"]))


def check_link(origin: str, target: str) -> None:
    """Refuse to follow a server's address to another scheme, or from a public address to a private one.

    Otherwise an external server could make this machine read local files and query its own network.
    """
    scheme = urlsplit(origin).scheme
    if urlsplit(target).scheme != scheme:
        raise InputError(f"{origin}: leads to {target}, which is not {scheme}; refused")
    if _is_private(target) and not _is_private(origin):
        raise InputError(f"{origin}: leads to {target}, an address that is not public; refused")


def _is_private(url: str) -> bool:
    """Return whether a host is in a private network; False for a name that only a proxy resolves."""
    with contextlib.suppress(OSError, ValueError):
        entries = socket.getaddrinfo(urlsplit(url).hostname or "", None)
        addresses = [ipaddress.ip_address(entry[4][0].partition("%")[0]) for entry in entries]
        return not all((getattr(one, "ipv4_mapped", None) or one).is_global for one in addresses)
    return False
