import subprocess
import sys

import pytest

from biaslab.core.io import read_tsv

LIST = ["datasets", "list", "--json"]


def run(log, *arguments):
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        command = [sys.executable, "-m", "biaslab", *arguments]
        return subprocess.run(command, cwd=log.parent, stderr=file, stdout=file, check=False).returncode


def test_a_step_writes_what_it_took_beside_its_log(tmp_path):
    assert run(tmp_path / "results/logs/ranking/lists/a.log", *LIST) == 0
    took = read_tsv(tmp_path / "results/benchmarks/ranking/lists/a.tsv", ("s", "max_rss", "cpu_time"))
    seconds, memory, processor = took.iloc[0][["s", "max_rss", "cpu_time"]].astype(float)
    assert 0 < seconds < 60
    assert 20 < memory < 2000
    assert 0 < processor < 60


@pytest.mark.parametrize(
    ("log", "arguments"),
    [
        ("results/logs/ranking/a.log", ["datasets", "fetch", "lost", "--out", "lost"]),
        ("mine/ranking/a.log", LIST),
        ("results/logs/ranking/a.txt", LIST),
    ],
)
def test_failed_steps_and_other_commands_write_nothing(tmp_path, log, arguments):
    run(tmp_path / log, *arguments)
    assert list(tmp_path.rglob("*.tsv")) == []
