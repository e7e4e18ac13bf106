"""Recipes: from made-up public files to a dataset, through HTTPS, and all that can be wrong with them."""

import gzip
import hashlib
import io
import shutil
import sys
import tarfile
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass, fields
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

import public_files
from biaslab.cli import main
from biaslab.core.archives import tar_files
from biaslab.core.errors import InputError
from biaslab.core.io import write_tsv
from biaslab.run.datasets import DOWNLOADS, Dataset, make
from biaslab.run.recipes import RECIPES

SCHEMA = Path(__file__).parents[3] / "workflow/schemas/datasets.schema.yaml"
PLACE = "raw.githubusercontent.com/someone/something/0123/"


@dataclass(frozen=True)
class Case:
    """Public files by name, and how to see that what is made of them is right."""

    files: dict[str, bytes]
    check: Callable[[Path], None]


def archive(files, level=9):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in files.items():
            member = tarfile.TarInfo(f"top-0123/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), level)


SENTENCES = {
    "all_files/1_1.txt": b"Bakers bake.",
    "LICENSE": b"share alike",
    "README.md": b"about",
    "annotations_metadata.csv": b"file_id,label\n1_1,noHate\n",
}
SAMPLES = {"sampled_test/1_1.txt": b"Bakers bake.", ".gitignore": b"x"}


def _stormfront(made):
    assert dict(tar_files(made, 2**20)) == {f"top-0123/{name}": data for name, data in SENTENCES.items()}


CASES = {
    "stormfront": Case({"archive": archive(SENTENCES | SAMPLES)}, _stormfront),
}


def test_every_recipe_has_a_case():
    assert set(CASES) == set(RECIPES)


@pytest.fixture(scope="module")
def pem(tmp_path_factory):
    return public_files.certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """Make a folder to work in with a registry of one dataset; return the function that registers it."""
    monkeypatch.chdir(tmp_path)
    for folder in ("schemas", "resources"):
        Path(folder).mkdir()
    shutil.copy(SCHEMA, "schemas")

    def register(recipe):
        dataset = registered(recipe, tmp_path)
        table = pd.DataFrame([{field.name: getattr(dataset, field.name) for field in fields(Dataset)}])
        write_tsv("resources/datasets.tsv", table)
        return dataset

    return register


def registered(recipe, folder):
    """Return the dataset that the made-up files of a recipe make."""
    made, paths = folder / "expected", written(CASES[recipe].files, folder / "public")
    RECIPES[recipe].make(paths, made)
    data = made.read_bytes()
    location = f"{recipe}:" + " ".join(f"https://{PLACE}{path.name}" for path in paths)
    name = "mine.tar" if recipe == "stormfront" else "mine.txt"
    digest = hashlib.sha256(data).hexdigest()
    return Dataset("mine", "1", "recipe", location, name, str(len(data)), digest, "CC0", "made up")


def written(files, folder):
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in files]


def run(*arguments):
    """Run ``biaslab datasets``; return its exit code and the lines that it says on standard error."""
    command = ["biaslab", "datasets", *map(str, arguments), "--registry", "resources/datasets.tsv"]
    said = io.StringIO()
    with patch.object(sys, "argv", command), redirect_stderr(said), pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, said.getvalue().splitlines()


def fetch(monkeypatch, pem, files):
    """Fetch the dataset from hosts that have some files; return what `run` does, and what was asked for."""
    public = {f"{PLACE}{name}": data for name, data in files.items()}
    with public_files.hosts(pem, public.get) as (environment, asked):
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        return run("fetch", "mine", "--out", "out/mine"), asked


def refusal(result):
    """Return the one line that a refused command says last, after what it downloads."""
    code, said = result
    (line,) = [line for line in said if not line.startswith("downloading ")]
    assert (code, Path("out/mine").exists()) == (2, False)
    assert {path.name for path in DOWNLOADS.rglob("*") if path.is_file()} <= {".lock"}
    assert line.startswith("biaslab: ")
    return line


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_dataset_is_made_once_of_public_files(recipe, workplace, monkeypatch, pem):
    dataset = workplace(recipe)
    result, asked = fetch(monkeypatch, pem, CASES[recipe].files)
    assert result[0] == 0, result
    assert asked == [f"{PLACE}{name}" for name in CASES[recipe].files]
    made = Path("out/mine")
    assert hashlib.sha256(made.read_bytes()).hexdigest() == dataset.sha256
    CASES[recipe].check(made)
    made.unlink()
    result, asked = fetch(monkeypatch, pem, {})
    assert (result, asked) == ((0, []), []), "it is kept"
    kept = [path.name for path in (DOWNLOADS / dataset.sha256).iterdir() if path.name != ".lock"]
    assert kept == [dataset.filename], "what it was made of is not"


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_wrong_byte_is_refused(recipe, workplace, monkeypatch, pem):
    workplace(recipe)
    for name, data in CASES[recipe].files.items():
        for place in (0, len(data) // 3, len(data) // 2, len(data) - 1):
            wrong = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
            result, _ = fetch(monkeypatch, pem, CASES[recipe].files | {name: wrong})
            assert "dataset 'mine': " in refusal(result)


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_moved_file_is_said(recipe, workplace, monkeypatch, pem):
    workplace(recipe)
    for name in CASES[recipe].files:
        result, _ = fetch(monkeypatch, pem, {n: d for n, d in CASES[recipe].files.items() if n != name})
        said = refusal(result)
        assert f"dataset 'mine': https://{PLACE}{name}: the server answers 404 (Not Found)" in said
        assert said.endswith("or set datasets: paths: mine: FILE")


@pytest.mark.parametrize("recipe", RECIPES)
def test_what_is_no_such_file_at_all_is_refused(recipe, workplace, monkeypatch, pem):
    workplace(recipe)
    for data in (b"", b"<html>moved</html>\n", bytes(range(256)) * 300, gzip.compress(bytes(10**5))):
        result, _ = fetch(monkeypatch, pem, dict.fromkeys(CASES[recipe].files, data))
        assert "dataset 'mine': " in refusal(result)


@pytest.mark.parametrize("recipe", RECIPES)
def test_without_a_connection_it_is_said_once(recipe, workplace, monkeypatch):
    workplace(recipe)
    for key in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(key, "http://127.0.0.1:9")
    assert "no connection" in refusal(run("fetch", "mine", "--out", "out/mine"))


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_dataset_is_made_of_files_at_hand(recipe, workplace, tmp_path):
    dataset = workplace(recipe)
    paths = written(CASES[recipe].files, tmp_path / "public")
    assert run("make", "mine", *paths, "--out", "out/mine") == (0, [])
    assert hashlib.sha256(Path("out/mine").read_bytes()).hexdigest() == dataset.sha256
    Path("out/mine").unlink()
    assert "no such file" in refusal(run("make", "mine", *paths[1:], "absent", "--out", "out/mine"))
    said = refusal(run("make", "mine", *paths, paths[0], "--out", "out/mine"))
    assert f"is made of {len(paths)} files, not of {len(paths) + 1}" in said
    assert f"https://{PLACE}{paths[0].name}" in said
    paths[0].write_bytes(b"")
    refusal(run("make", "mine", *paths, "--out", "out/mine"))


def test_what_has_no_recipe_is_not_made(tmp_path):
    row = Dataset("mine", "1", "local", "-", "mine.txt", "1", "0" * 64, "CC0", "ask")
    with pytest.raises(InputError, match=r"^dataset 'mine' has no recipe \(it is: local\); fetch it"):
        make(row, [], out=tmp_path / "out")


def test_order_and_level_of_an_archive_do_not_matter(workplace, monkeypatch, pem):
    workplace("stormfront")
    other = archive(dict(reversed((SENTENCES | SAMPLES).items())), 1)
    assert other != CASES["stormfront"].files["archive"]
    result, _ = fetch(monkeypatch, pem, {"archive": other})
    assert result[0] == 0
    _stormfront(Path("out/mine"))
