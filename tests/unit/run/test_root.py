"""Where the workflow's own files are: here, in the package, or in its checkout."""

from pathlib import Path

import pytest

from biaslab.run.root import CARRIED, is_repository, located, repository

ROOT = Path(__file__).parents[3]


@pytest.fixture
def workflow():
    def make(folder: Path) -> Path:
        (folder / "workflow/schemas").mkdir(parents=True)
        (folder / "workflow/schemas/claims.schema.yaml").touch()
        (folder / "Snakefile").touch()
        return folder

    return make


def test_this_checkout_is_found_from_any_folder(tmp_path, monkeypatch):
    assert is_repository(ROOT)
    monkeypatch.chdir(ROOT)
    assert repository() == Path()
    monkeypatch.chdir(tmp_path)
    assert repository() == ROOT


def test_the_folder_comes_before_the_package_and_this_before_its_checkout(tmp_path, workflow):
    checkout = workflow(tmp_path / "checkout")
    package = checkout / "src/biaslab"
    here = tmp_path / "here"
    here.mkdir()
    assert repository(here, package) == checkout
    carried = workflow(package / CARRIED)
    assert repository(here, package) == carried
    assert repository(workflow(here / "other"), package) == here / "other"


def test_a_folder_with_another_workflow_is_no_repository(tmp_path, workflow):
    other = workflow(tmp_path / "other")
    (other / "workflow/schemas/claims.schema.yaml").unlink()
    assert (
        repository(other, tmp_path / "x/y") == other
    )  # nothing is anywhere: what is missing is named plainly
    assert repository(other, ROOT / "src/biaslab") == ROOT


def test_a_command_finds_files_of_the_repository_unless_the_folder_has_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "workflow/resources/datasets.tsv"
    assert located(name) == str(ROOT / name)
    assert located("workflow/none.tsv") == "workflow/none.tsv"
    assert located("README.md") == "README.md"
    Path(name).parent.mkdir(parents=True)
    Path(name).touch()
    assert located(name) == name
