"""What is said of steps that failed, and which units they cost."""

import json
from collections import defaultdict, deque
from pathlib import Path
from types import SimpleNamespace

import pytest

from biaslab.run import failures
from biaslab.run.config import load_files
from biaslab.run.plan import make_plan

ROOT = Path(__file__).parents[3]
TEXT = """
areas: [ranking, fairness_testing]
fairness_testing:
  run: [mine, other]
  classifiers:
    mine: &example
      schema: workflow/resources/classifiers/example.yaml
      data: workflow/resources/classifiers/example.csv
    other: *example
  text: {run: [], otherwise: []}
"""


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Return a function that plans two classifiers and rankings, with more configuration on top."""
    monkeypatch.chdir(tmp_path)

    def make(more: str = ""):
        Path("mine.yaml").write_text(TEXT + more)
        return make_plan(load_files([Path("mine.yaml")], ROOT), ROOT)

    return make


class Graph:
    """Jobs that depend on each other, as Snakemake's graph shows them."""

    def __init__(self, done=()):
        self.depending = defaultdict(dict)
        self.done = set(done)

    def bfs(self, direction, job):
        queue, seen = deque([job]), {id(job)}
        while queue:
            job = queue.popleft()
            yield job
            for other in direction[id(job)].values():
                if id(other) not in seen:
                    seen.add(id(other))
                    queue.append(other)

    def needrun(self, job):
        return job.rule.name != "up_to_date"

    def finished(self, job):
        return job.rule.name in self.done


def job(graph, name, outputs, behind=(), log=""):
    made = SimpleNamespace(rule=SimpleNamespace(name=name), output=outputs, log=[log] if log else [])
    for other in behind:
        graph.depending[id(made)][id(other)] = other
    return made


def write(path, text=""):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"one\ntwo\n\n", "two"),
        (b"Traceback\nbiaslab: data.csv, line 2: no number\n", "data.csv, line 2: no number"),
        (b"10 %\r20 %\r", "20 %"),
        (b"\x1b[31mred\xff\n", "[31mred�"),
        (b"x" * 1000, "x" * 300 + " ..."),
        (b"first\n" + b" " * 100_000, ""),
        (b"", ""),
    ],
)
def test_the_last_line_of_a_log(tmp_path, content, line):
    (tmp_path / "a.log").write_bytes(content)
    assert failures.last_line(tmp_path / "a.log") == line


def test_a_step_without_a_log_or_with_an_empty_one_failed_all_the_same(tmp_path):
    assert failures.last_line(tmp_path / "none.log") == ""
    assert failures.reason_of("train", []) == "step train failed"
    assert failures.reason_of("train", [Path("a.log")]) == "step train failed: its log is empty (a.log)"


def test_a_unit_is_lost_with_its_own_files_and_all_of_an_area_with_its_tables_alone(plan):
    found = plan()
    area = found.area("fairness_testing")
    table = f"results/fairness_testing/{found.made(area)[0].files[0]}"
    own = "results/fairness_testing/mine/counts.tsv"
    assert failures.lost_units([own, table], found) == ["fairness_testing/mine"]
    assert failures.lost_units([table], found) == ["fairness_testing/mine", "fairness_testing/other"]
    assert failures.lost_units(["results/ranking/simulation.tsv"], found) == ["ranking/ranking"]
    assert failures.lost_units(["results/audit/claims.tsv"], found) == []
    assert failures.lost_units(["m/results/fairness_testing/other/a"], found, "m/results") == [
        "fairness_testing/other"
    ]


def test_what_failed_is_noted_and_what_is_older_than_it_deleted(plan):
    found = plan("failed: {fairness_testing/other: [before]}")
    graph = Graph(done=["ended"])
    claims = job(graph, "measure_claims", [write("results/audit/claims.tsv")])
    kept = job(graph, "up_to_date", [write("results/ranking/kept.tsv")])
    behind = job(graph, "search", [write("results/fairness_testing/mine/counts.tsv")], [claims, kept])
    log = write("a.log", "biaslab: no such column\n")
    first = job(graph, "prepare", ["results/fairness_testing/mine/data.npz"], [behind], log)
    audit = job(graph, "audit_page", ["results/audit/page.html"])
    ended = job(graph, "ended", [write("results/ranking/whole.tsv")])
    group = SimpleNamespace(jobs=[first, ended])
    workflow = SimpleNamespace(dag=graph, scheduler=SimpleNamespace(failed=[group, audit]))
    reason = "step prepare failed: no such column (a.log)"
    assert failures.note_failures(workflow, found, "results") == [
        "step audit_page failed",
        f"{reason}; without it there is no fairness_testing/mine",
    ]
    lost = {"fairness_testing/other": ["before"], "fairness_testing/mine": [reason]}
    assert json.loads(failures.FILE.read_text()) == {"failed": lost}
    assert failures.read_lost() == lost
    assert load_files([failures.FILE], ROOT)["failed"] == lost
    left = {str(path) for path in Path("results").rglob("*.tsv")}
    assert left == {"results/ranking/kept.tsv", "results/ranking/whole.tsv"}


def test_where_no_audit_was_asked_for_the_step_is_said_alone(plan):
    found, graph = plan(), Graph()
    failed = job(graph, "simulate", ["results/ranking/simulation.tsv"])
    workflow = SimpleNamespace(dag=graph, scheduler=SimpleNamespace(failed=[failed]))
    said = failures.note_failures(workflow, found, "results")
    assert said == ["step simulate failed; without it there is no ranking/ranking"]
    assert not failures.FILE.exists()


def test_nothing_is_lost_where_nothing_was_noted(plan):
    plan()
    assert failures.read_lost() == {}
    write(failures.FILE, "{")
    assert failures.read_lost() == {}


def test_each_failed_step_has_one_line():
    lost = {"a/x": ["one", "two"], "a/y": ["one"]}
    assert failures.describe(lost) == [
        "one; without it there is no a/x, a/y",
        "two; without it there is no a/x",
    ]
