"""What is said of steps that failed, and which units they cost."""

import json
from collections import defaultdict, deque
from pathlib import Path
from types import SimpleNamespace

import pytest

from biaslab.run.plan.config import load_files
from biaslab.run.plan.plan import make_plan
from biaslab.run.travel import failures

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


def job(graph, name, outputs, behind=(), log="", reads=()):
    rule, logs = SimpleNamespace(name=name), [log] if log else []
    made = SimpleNamespace(rule=rule, input=reads, output=outputs, log=logs)
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


def test_what_failed_is_noted_and_nothing_of_an_earlier_run_deleted(plan):
    found = plan("failed: {before: [fairness_testing/other/counts.tsv]}")
    graph = Graph(done=["ended"])
    counts, table = "results/fairness_testing/mine/counts.tsv", "results/fairness_testing/tables/one.tsv"
    claims = job(graph, "audit", [write("results/audit/claims.tsv")], reads=[counts, table])
    report = job(graph, "report_one", [write(table)], [claims], reads=[counts])
    kept = job(graph, "up_to_date", [write("results/ranking/kept.tsv")])
    behind = job(graph, "search", [write(counts)], [report, kept])
    log = write("a.log", "biaslab: no such column\n")
    first = job(graph, "prepare", ["results/fairness_testing/mine/data.npz"], [behind], log)
    draw = job(graph, "report_two", ["results/ranking/figures/two.svg"], log=log)
    audit = job(graph, "audit_page", ["results/audit/page.html"])
    ended = job(graph, "ended", [write("results/ranking/whole.tsv")])
    group = SimpleNamespace(jobs=[first, ended])
    workflow = SimpleNamespace(dag=graph, scheduler=SimpleNamespace(failed=[group, audit, draw]))
    reasons = [f"step {name} failed: no such column (a.log)" for name in ("prepare", "report_two")]
    assert failures.note_failures(workflow, found, "results") == [
        "step audit_page failed",
        f"{reasons[0]}; the following results are missing: fairness_testing/mine/counts.tsv",
        f"{reasons[1]}; the following results are missing: ranking/figures/two.svg",
    ]
    lost = {
        "before": ["fairness_testing/other/counts.tsv"],
        reasons[0]: ["fairness_testing/mine/counts.tsv"],
        reasons[1]: ["ranking/figures/two.svg"],
    }
    assert json.loads(failures.FILE.read_text()) == {"failed": lost}
    assert failures.read_lost() == lost
    assert load_files([failures.FILE], ROOT)["failed"] == lost
    left = {str(path) for path in Path("results").rglob("*.tsv")}
    assert left == {
        counts,
        table,
        "results/audit/claims.tsv",
        "results/ranking/kept.tsv",
        "results/ranking/whole.tsv",
    }


def test_a_page_that_no_claim_uses_is_lost_and_the_manifest_still_written(plan):
    found, graph = plan(), Graph()
    page = "results/ranking/page.html"
    manifest = job(graph, "audit", ["results/audit/manifest.json"], reads=[page])
    failed = job(graph, "highlight", [page], [manifest])
    workflow = SimpleNamespace(dag=graph, scheduler=SimpleNamespace(failed=[failed]))
    failures.note_failures(workflow, found, "results")
    assert failures.read_lost() == {"step highlight failed": ["ranking/page.html"]}


def test_what_failed_steps_cost_is_not_in_the_manifest(plan):
    """Tables of lost counts are an earlier run's, if they are here."""
    assert plan().not_made() == []
    every = plan("failed: {before: [fairness_testing/mine/counts.tsv, fairness_testing/other/counts.tsv]}")
    lost = every.not_made()
    assert {"fairness_testing/mine/counts.tsv", "fairness_testing/other/counts.tsv"} < set(lost)
    assert any(name.startswith("fairness_testing/tables/") for name in lost)
    assert not set(lost) & {
        f"ranking/{file}" for one in every.made(every.area("ranking")) for file in one.files
    }


def test_where_no_audit_was_asked_for_the_step_is_said_alone(plan):
    found, graph = plan(), Graph()
    file = "results/ranking/simulation.tsv"
    table = job(graph, "report_one", ["results/ranking/tables/one.tsv"], reads=[file])
    failed = job(graph, "simulate", [file], [table])
    workflow = SimpleNamespace(dag=graph, scheduler=SimpleNamespace(failed=[failed]))
    said = failures.note_failures(workflow, found, "results")
    assert said == ["step simulate failed; the following results are missing: ranking/simulation.tsv"]
    assert not failures.FILE.exists()


def test_nothing_is_lost_where_nothing_was_noted(plan):
    plan()
    assert failures.read_lost() == {}
    write(failures.FILE, "{")
    assert failures.read_lost() == {}
