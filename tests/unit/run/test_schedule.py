"""List scheduling against schedules worked out by hand and bounds that hold for every schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.run.schedule import Step, after_of, makespan, rule_graph

GRAPH = """digraph snakemake_dag {
    graph[bgcolor=white, margin=0];
	0[label = "all", color = "0.3 0.6 0.85", style="rounded"];
	1[label = "train", color = "0.5 0.6 0.85", style="rounded"];
	2[label = "read", color = "0.1 0.6 0.85", style="rounded"];
	1 -> 0
	2 -> 1
}
"""


def test_rules_are_found_with_all_that_come_before():
    assert after_of(GRAPH) == {"all": ("read", "train"), "train": ("read",), "read": ()}


@pytest.mark.parametrize(("slots", "seconds"), [(1, 17), (2, 11), (5, 5), (100, 5)])
def test_jobs_start_when_all_before_them_have_ended(slots, seconds):
    steps = {"read": Step(1, 2), "train": Step(5, 3, ("read",)), "measure": Step(1, 0, ("train",))}
    assert makespan(steps, slots) == seconds


def test_what_most_waits_for_goes_first():
    steps = {"a_filler": Step(2, 3), "first": Step(1, 1), "last": Step(1, 5, ("first",))}
    assert makespan(steps, 2) == 6


def test_rules_that_are_not_measured_hold_nothing_up():
    assert makespan({"train": Step(2, 3, ("unmeasured",))}, 1) == 6


def test_a_circle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        makespan({"a": Step(1, 1, ("b",)), "b": Step(1, 1, ("a",))}, 1)


@given(
    st.lists(st.tuples(st.integers(1, 6), st.integers(1, 9)), min_size=1, max_size=6),
    st.integers(1, 8),
    st.data(),
)
def test_no_schedule_is_shorter_than_the_work_or_the_chain_nor_twice_as_long(sizes, slots, data):
    steps = {}
    for i, (jobs, seconds) in enumerate(sizes):
        after = data.draw(st.sets(st.sampled_from(range(i)))) if i else set()
        steps[f"rule{i}"] = Step(jobs, seconds, tuple(f"rule{j}" for j in sorted(after)))
    chains = {}
    for rule, step in steps.items():
        chains[rule] = step.seconds + max((chains[other] for other in step.after), default=0)
    bound = max(sum(step.jobs * step.seconds for step in steps.values()) / slots, *chains.values(), 0)
    assert bound <= makespan(steps, slots) <= 2 * bound


def test_what_snakemake_refuses_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"snakemake --rulegraph: .+"):
        rule_graph([tmp_path / "nowhere.yaml"])
