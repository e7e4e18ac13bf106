"""Downloads from a server on this machine: whole, cut off, broken, and hostile."""

import hashlib
import multiprocessing
import socket
from http.server import BaseHTTPRequestHandler

import pytest

import refusals
import web_data as web
from biaslab.core.errors import InputError
from biaslab.run.data import download as module
from biaslab.run.data.download import UnreachableError, download

DATA = bytes(range(256)) * 1000
SHA256 = hashlib.sha256(DATA).hexdigest()
FILE = {"name": "mine", "size": len(DATA), "sha256": SHA256}
HTTPS = module.SCHEMES
UNKNOWN = {"size": None, "sha256": "", "max_bytes": len(DATA)}

pytestmark = pytest.mark.usefixtures("waits")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new/file.txt"


def refusal(url, target, **options):
    message = refusals.refusal(download, url, target, **FILE | options)
    assert not target.exists()
    return message


def left(target):
    return {path.name for path in target.parent.iterdir()} - {".lock"}


def test_a_whole_file_is_downloaded_once_and_its_size_is_said_before(target):
    said = []
    with web.served(web.file(DATA)) as (url, asked):
        download(url, target, **FILE, say=said.append)
        download(url, target, **FILE, say=said.append)
    assert target.read_bytes() == DATA
    assert left(target) == {"file.txt"}
    assert len(asked) == 1
    assert said == [f"downloading mine (256.0 kB) from {url}"]


@pytest.mark.parametrize("second", [web.file(DATA, resumes=True), web.file(DATA)])
def test_a_download_that_was_cut_off_is_resumed(target, waits, second):
    said = []
    with web.served(web.file(DATA, cut=100_000), second) as (url, asked):
        download(url, target, **FILE, say=said.append)
    assert target.read_bytes() == DATA
    assert [request.get("Range") for request in asked] == [None, "bytes=100000-"]
    assert said[1] == "mine: the connection ended after 100000 of 256000 bytes; trying again in 1 s"
    assert waits == [1.0]


@pytest.mark.parametrize("left", [DATA, DATA + b"more"])
def test_a_whole_or_too_long_beginning_does_not_keep_a_download_from_ending(target, waits, left):
    """A process was killed before it moved what it had downloaded: the server has nothing after that."""
    target.parent.mkdir()
    target.with_name("file.txt.part").write_bytes(left)
    with web.served(web.status(416), web.file(DATA)) as (url, asked):
        download(url, target, **FILE)
    assert target.read_bytes() == DATA
    assert (asked[0]["Range"], "Range" in asked[1], waits) == (f"bytes={len(left)}-", False, [1.0])


def test_a_download_that_a_killed_process_began_is_resumed(target):
    target.parent.mkdir()
    part = target.with_name("file.txt.part")
    part.write_bytes(DATA[:5000])
    with web.served(web.file(DATA, resumes=True)) as (url, asked):
        download(url, target, **FILE)
    assert (target.read_bytes(), asked[0]["Range"], left(target)) == (DATA, "bytes=5000-", {"file.txt"})


def test_the_beginning_of_another_file_is_never_part_of_a_download(target):
    target.parent.mkdir()
    part = target.with_name("file.txt.part")
    part.write_bytes(b"another")
    with web.served(web.file(DATA, resumes=True)) as (url, asked):
        assert "wrong checksum" in refusal(url, target)
        assert left(target) == set()
        part.write_bytes(b"another")
        download(url, target, **(FILE | UNKNOWN))  # nothing would show that it is another
    assert target.read_bytes() == DATA
    assert "Range" not in asked[1]


def test_a_file_that_has_changed_meanwhile_is_downloaded_anew(target, waits):
    """Without a checksum what has arrived counts only under the tag of the same version."""
    new = DATA[::-1]
    answers = web.file(DATA, cut=100_000, tag='"1"'), web.file(new, tag='"2"', resumes=True)
    with web.served(*answers) as (url, asked):
        download(url, target, **(FILE | UNKNOWN))
    assert target.read_bytes() == new
    assert (asked[1]["Range"], asked[1]["If-Range"]) == ("bytes=100000-", '"1"')


@pytest.mark.parametrize("broken", [web.status(503), web.status(429), web.hang_up, web.file(DATA, cut=0)])
def test_broken_twice_then_whole(target, waits, broken):
    with web.served(broken, broken, web.file(DATA)) as (url, asked):
        download(url, target, **FILE)
    assert target.read_bytes() == DATA
    assert (len(asked), waits) == (3, [1.0, 2.0])


def test_what_stays_broken_is_given_up(target, waits):
    with web.served(web.status(503)) as (url, asked):
        message = refusal(url, target)
    assert message == f"{url}: cannot be downloaded in 5 attempts (the server answers 503)"
    assert (len(asked), waits) == (5, [1.0, 2.0, 4.0, 8.0])


def test_wrong_bytes_are_deleted_and_said(target):
    with web.served(web.file(bytes(len(DATA)))) as (url, asked):
        message = refusal(url, target)
    assert message.startswith(f"{url}: wrong checksum (sha256 ")
    assert f"not {SHA256}); the download is deleted" in message
    assert left(target) == set()
    assert len(asked) == 1


def test_what_is_not_there_is_not_asked_for_again(target):
    with web.served(web.status(404)) as (url, asked):
        assert refusal(url, target) == f"{url}: the server answers 404 (Not Found)"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "options", "problem"),
    [
        (web.file(DATA + b"x"), {}, "256001 bytes, not the expected 256000 bytes"),
        (web.file(DATA[:-1]), {}, "255999 bytes, not the expected"),
        (web.file(DATA, announced=10**12), {}, "1000000000000 bytes, not the expected"),
        (web.endless, {}, "more bytes, not the expected"),
        (web.endless, UNKNOWN, "more bytes, not the expected at most 256000 bytes"),
    ],
)
def test_a_file_of_another_size_is_refused_and_no_more_is_kept(target, answer, options, problem):
    with web.served(answer) as (url, _):
        assert f"{url}: holds {problem}" in refusal(url, target, **options)
    assert left(target) == set()


def test_a_file_of_unknown_size_is_downloaded_anew_until_it_is_whole(target):
    said = []
    with web.served(web.file(DATA, cut=100_000), web.file(DATA)) as (url, asked):
        download(url, target, **(FILE | UNKNOWN), say=said.append)
    assert target.read_bytes() == DATA
    assert len(asked) == 2
    assert said[0] == f"downloading mine from {url}"
    assert "the connection ended after 100000 of 256000 bytes" in said[1]


@pytest.mark.parametrize(
    ("code", "location"),
    [
        (301, "file:///etc/passwd"),
        (302, "ftp://127.0.0.1/x"),
        (303, "https://127.0.0.1/x"),
        (307, "data:text/plain,x"),
        (308, "file:///etc/passwd"),
    ],
)
def test_a_redirect_to_another_scheme_is_refused(target, code, location):
    with web.served(web.redirect(location, code)) as (url, asked):
        message = refusal(url, target)
    assert message == f"{url}: leads to {location}, which is not http; refused"
    assert len(asked) == 1


def test_a_redirect_of_the_same_kind_is_followed_but_not_for_ever(target):
    with web.served(web.redirect("/elsewhere"), web.file(DATA)) as (url, asked):
        download(url, target, **FILE)
    assert [request["path"] for request in asked] == ["/file", "/elsewhere"]
    target.unlink()
    with web.served(web.redirect("/file")) as (url, _):
        assert "too many redirects" in refusal(url, target)


@pytest.mark.parametrize(
    "place", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "[::1]", "[::ffff:127.0.0.1]", "localhost", "0"]
)
def test_a_link_from_outside_to_this_network_is_refused(place):
    origin = "https://203.0.114.1/file"
    with pytest.raises(InputError, match="an address that is not public; refused"):
        module.check_link(origin, f"https://{place}/x")
    with pytest.raises(InputError, match="which is not https; refused"):
        module.check_link(origin, "http://203.0.114.2/")
    module.check_link(origin, "https://203.0.114.2/")


def test_only_https_is_taken(target, monkeypatch):
    monkeypatch.setattr(module, "SCHEMES", HTTPS)
    with web.served(web.file(DATA)) as (url, asked):
        for address in (url, "file:///etc/passwd"):
            assert "not an https address" in refusal(address, target)
    assert asked == []


def test_no_connection_is_not_tried_again(target, waits):
    with socket.socket() as deaf:  # has the port, so that no other process gets it, and does not listen
        deaf.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{deaf.getsockname()[1]}"
        with pytest.raises(UnreachableError, match=rf"^{place}: no connection \(.*refused\); connect"):
            download(f"http://{place}/file", target, **FILE)
    assert waits == []


def test_a_proxy_that_does_not_answer_is_named_in_plain_words(target, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    message = refusal("https://data.invalid/file", target)
    assert message == "data.invalid: no connection ([Errno 111] Connection refused); connect to the web"


def test_the_proxy_of_the_environment_is_used(target, monkeypatch):
    with web.served(web.file(DATA)) as (proxy, asked):
        monkeypatch.setenv("http_proxy", proxy.removesuffix("/file"))
        download("http://data.invalid/file", target, **FILE)
    assert asked[0]["path"] == "http://data.invalid/file"


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    (tmp_path / "new").write_text("")
    with web.served(web.file(DATA)) as (url, _), pytest.raises(InputError, match=r"cannot write .*/new: "):
        download(url, tmp_path / "new/file.txt", **FILE)


def test_what_is_there_is_used_where_nothing_can_be_written(target, monkeypatch):
    target.parent.mkdir()
    target.write_bytes(DATA)
    monkeypatch.setattr(module, "locked_folder", None)
    download("https://data.invalid/file", target, **FILE)


def test_a_full_disk_is_said(target, monkeypatch):
    def full(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with web.served(web.file(DATA)) as (url, _):
        assert refusal(url, target).startswith(f"cannot write {target}: No space left on device; free space")


def _slowly(request: BaseHTTPRequestHandler) -> None:
    import time

    time.sleep(0.3)
    web.file(DATA)(request)


def _in_a_process(url, target, failures):
    try:
        download(url, target, **FILE)
    except BaseException as error:
        failures.put(repr(error))
        raise


def test_of_two_processes_one_downloads(target):
    context = multiprocessing.get_context("fork")
    failures = context.Queue()
    with web.served(_slowly) as (url, asked):
        processes = [context.Process(target=_in_a_process, args=(url, target, failures)) for _ in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join(300)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(asked) == 1
    assert target.read_bytes() == DATA
