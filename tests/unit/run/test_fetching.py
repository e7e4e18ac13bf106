"""What parsing sees of registered data, and what fetching before it leaves behind."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.run import datasets, fetching
from biaslab.run.datasets import Dataset, verified_copy
from biaslab.run.fetching import ABSENT, PENDING, THERE, fetch_copy, fetch_wanted, source_file, status

DATA = b"registered"
NOWHERE = {"mirror": None, "paths": {}}


def dataset(name="mine", origin="local", location="-", sha256=None):
    return Dataset(
        name, "1", origin, location, f"{name}.txt", sha256 or hashlib.sha256(DATA).hexdigest(), "CC0", ""
    )


LOCAL, WEB = dataset(), dataset("web", "url", "https://example.org/web.txt")
WHEEL = dataset("packed", "wheel", "some==1:packed.txt")
OTHER = dataset("other", "wheel", "some==1:other.txt")
REGISTRY = {d.name: d for d in (LOCAL, WEB, WHEEL, OTHER)}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def net(monkeypatch):
    """Count downloads, all of which fail; return the list of what was asked for."""
    asked = []

    def refuse(what, *_):
        asked.append(what)
        raise InputError(f"{what}: no network")

    monkeypatch.setattr(datasets, "_download", refuse)
    monkeypatch.setattr(fetching, "wheel_file", refuse)
    return asked


def mirror() -> dict:
    Path("mirror").mkdir()
    for name in REGISTRY:
        Path(f"mirror/{name}.txt").write_bytes(DATA)
    return {"mirror": "mirror", "paths": {}}


def test_looking_never_downloads(net):
    states = {d.name: status(d, REGISTRY, NOWHERE).state for d in REGISTRY.values()}
    assert states == {"mine": ABSENT, "web": PENDING, "packed": PENDING, "other": PENDING}
    assert net == []
    assert list(Path().iterdir()) == []


def test_what_a_mirror_has_is_there():
    places = mirror()
    assert {status(d, REGISTRY, places).state for d in REGISTRY.values()} == {THERE}


def test_what_cannot_be_had_is_remembered_with_the_reason(net):
    said = []
    absent = fetch_wanted(REGISTRY, REGISTRY, NOWHERE, said.append)
    assert set(absent) == set(REGISTRY)
    assert net == ["some==1", "web"], "one wheel is asked for once"
    assert [line.split()[1] for line in said] == ["other", "packed", "web"]
    for name in ("web", "packed", "other"):
        found = status(REGISTRY[name], REGISTRY, NOWHERE)
        assert found.state == ABSENT
        assert "no network" in found.reason
        assert name in found.reason


def test_a_memory_of_another_file_does_not_count(net):
    fetch_wanted(["web"], REGISTRY, NOWHERE, print)
    renewed = replace(WEB, sha256="0" * 64)
    assert status(renewed, {"web": renewed}, NOWHERE).state == PENDING


def test_what_is_fetched_is_there_and_forgotten_as_absent(net, monkeypatch):
    fetch_wanted(["web"], REGISTRY, NOWHERE, print)
    monkeypatch.setattr(datasets, "_download", lambda name, url, target: target.write_bytes(DATA))
    assert fetch_wanted(["web"], REGISTRY, NOWHERE, print) == {}
    assert status(WEB, REGISTRY, NOWHERE) == fetching.Status(THERE, f"copy: {verified_copy(WEB)}")
    Path(verified_copy(WEB)).unlink()
    assert status(WEB, REGISTRY, NOWHERE).state == PENDING


def test_a_verified_copy_is_not_fetched_again():
    places = mirror()
    said = []
    fetch_wanted(["mine"], REGISTRY, places, said.append)
    before = Path(verified_copy(LOCAL)).stat().st_mtime_ns
    fetch_wanted(["mine"], REGISTRY, places, said.append)
    assert len(said) == 1
    assert Path(verified_copy(LOCAL)).stat().st_mtime_ns == before


def test_a_copy_of_another_version_is_fetched_anew():
    places = mirror()
    fetch_wanted(["mine"], REGISTRY, places, print)
    renewed = replace(LOCAL, sha256=hashlib.sha256(b"newer").hexdigest())
    Path("mirror/mine.txt").write_bytes(b"newer")
    fetch_wanted(["mine"], {"mine": renewed}, places, print)
    assert Path(verified_copy(renewed)).read_bytes() == b"newer"


def test_a_wrong_file_in_the_mirror_is_an_error_and_not_absent():
    places = mirror()
    Path("mirror/mine.txt").write_bytes(b"wrong")
    with pytest.raises(InputError, match="wrong checksum"):
        fetch_copy(LOCAL, REGISTRY, mirror=Path("mirror"))
    assert status(LOCAL, REGISTRY, places).state == THERE
    assert not Path(verified_copy(LOCAL)).exists()


def test_a_source_is_read_from_a_path_a_verified_copy_or_in_place(tmp_path):
    unverified = dataset("licensed", sha256="-")
    registry = REGISTRY | {"licensed": unverified}
    assert source_file("my/dump.xml", registry, NOWHERE) == "my/dump.xml"
    assert source_file("dataset:web", registry, NOWHERE) == "results/datasets/web/web.txt"
    assert source_file("dataset:licensed", registry, NOWHERE).startswith("results/datasets/")
    named = {"mirror": None, "paths": {"licensed": str(tmp_path)}}
    assert source_file("dataset:licensed", registry, named) == str(tmp_path)
    assert fetch_wanted(["licensed"], registry, named, print) == {}, "nobody can verify it: it stays in place"
