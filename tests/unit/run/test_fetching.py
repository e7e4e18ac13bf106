"""What parsing and ``biaslab datasets list`` see of registered data, and what fetching leaves behind."""

import hashlib
import json
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.run.data import datasets
from biaslab.run.data.datasets import FOLDER, Dataset, load_registry, verified_copy
from biaslab.run.data.download import UnreachableError
from biaslab.run.data.fetching import (
    ABSENT,
    PENDING,
    THERE,
    _remember,
    fetch_wanted,
    inventory,
    source_file,
    status,
)
from biaslab.run.plan.arguments import only_looks

ROOT = Path(__file__).parents[3]
DATA = b"registered"
NOWHERE = {"mirror": None, "paths": {}}


def dataset(name="mine", origin="local", location="-", sha256=None):
    size, sha256 = str(len(DATA)), sha256 or hashlib.sha256(DATA).hexdigest()
    return Dataset(name, "1", origin, location, f"{name}.txt", size, sha256, "CC0", "")


LOCAL, WEB = dataset(), dataset("web", "url", "https://example.org/web.txt")
SITE = dataset("site", "url", "https://example.org/site.txt")
WHEEL = dataset("packed", "wheel", "some==1:packed.txt")
OTHER = dataset("other", "wheel", "some==1:other.txt")
MADE = dataset("made", "recipe", "stormfront:https://example.org/archive")
REGISTRY = {d.name: d for d in (LOCAL, WEB, SITE, WHEEL, OTHER, MADE)}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def net(monkeypatch):
    """Count downloads, all of which fail; return the list of what was asked for."""
    asked = []

    def refuse(what, *_, **options):
        asked.append(what)
        raise UnreachableError("no network")

    monkeypatch.setattr(datasets, "download", refuse)
    monkeypatch.setattr(datasets, "wheel_file", refuse)
    return asked


def _kept(data: bytes):
    def download(url, file, **options):
        if not file.is_file():
            file.parent.mkdir(parents=True)
            file.write_bytes(data)

    return download


def mirror() -> dict:
    Path("mirror").mkdir()
    for name in REGISTRY:
        Path(f"mirror/{name}.txt").write_bytes(DATA)
    return {"mirror": "mirror", "paths": {}}


def test_looking_never_downloads(net):
    states = {d.name: status(d, NOWHERE).state for d in REGISTRY.values()}
    pending = dict.fromkeys(("web", "site", "packed", "other", "made"), PENDING)
    assert states == {"mine": ABSENT} | pending
    assert net == []
    assert list(Path().iterdir()) == []


def test_what_a_mirror_has_is_there():
    places = mirror()
    assert {status(d, places).state for d in REGISTRY.values()} == {THERE}


def test_what_cannot_be_had_is_remembered_with_the_reason(net):
    said = []
    absent = fetch_wanted(REGISTRY, REGISTRY, NOWHERE, said.append)
    assert set(absent) == set(REGISTRY)
    assert net == ["https://example.org/archive", "some==1"], "one wheel and one server are asked once"
    assert said == ["downloading other from wheel: some==1:other.txt"]
    for name in ("web", "site", "packed", "other", "made"):
        found = status(REGISTRY[name], NOWHERE)
        assert found.state == ABSENT
        assert "no network" in found.reason
        assert name in found.reason


def test_what_is_on_this_machine_is_copied_older_than_any_result(net):
    said = []
    assert fetch_wanted(REGISTRY, REGISTRY, mirror(), said.append) == {}
    assert (net, said) == ([], [])
    copies = [Path(verified_copy(one)) for one in REGISTRY.values()]
    assert {copy.read_bytes() for copy in copies} == {DATA}
    assert {copy.stat().st_mtime for copy in copies} == {946_684_800}


def test_a_copy_of_another_version_is_replaced_and_newer_than_results(net):
    places, copy = mirror(), Path(verified_copy(WEB))
    copy.parent.mkdir(parents=True)
    copy.write_bytes(b"of another version")
    began = time.time()
    assert fetch_wanted(["web"], REGISTRY, places, print) == {}
    assert copy.read_bytes() == DATA
    assert copy.stat().st_mtime > began - 1


def test_a_memory_of_another_file_does_not_count(net):
    fetch_wanted(["web"], REGISTRY, NOWHERE, print)
    renewed = replace(WEB, sha256="0" * 64)
    assert status(renewed, NOWHERE).state == PENDING


def test_what_is_downloaded_is_there_copied_and_forgotten_as_absent(net, monkeypatch):
    fetch_wanted(["web"], REGISTRY, NOWHERE, print)
    monkeypatch.setattr(datasets, "download", _kept(DATA))
    assert fetch_wanted(["web"], REGISTRY, NOWHERE, print) == {}
    assert status(WEB, NOWHERE).state == THERE
    datasets.fetch(WEB, out=verified_copy(WEB))
    assert Path(verified_copy(WEB)).read_bytes() == DATA
    assert status(WEB, NOWHERE).reason == f"copy: {verified_copy(WEB)}"


def test_what_is_made_of_downloads_is_there_before_the_steps_and_what_cannot_be_is_absent(monkeypatch):
    made = [DATA, b"something else"]
    recipe = SimpleNamespace(max_bytes=100, make=lambda files, target: target.write_bytes(made.pop()))
    monkeypatch.setattr(datasets, "recipes", lambda: {"stormfront": recipe})
    monkeypatch.setattr(datasets, "download", _kept(b"public"))
    said = fetch_wanted(["made"], REGISTRY, NOWHERE, print)["made"]
    assert said.startswith(
        "dataset 'made': https://example.org/archive: wrong checksum for the dataset 'made'"
    )
    assert status(MADE, NOWHERE).state == ABSENT
    assert fetch_wanted(["made"], REGISTRY, NOWHERE, print) == {}
    assert status(MADE, NOWHERE).state == THERE
    assert datasets.fetch(MADE, out=verified_copy(MADE)).kind == "recipe"
    assert Path(verified_copy(MADE)).read_bytes() == DATA
    assert made == []


def test_a_wrong_file_in_the_mirror_is_an_error_and_not_absent():
    places = mirror()
    Path("mirror/mine.txt").write_bytes(b"wrong")
    with pytest.raises(InputError, match="wrong checksum"):
        fetch_wanted(["mine"], REGISTRY, places, print)
    assert status(LOCAL, places).state == THERE
    assert not Path(verified_copy(LOCAL)).exists()


def test_a_source_is_read_from_a_path_a_verified_copy_or_in_place(tmp_path):
    unverified = dataset("licensed", sha256="-")
    registry = REGISTRY | {"licensed": unverified}
    assert source_file("my/dump.xml", registry, NOWHERE) == "my/dump.xml"
    assert source_file("dataset:web", registry, NOWHERE) == "results/datasets/web/web.txt"
    assert source_file("dataset:licensed", registry, NOWHERE).startswith("results/datasets/")
    named = {"mirror": None, "paths": {"licensed": str(tmp_path)}}
    assert source_file("dataset:licensed", registry, named) == str(tmp_path)


@pytest.mark.parametrize("argument", ["-n", "--dry-run", "--lint", "--dag", "--report=x.html", "-np"])
def test_what_only_looks_is_known(argument):
    assert only_looks(["--cores", "2", argument])
    assert not only_looks(["--cores", "2", "--keep-going", "results/a.tsv"])


# --- the list of datasets


SHA256 = hashlib.sha256(DATA).hexdigest()
URL = {"origin": "url", "location": "https://example.org/x"}
ROWS = {
    "copied": ({}, "here"),
    "own": ({"size": "-", "sha256": "-"}, "needs your copy"),
    "asked-for": ({"origin": "licensed", "sha256": "-"}, "needs a licence"),
    "web": (URL, "can be fetched"),
    "failed": (URL, "not fetched"),
    "packed": ({"origin": "wheel", "location": "some==1:x"}, "can be fetched"),
    "made": ({"origin": "recipe", "location": "stormfront:https://example.org/x"}, "can be made"),
}
"""What is registered of each dataset, and its state."""
STATES = {name: state for name, (_, state) in ROWS.items()}


@pytest.fixture
def registry(table):
    base = {"filename": "f.txt", "size": "664630", "sha256": SHA256}
    path = table(*({"name": name} | base | row for name, (row, _) in ROWS.items()))
    copy = FOLDER / "copied/f.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(DATA)
    _remember(load_registry(path)["failed"], "no connection")
    return path


def listed(registry, *options):
    arguments = ["datasets", "list", "--registry", str(registry), *map(str, options)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_own_copies_of_the_configuration_are_here(registry):
    own = {"mirror": None, "paths": {"asked-for": "."}}
    assert {e["name"]: e["state"] for e in inventory(load_registry(registry), own)}["asked-for"] == "here"


def test_table_and_json_have_a_row_a_dataset_and_nothing_is_fetched(registry):
    lines = [line.split("\t") for line in listed(registry).splitlines()]
    assert lines[0] == ["name", "state", "size", "version", "licence", "source"]
    assert {line[0]: line[1] for line in lines[1:]} == STATES
    assert lines[1][2:] == ["664.6 kB", "1", "CC0", "copy: results/datasets/copied/f.txt"]
    assert lines[2][2] == "-"
    assert "datasets: paths: own: FILE" in lines[2][5]
    entries = json.loads(listed(registry, "--json"))
    assert {entry["name"]: entry["state"] for entry in entries} == STATES
    assert [entry["size"] for entry in entries] == [664_630, None, *[664_630] * 5]
    assert not (FOLDER / ".downloads").exists()


def test_the_configuration_says_where_to_look(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    dump = tmp_path / "simplewiki-20260101-pages-articles.xml.bz2"
    dump.write_bytes(b"")
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"datasets: {{mirror: null, paths: {{simplewiki-dump: {dump}}}}}\n")
    entries = json.loads(listed(ROOT / "workflow/resources/datasets.tsv", "--configfile", mine, "--json"))
    found = {entry["name"]: entry for entry in entries}
    assert found["nyt-annotated-corpus"]["state"] == "needs a licence"
    found = found["simplewiki-dump"]
    assert (found["state"], found["source"]) == ("here", f"path: {dump}")
