import subprocess
import sys

import pytest

from biaslab.core.io import read_tsv

GENERATE = ["ranking", "generate", "--size", "9", "--protected", "4", "--fairness", "0.3", "--seed", "3"]


def run(log, *arguments):
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        command = [sys.executable, "-m", "biaslab", *arguments]
        return subprocess.run(command, cwd=log.parent, stderr=file, stdout=file, check=False).returncode


def test_a_step_writes_what_it_took_beside_its_log(tmp_path):
    assert run(tmp_path / "results/logs/ranking/lists/a.log", *GENERATE, "--out", "lists.csv") == 0
    took = read_tsv(tmp_path / "results/benchmarks/ranking/lists/a.tsv", ("s", "max_rss", "cpu_time"))
    seconds, memory, processor = took.iloc[0][["s", "max_rss", "cpu_time"]].astype(float)
    assert 0 < seconds < 60
    assert 20 < memory < 2000
    assert 0 < processor < 60


@pytest.mark.parametrize(
    ("log", "arguments"),
    [
        ("results/logs/ranking/a.log", [*GENERATE, "--fairness", "2", "--out", "lists.csv"]),
        ("mine/ranking/a.log", [*GENERATE, "--out", "lists.csv"]),
        ("results/logs/ranking/a.txt", [*GENERATE, "--out", "lists.csv"]),
    ],
)
def test_failed_steps_and_other_commands_write_nothing(tmp_path, log, arguments):
    run(tmp_path / log, *arguments)
    assert list(tmp_path.rglob("*.tsv")) == []
