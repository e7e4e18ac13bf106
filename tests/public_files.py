"""The public hosts of data files, played by a server on this machine: HTTPS, through a proxy.

What is tested asks for the registered addresses. `HTTPS_PROXY` and `SSL_CERT_FILE` lead it here.
"""

import contextlib
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from web_data import serving

HOSTS = ("raw.githubusercontent.com", "codeload.github.com")

Source = Callable[[str], bytes | None]
"""Returns what there is at HOST/PATH; None for nothing."""


def certificate(folder: Path) -> Path:
    """Make a key and a certificate of the hosts in one file; skip the test where there is no openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl for a certificate")
    key, made = folder / "key.pem", folder / "certificate.pem"
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    options = ["-nodes", "-days", "2", "-subj", "/CN=data", "-addext", f"subjectAltName={names}"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", *options]
    subprocess.run([*command, "-keyout", key, "-out", made], check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + made.read_bytes())
    return both


@contextlib.contextmanager
def hosts(pem: Path, source: Source) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Play the hosts; yield the environment that leads to them, and a list of what is asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self) -> None:
            self.send_response(200)
            self.end_headers()
            host = self.path.partition(":")[0]
            with contextlib.suppress(OSError):
                self.connection = context.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = (self.connection.makefile(mode) for mode in ("rb", "wb"))
                self.answer(host)
            self.close_connection = True

        def answer(self, host: str) -> None:
            path = self.rfile.readline().split()[1].decode()
            while self.rfile.readline().strip():
                pass
            asked.append(f"{host}{path}")
            data = source(f"{host}{path}")
            code, body = (404, b"") if data is None else (200, data)
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_) -> None:
            pass

    with serving(Handler) as port:
        proxy = f"http://127.0.0.1:{port}"
        yield {"HTTPS_PROXY": proxy, "https_proxy": proxy, "no_proxy": "", "SSL_CERT_FILE": str(pem)}, asked
