"""What ``biaslab datasets list`` says of each dataset."""

import hashlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.run.data.datasets import FOLDER, load_registry
from biaslab.run.data.fetching import _remember, inventory

ROOT = Path(__file__).parents[3]
DATA = b"registered"
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
def registry(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
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
