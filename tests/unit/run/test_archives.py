"""Archives of runs at addresses and behind DOIs, from a server on this machine."""

import hashlib
import json

import pytest

import web_data as web
from biaslab.core.errors import InputError
from biaslab.run.travel.crate import fetching
from biaslab.run.travel.crate.fetching import fetch_archive, is_address

DATA = bytes(range(256)) * 100
SHA256 = hashlib.sha256(DATA).hexdigest()
DOI = "10.5281/zenodo.123"
ITEM = (
    '<https://a.org/paper.pdf>; rel="item"; type="application/pdf",'
    ' </run.zip>; rel="item"; type="application/zip"'
)
TWO = f'{ITEM}, </b.zip>; rel="item"'
SET = {"Link": '</links>; rel="linkset"; type="application/linkset+json", </x>; rel="cite-as"'}

pytestmark = pytest.mark.usefixtures("waits")


@pytest.fixture
def resolver(monkeypatch):
    def use(url):
        monkeypatch.setattr(fetching, "RESOLVER", url.removesuffix("file"))

    return use


def fetch(address, folder, said=None, max_bytes=25_600):
    say = [].append if said is None else said.append
    return fetch_archive(address, folder, max_bytes, say)


def linkset(*items):
    return json.dumps({"linkset": [{"anchor": "https://a.org/1", "item": list(items)}]}).encode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://a.org/crate.zip", True),
        ("http://a.org/crate.zip#sha256=00", True),
        ("10.5281/zenodo.123", True),
        ("doi:10.5281/zenodo.123", True),
        ("https://doi.org/10.5281/zenodo.123", True),
        ("crate.zip", False),
        ("runs/10.5281", False),
        ("C:crate", False),
        (f"https://a.org/crate.zip?signature={'0' * 5000}", True),
    ],
)
def test_addresses_and_dois_are_told_from_paths(text, expected):
    assert is_address(text) is expected


def test_a_file_of_this_name_is_no_doi(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "10.5281").mkdir()
    (tmp_path / "10.5281/crate").write_text("")
    assert not is_address("10.5281/crate")


def test_an_archive_is_downloaded_once_and_its_digest_is_said(tmp_path):
    said = []
    with web.served(web.file(DATA)) as (url, asked):
        first = fetch(f"{url}/run.zip", tmp_path, said)
        assert fetch(f"{url}/run.zip", tmp_path) == first
    assert (first.name, first.read_bytes(), len(asked)) == ("run.zip", DATA, 1)
    assert f"#sha256={SHA256}" in said[-1]


def test_an_archive_of_an_endless_name_gets_a_short_one(tmp_path):
    with web.served(web.file(DATA)) as (url, _):
        assert fetch(f"{url}/{'x' * 400}.zip", tmp_path).name == "crate.zip"


def test_a_digest_is_checked_first(tmp_path):
    with web.served(web.file(DATA)) as (url, _):
        assert fetch(f"{url}#sha256={SHA256}", tmp_path).read_bytes() == DATA
        with pytest.raises(InputError, match="wrong checksum"):
            fetch(f"{url}#sha256={'0' * 64}", tmp_path)
        with pytest.raises(InputError, match="'12' not a SHA-256; write 64 hexadecimal digits"):
            fetch(f"{url}#sha256=12", tmp_path)


def test_no_more_than_the_limit_is_downloaded(tmp_path):
    with web.served(web.endless) as (url, _), pytest.raises(InputError, match="holds more bytes"):
        fetch(url, tmp_path, max_bytes=1000)


@pytest.mark.parametrize("prefix", ["", "doi:", "https://doi.org/"])
def test_a_doi_leads_to_the_archive_that_its_page_links(tmp_path, resolver, prefix):
    answers = web.redirect("/record"), web.page({"Link": ITEM}), web.file(DATA)
    with web.served(*answers) as (url, asked):
        resolver(url)
        assert fetch(f"{prefix}{DOI}", tmp_path).read_bytes() == DATA
    assert [request["path"] for request in asked] == [f"/{DOI}", "/record", "/run.zip"]


def test_a_doi_leads_to_the_archive_in_a_set_of_links(tmp_path, resolver):
    links = linkset({"href": "/a.pdf"}, {"href": "/files/run.zip/content", "type": "application/zip"})
    with web.served(web.page(SET), web.page({}, links), web.file(DATA)) as (url, asked):
        resolver(url)
        assert fetch(DOI, tmp_path).name == "crate.zip"
    assert asked[1]["Accept"] == "application/linkset+json"
    assert asked[2]["path"] == "/files/run.zip/content"


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([web.page({})], "links 0 archives, not one; name the https address of one"),
        ([web.page({"Link": TWO})], r"links 2 archives \(http.*b\.zip, .*run\.zip\)"),
        ([web.page(SET), web.page({}, b"{")], "the set of links is not readable"),
        ([web.page(SET), web.page({}, b"[" * 100_000)], "the set of links is not readable"),
        ([web.page(SET), web.page({}, linkset({"href": "/a" * 2**20}))], "the set of links is not readable"),
        ([web.page({"Link": '<file:///a.zip>; rel="item"'})], "leads to file:///a.zip, which is not http"),
        ([web.page({"Link": SET["Link"].replace("</links", "<ftp://a.org/links")})], "leads to ftp://a.org"),
        ([web.page(SET), web.page({}, b'{"linkset": [{"item": 1}]}')], "the set of links is not readable"),
        ([web.status(404)], r"the server answers 404"),
        ([web.status(503)], r"cannot be downloaded in 5 attempts \(the server answers 503\)"),
    ],
)
def test_pages_without_one_archive_are_refused(tmp_path, resolver, answers, message):
    with web.served(*answers) as (url, _):
        resolver(url)
        with pytest.raises(InputError, match=message):
            fetch(DOI, tmp_path)
