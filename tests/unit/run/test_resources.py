"""What the jobs of a run took, by rule: a table beside the logs, which no digest and no comparison counts."""

import subprocess
import sys

import pytest

from biaslab.core.files import write_text
from biaslab.core.io import read_tsv
from biaslab.run.record.manifest import read_manifest, write_manifest
from biaslab.run.record.resources import RESOURCES, write_resources
from travel_data import make_run, note

LIST = ["datasets", "list", "--json"]


def end(results, name, rule, seconds=None, core_seconds=0, memory=0):
    """Let a job end as Snakemake notes it, and its step write what it took, if anything."""
    times = {"starttime": 9.5, "endtime": 10.5}
    note(results.parent, f"{name}.tsv", rule=rule, log=[f"results/logs/{name}.log"], **times)
    if seconds is not None:
        cost = f"s\tmax_rss\tcpu_time\n{seconds}\t{memory}\t{core_seconds}\n"
        write_text(results / f"benchmarks/{name}.tsv", cost)


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    for batch, seconds in enumerate((1, 3, 8)):
        end(folder, f"origins/wiki/train/batch-{batch}", "train", seconds, 3600, 100 * seconds)
    end(folder, "origins/wiki/measure/a.b", "measure", 2, 1.5, 60)
    end(folder, "origins/wiki/measure/c", "measure")
    end(folder, "ranking/report/one", "report_one")
    return folder


def table(results):
    write_resources(results)
    return read_tsv(results / RESOURCES).set_index("rule")


def test_costs_are_added_up_by_rule_and_what_was_not_measured_is_named(results):
    found = table(results)
    assert found.loc["train"].tolist() == ["origins", 3, 3, 3.0, 3.0, 8.0, 800.0]
    assert found.loc["measure"].tolist() == ["origins", 2, 1, pytest.approx(1.5 / 3600, abs=1e-5), 2, 2, 60]
    assert found.loc["report_one", ["area", "jobs", "measured_jobs"]].tolist() == ["ranking", 1, 0]
    assert found.loc["report_one"].isna().sum() == 4, "nothing is known of its cost"
    assert found.index.tolist() == ["train", "measure", "audit", "report_one"], "the costliest first"


def test_the_job_that_writes_the_table_is_in_it_once(results):
    end(results, "audit/audit", "audit", 2, 1, 60)
    assert table(results).loc["audit", "jobs"] == 1


def test_the_table_is_written_with_the_manifest_which_does_not_vouch_for_it(tmp_path):
    results = make_run(tmp_path)
    assert read_tsv(results / RESOURCES)["jobs"].sum() == 5
    before = read_manifest(results)["outputs"]
    write_text(results / "benchmarks/origins/unit/bias.tsv.tsv", "s\tmax_rss\tcpu_time\n1\t1\t1\n")
    write_manifest(results, results / "audit/manifest.json", results / "config.json", {}, {})
    assert read_tsv(results / RESOURCES)["measured_jobs"].sum() == 1
    assert read_manifest(results)["outputs"] == before
    assert RESOURCES not in before


@pytest.mark.parametrize("text", ["", "a\tb\n1\t2\n", "s\tmax_rss\tcpu_time\n1\t-\t1\n"])
def test_a_file_that_is_no_measurement_measures_nothing(results, text):
    write_text(results / "benchmarks/origins/wiki/measure/c.tsv", text)
    assert table(results).loc["measure", ["jobs", "measured_jobs"]].tolist() == [2, 1]


def run(log, *arguments):
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as file:
        command = [sys.executable, "-m", "biaslab", *arguments]
        return subprocess.run(command, cwd=log.parent, stderr=file, stdout=file, check=False).returncode


def test_a_step_writes_what_it_took_beside_its_log(tmp_path):
    assert run(tmp_path / "results/logs/ranking/lists/a.log", *LIST) == 0
    took = read_tsv(tmp_path / "results/benchmarks/ranking/lists/a.tsv")
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
