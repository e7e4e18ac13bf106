"""A server on this machine that answers as it is told."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[int]:
    """Answer with a handler, in threads; yield the port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextlib.contextmanager
def served(*answers: Answer) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Give one answer after the other, then always the last; yield the address and the requests."""
    asked: list[dict[str, str]] = []
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with lock:
                answer = answers[min(len(asked), len(answers) - 1)]
                asked.append({"path": self.path, **self.headers})
            self.close_connection = True
            answer(self)

        def log_message(self, *_) -> None:
            pass

    with serving(Handler) as port:
        yield f"http://127.0.0.1:{port}/file", asked


def file(
    data: bytes, cut: int | None = None, announced: int | None = None, resumes: bool = False, tag: str = ""
) -> Answer:
    """Send a file; perhaps end the connection `cut` bytes into it, or begin where the request says."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        start = request.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-")
        same = request.headers.get("If-Range", tag) == tag
        begin = int(start) if resumes and same else 0
        request.send_response(206 if begin else 200)
        if begin:
            request.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        if tag:
            request.send_header("ETag", tag)
        request.send_header("Content-Length", str(announced or len(data) - begin))
        request.end_headers()
        request.wfile.write(data[begin:cut])

    return answer


def endless(request: BaseHTTPRequestHandler) -> None:
    """Send zeros without saying how many, until nobody reads them."""
    request.send_response(200)
    request.end_headers()
    with contextlib.suppress(OSError):
        while True:
            request.wfile.write(bytes(2**16))


def status(code: int) -> Answer:
    """Send nothing but a status."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def redirect(location: str, code: int = 302) -> Answer:
    """Lead to another address."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(code)
        request.send_header("Location", location)
        request.send_header("Connection", "close")
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def page(headers: dict[str, str], body: bytes = b"") -> Answer:
    """Send a page with some headers."""

    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def hang_up(request: BaseHTTPRequestHandler) -> None:
    """End the connection without a word."""
