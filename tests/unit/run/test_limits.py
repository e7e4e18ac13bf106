"""What steps ask for: never more than the configuration allows, and never all of a machine's cores."""

import re
from pathlib import Path

import pytest

from biaslab.run.rules import Limits

RULES = sorted((Path(__file__).parents[3] / "workflow/rules").glob("*.smk"))
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in RULES)


def limits(threads=None, memory=None, runtime=None, cores=None):
    return Limits(threads, memory, runtime, cores)


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 1), (4, 2), (16, 8), (64, 8), (None, 8)])
def test_a_step_of_several_threads_leaves_half_of_the_machine_to_others(cores, threads):
    assert limits(cores=cores).threads(8) == threads


def test_a_step_asks_for_no_more_than_it_can_use_or_is_allowed():
    assert limits(cores=64).threads(2) == 2
    assert limits(threads=4).threads(8) == 4
    assert limits(threads=4, cores=2).threads(8) == 1


def test_memory_doubles_at_each_retry_up_to_what_a_node_has():
    assert [limits().memory(3000)(None, attempt) for attempt in (1, 2, 3)] == [3000, 6000, 12000]
    assert [limits(memory=5000).memory(3000)(None, attempt) for attempt in (1, 2, 3)] == [3000, 5000, 5000]


def test_time_is_cut_to_what_a_job_may_take():
    assert limits().minutes(480) == 480
    assert limits(runtime=60).minutes(480) == 60


def test_all_rules_ask_within_the_limits():
    assert len(re.findall(r"^ +runtime=", TEXT, flags=re.M)) > 40
    assert not re.findall(
        r"^ +(?:mem_mb|runtime)=(?!LIMITS\.(?:memory|minutes)\(\d+\),$).*", TEXT, flags=re.M
    )
    assert not re.findall(r"^ +threads: (?!LIMITS\.threads\(\d+\)$|1\b).*", TEXT, flags=re.M)


def test_no_rule_retries_by_itself():
    assert "retries" not in TEXT, "a job of a cluster would do so at three levels: name it in the profile"
