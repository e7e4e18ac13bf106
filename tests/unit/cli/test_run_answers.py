"""What a run ends with: where its answers are."""

from pathlib import Path

import pytest

from biaslab.cli.run import _answers, _with_config


def test_a_run_names_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
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
