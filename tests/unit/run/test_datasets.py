import gzip
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import web_data as web
from biaslab.cli import app
from biaslab.run.data import datasets
from refusals import refusal

REGISTRY = Path(__file__).parents[3] / "workflow/resources/datasets.tsv"
DATA = b"the registered bytes"
SHA256 = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def copy(tmp_path):
    def write(name, data=DATA):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    return write


def test_the_shipped_registry_is_valid_and_its_package_files_are_the_registered_ones(tmp_path):
    registry = datasets.load_registry(REGISTRY)
    assert {"enwiki-sample", "simplewiki-2021", "nyt-annotated-corpus", "questions-words"} <= set(registry)
    for name, dataset in registry.items():
        if dataset.origin == "package":
            assert datasets.fetch(dataset, out=tmp_path / name).kind == "package"
            assert (tmp_path / name).stat().st_size == int(dataset.size)


def test_the_addresses_are_those_of_one_commit_for_ever():
    registry = datasets.load_registry(REGISTRY).values()
    downloads = [(dataset, url) for dataset in registry for url in datasets.public_addresses(dataset)]
    assert len(downloads) >= 15
    for dataset, url in downloads:
        host, _, _, *path = url.removeprefix("https://").split("/")
        assert host in ("raw.githubusercontent.com", "codeload.github.com")
        commit = path[-1] if host.startswith("codeload") else path[0]
        assert re.fullmatch("[0-9a-f]{40}", commit)
        assert commit.startswith(dataset.version)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "Not A Name"}, "column 'name': 'Not A Name' is not allowed"),
        ({"origin": "web"}, "column 'origin': 'web'"),
        ({"sha256": "abc"}, "column 'sha256': 'abc'"),
        ({"filename": "../up.txt"}, "column 'filename': '../up.txt'"),
        ({"licence": ""}, "column 'licence': ''"),
        ({"origin": "url", "location": "http://example.org/x"}, "column 'location': 'http://example.org/x'"),
        ({"origin": "url", "location": "https://example.org/x", "sha256": "-"}, "column 'sha256': '-'"),
        ({"origin": "licensed", "location": "https://example.org/x"}, "column 'location'"),
        ({"size": "-"}, "column 'size': '-'"),
        ({"origin": "recipe", "location": "stormfront:http://example.org/x"}, "column 'location'"),
        ({"origin": "recipe", "location": "stromfront:https://a.org/x"}, "unknown recipe 'stromfront'"),
        ({"size": "1 kB"}, "column 'size': '1 kB'"),
        ({"origin": "package", "location": "gensim"}, "column 'location': 'gensim'"),
        ({"location": "somewhere"}, "column 'location': 'somewhere'"),
        ({"colour": "red"}, "'colour' was unexpected"),
        ({"name": "other"}, "the dataset 'other' is registered twice"),
    ],
)
def test_wrong_rows_are_refused_by_their_line(table, row, message):
    path = table({"name": "other"}, row)
    found = refusal(datasets.load_registry, path)
    assert message in found
    assert found.startswith(f"{path}:{2 if 'colour' in row else 3}: ")


def test_registry_without_a_column_or_a_schema_is_refused(tmp_path, table):
    path = table({})
    path.write_text("name\tversion\nmine\t1\n")
    assert "column 'origin' is missing" in refusal(datasets.load_registry, path)
    absent = tmp_path / "resources/absent.tsv"
    assert "absent.tsv: cannot be read" in refusal(datasets.load_registry, absent)
    table({})
    (tmp_path / "schemas/datasets.schema.yaml").unlink()
    assert "datasets.schema.yaml: No such file" in refusal(datasets.load_registry, path)


def test_path_comes_before_mirror_and_mirror_before_package(table, copy, tmp_path):
    package = {"origin": "package", "location": "gensim:test/test_data/questions-words.txt"}
    dataset = datasets.load_registry(table(package))["mine"]
    own, mirrored = copy("own.txt"), copy("mirror/folder/mine.txt")
    mirror, empty = tmp_path / "mirror", tmp_path / "schemas"
    assert datasets.resolve(dataset, own, mirror) == datasets.Source("path", str(own))
    assert datasets.resolve(dataset, None, mirror) == datasets.Source("mirror", str(mirrored))
    assert datasets.resolve(dataset, None, empty).kind == "package"
    assert datasets.resolve(dataset).location.endswith("gensim/test/test_data/questions-words.txt")


@pytest.mark.parametrize("place", ["folder/mine.txt", "mine.txt", "elsewhere/mine.txt"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_mirror_is_searched_by_path_and_by_name(table, copy, tmp_path, place, ending):
    dataset = datasets.load_registry(table({}))["mine"]
    found = copy(f"mirror/{place}{ending}")
    assert datasets.resolve(dataset, mirror=tmp_path / "mirror").location == str(found)


def test_unavailable_dataset_says_which_key_to_set(table, tmp_path):
    dataset = datasets.load_registry(table({}))["mine"]
    message = refusal(datasets.resolve, dataset, mirror=tmp_path)
    assert "datasets: paths: mine: FILE" in message
    assert "ask the owner; licence: CC0" in message


def test_wrong_names_and_places_are_refused(table, tmp_path):
    registry = datasets.load_registry(
        table({}, {"name": "gone", "origin": "package", "location": "nopackage:x"})
    )
    absent = tmp_path / "absent"
    assert "unknown dataset 'mime' (registered: mine" in refusal(datasets.registered, "mime", registry)
    assert "correct datasets: paths: mine" in refusal(datasets.resolve, registry["mine"], absent)
    assert "correct datasets: mirror" in refusal(datasets.resolve, registry["mine"], None, absent)
    assert "the Python package 'nopackage' is missing" in refusal(datasets.resolve, registry["gone"])
    registry = datasets.load_registry(table({"origin": "package", "location": "gensim:nofile"}))
    assert "the installed 'gensim' has no nofile" in refusal(datasets.resolve, registry["mine"])


def test_fetch_copies_what_has_the_registered_checksum(table, copy, tmp_path):
    out = tmp_path / "new/out.txt"
    datasets.fetch(datasets.load_registry(table({}))["mine"], out=out, path=copy("own.txt"))
    assert out.read_bytes() == DATA
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(DATA + b"!" * 1000), "unpacks to more than the registered 20 bytes"),
        (gzip.compress(DATA[:-1] + b"!"), "wrong checksum for the dataset 'mine'"),
        (gzip.compress(DATA)[:-9], "the gzip file is damaged or cut off"),
        (gzip.compress(DATA)[:3] + b"!" * 30, "the gzip file is damaged or cut off"),
    ],
    ids=["too long", "another byte", "cut", "damaged"],
)
def test_bad_compressed_files_are_refused(table, copy, tmp_path, data, message):
    packed, dataset = copy("own.txt.gz", data), datasets.load_registry(table({}))["mine"]
    said = refusal(datasets.fetch, dataset, out=tmp_path / "o", path=packed)
    assert said.startswith(f"{packed}: ")
    assert message in said
    assert not (tmp_path / "o").exists()


def test_what_is_registered_as_packed_stays_so(table, copy, tmp_path):
    data = gzip.compress(DATA)
    row = {"filename": "mine.gz", "size": str(len(data)), "sha256": hashlib.sha256(data).hexdigest()}
    out = tmp_path / "out.gz"
    datasets.fetch(datasets.load_registry(table(row))["mine"], out=out, path=copy("own.gz", data))
    assert out.read_bytes() == data


def test_fetch_refuses_a_wrong_checksum_and_writes_nothing(table, copy, tmp_path):
    out = copy("new/out.txt", b"as before")
    own = copy("own.txt", DATA + b"!")
    message = refusal(datasets.fetch, datasets.load_registry(table({}))["mine"], out=out, path=own)
    assert message.startswith(f"{own}: wrong checksum for the dataset 'mine'")
    assert SHA256 in message
    assert out.read_bytes() == b"as before"
    assert list(out.parent.iterdir()) == [out]


@pytest.mark.parametrize(("sha256", "place"), [("-", "own.txt"), ("-", "."), (SHA256, ".")])
def test_fetch_refuses_folders_and_what_has_no_checksum(table, copy, tmp_path, sha256, place):
    copy("own.txt")
    dataset = datasets.load_registry(table({"sha256": sha256}))["mine"]
    message = refusal(datasets.fetch, dataset, out=tmp_path / "out", path=tmp_path / place)
    assert f"set the corpus source to the path itself: {tmp_path / place}" in message
    assert not (tmp_path / "out").exists()


@pytest.fixture
def fetched(waits, monkeypatch, tmp_path, table):
    monkeypatch.chdir(tmp_path)

    def run(url):
        row = {"origin": "url", "location": "https://example.org/x"}
        dataset = replace(datasets.load_registry(table(row))["mine"], location=url)
        out = tmp_path / "out/mine.txt"
        datasets.fetch(dataset, out=out)
        return out

    return run


def test_a_download_is_kept_and_copied(fetched, tmp_path):
    with web.served(web.file(DATA)) as (url, asked):
        fetched(url).unlink()
        assert fetched(url).read_bytes() == DATA
    assert len(asked) == 1
    assert (datasets.DOWNLOADS / f"{SHA256}/mine.txt").read_bytes() == DATA


def test_a_failed_download_says_what_to_do_and_writes_nothing(fetched, tmp_path):
    with web.served(web.file(DATA[::-1])) as (url, _):
        message = refusal(fetched, url)
    assert message.startswith(f"dataset 'mine': {url}: wrong checksum")
    assert message.endswith("or set datasets: paths: mine: FILE")
    assert list((tmp_path / "out").iterdir()) == []


def test_what_was_kept_and_has_changed_is_refused(fetched, tmp_path):
    with web.served(web.file(DATA)) as (url, _):
        fetched(url).unlink()
        (datasets.DOWNLOADS / f"{SHA256}/mine.txt").write_bytes(b"changed")
        assert "wrong checksum for the dataset 'mine'" in refusal(fetched, url)


def test_the_command_copies_what_it_verified(table, copy, tmp_path):
    own, out = copy("own.txt.gz", gzip.compress(DATA)), tmp_path / "out.txt"
    options = ["--registry", table({}), "--path", own, "--out", out]
    command = ["datasets", "fetch", "mine", *map(str, options)]
    fetched = CliRunner().invoke(app, command, catch_exceptions=False)
    said = f"mine: copied from {own} to {out} (20 bytes); the SHA-256 is the registered SHA-256"
    assert (fetched.exit_code, fetched.stderr.splitlines()[-1]) == (0, said)
    assert out.read_bytes() == DATA
