"""How long a run may take, from jobs that ran here and from those that were recorded elsewhere."""

from pathlib import Path

import pandas as pd
import pytest

from biaslab.run import estimate
from biaslab.run.estimate import LOOP, RECORDED, describe, expect, job_seconds, read_recorded
from biaslab.run.schedule import Task

ROOT = Path(__file__).parents[3]
COLUMNS = ["area", "rule", "jobs", "seconds"]
NOTHING = pd.DataFrame(columns=COLUMNS)
TASKS = {
    "0": Task("everything", ("1", "2", "3")),
    "1": Task("train", ("4",)),
    "2": Task("train", ("4",)),
    "3": Task("report_b_figure", ("1", "2")),
    "4": Task("read"),
}


def recorded(loop: float = 0.5) -> pd.DataFrame:
    """Return a record of a machine that took so many seconds for the loop."""
    rows = [
        ("", LOOP, 1, loop),
        ("a", "train", 4, 60.0),
        ("b", "report", 2, 4.0),
        ("a", "everything", 1, 0.0),
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def as_fast(monkeypatch):
    monkeypatch.setattr(estimate, "loop", lambda: 0.5)


@pytest.mark.usefixtures("as_fast")
def test_jobs_are_laid_out_over_cores_each_as_long_as_recorded():
    """One second, for what is not known, then two trainings, then a report."""
    assert expect(TASKS, NOTHING, recorded(), 1) == (1 + 120 + 4, 5, 0)
    assert expect(TASKS, NOTHING, recorded(), 2) == (1 + 60 + 4, 5, 0)


@pytest.mark.usefixtures("as_fast")
def test_on_a_machine_of_half_the_speed_it_takes_twice_as_long():
    assert expect(TASKS, NOTHING, recorded(loop=0.25), 1).seconds == 1 + 2 * 124


@pytest.mark.usefixtures("as_fast")
def test_what_was_measured_here_counts_as_it_is():
    here = pd.DataFrame([("a", "train", 1, 10.0), ("c", "train", 3, 30.0)], columns=COLUMNS)
    found = expect(TASKS, here, recorded(loop=0.25), 1)
    assert found == (1 + 2 * 25 + 8, 5, 2)
    said = list(describe(found, 1))
    assert said[0] == "5 jobs, some 1 min at 1 at a time"
    assert said[1].startswith("3 of them as long as in the recorded default")


def test_nothing_to_do_takes_no_time():
    assert expect({}, NOTHING, recorded(), 2) == (0, 0, 0)


def test_jobs_are_averaged_by_rule_and_reports_are_one(tmp_path):
    for name, seconds in (
        ("a/unit/train/batch-0", 12),
        ("a/unit/train/batch-1", 14),
        ("a/measure", 11),
        ("a/report/table", 3),
        ("a/unit/report/figure", 15),
        ("datasets/corpus/file", 17),
    ):
        path = tmp_path / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\tmax_rss\tcpu_time\n9\t100\t{seconds}\n")
    assert job_seconds(tmp_path).to_numpy().tolist() == [
        ["a", "measure", 1, 11],
        ["a", "report", 2, 12],
        ["a", "train", 2, 13],
        ["datasets", "fetch_dataset", 1, 17],
    ]
    assert job_seconds(tmp_path / "nowhere").empty


def test_the_record_knows_the_jobs_of_the_default():
    table = read_recorded(ROOT / RECORDED)
    assert table["rule"].iloc[0] == LOOP
    assert {"train_baseline", "report", "search_discrimination", "train_classifier"} <= set(table["rule"])
    assert (table["seconds"] > 0).all()
    assert 0.01 < estimate.loop() < 60
