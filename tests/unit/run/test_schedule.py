"""List scheduling against schedules worked out by hand, and bounds that hold for every schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.run.schedule import Task, job_graph, makespan, tasks_of

GRAPH = r"""digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
    0[label = "all", color = "0.3 0.6 0.85", style="rounded"];
    1[label = "train\nbatch: 0\nsetup: a", color = "0.5 0.6 0.85", style="rounded"];
    2[label = "read", color = "0.1 0.6 0.85", style="rounded"];
    1 -> 0
    2 -> 0
    2 -> 1
}
"""


def test_jobs_are_found_with_those_that_come_before():
    tasks = {"0": Task("all", ("1", "2")), "1": Task("train", ("2",)), "2": Task("read")}
    assert tasks_of(GRAPH) == tasks
    assert tasks_of(
        GRAPH.replace('"0.1 0.6 0.85", style="rounded', '"0.1 0.6 0.85", style="rounded,dashed')
    ) == {
        "0": Task("all", ("1",)),
        "1": Task("train"),
    }


@pytest.mark.parametrize(("slots", "seconds"), [(1, 17), (2, 11), (5, 5), (100, 5)])
def test_jobs_start_when_all_before_them_have_ended(slots, seconds):
    trainings = {f"t{i}": Task("train", ("r",)) for i in range(5)}
    tasks = {"r": Task("read"), **trainings, "all": Task("all", tuple(trainings))}
    assert makespan(tasks, {"read": 2, "train": 3}, slots) == seconds


def test_what_most_waits_for_goes_first():
    tasks = {"a": Task("filler"), "b": Task("filler"), "c": Task("first"), "d": Task("last", ("c",))}
    assert makespan(tasks, {"filler": 3, "first": 1, "last": 5}, 2) == 6


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        makespan({"a": Task("x", ("b",)), "b": Task("x", ("a",))}, {"x": 1}, 1)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12), st.integers(1, 8), st.data())
def test_no_schedule_is_shorter_than_the_work_or_the_chain_nor_twice_as_long(seconds, slots, data):
    tasks, chains = {}, {}
    for i, own in enumerate(seconds):
        after = data.draw(st.sets(st.sampled_from(range(i)))) if i else set()
        tasks[str(i)] = Task(str(i), tuple(map(str, sorted(after))))
        chains[i] = own + max((chains[other] for other in after), default=0)
    bound = max(sum(seconds) / slots, *chains.values(), 0)
    taken = makespan(tasks, {str(i): own for i, own in enumerate(seconds)}, slots)
    assert bound <= taken <= 2 * bound


def test_what_snakemake_refuses_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"snakemake --dag: .+") as caught:
        job_graph([tmp_path / "nowhere.yaml"])
    assert "\n" not in str(caught.value)
