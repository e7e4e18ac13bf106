"""``biaslab init`` writes a short valid configuration; ``biaslab run`` ends with where its answers are."""

from pathlib import Path

import pytest

from biaslab.cli.run import _answers, _with_config
from biaslab.run.plan.config import load_files

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_data_of_ones_own_are_comments_to_fill_in(biaslab):
    code, said, _ = biaslab("init")
    assert code == 0
    assert "wrote config.yaml" in said
    assert load_files([Path("config.yaml")], ROOT)["areas"] == ["origins"]
    assert Path("config.yaml").read_text() == (ROOT / "config/config.yaml").read_text()


def test_a_configuration_of_ones_own_is_not_overwritten(biaslab):
    Path("config.yaml").write_text("seed: 5\n")
    code, _, error = biaslab("init")
    assert code == 2
    assert "config.yaml already exists; edit it" in error
    assert error.count("\n") == 1
    assert Path("config.yaml").read_text() == "seed: 5\n"


def test_a_run_names_what_is_there():
    assert _answers(["ranking"]) == []
    for name in ("results/audit", "results/ranking"):
        Path(name).mkdir(parents=True)
    Path("results/audit/audit.html").touch()
    assert _answers(["origins", "ranking"]) == ["results/audit/audit.html", "results/ranking"]


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (["--cores", "all"], ["--cores", "all"]),
        (["-R", "train", "--cores", "1"], ["-R", "train", "--cores", "1"]),
        (["results/a.tsv", "-R", "train"], ["results/config.json", "results/a.tsv", "-R", "train"]),
        (["--cores", "1", "origins"], ["--cores", "1", "results/config.json", "origins"]),
        (["results/a.tsv", "results/config.json"], ["results/a.tsv", "results/config.json"]),
    ],
)
def test_a_run_of_some_results_writes_its_configuration_too(given, asked):
    """Or what it made could neither be packed nor merged."""
    assert _with_config(given) == asked
