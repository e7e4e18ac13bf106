"""What every rule gets: its log and environment, no more than its limits, and results in another folder."""

import json
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import Params
from snakemake.path_modifier import PathModifier

from biaslab.run.plan.rules import (
    RESULTS,
    Limits,
    complete_rules,
    limit_prefix,
    log_of,
    move_results,
    write_planned,
)

RULES = sorted((Path(__file__).parents[3] / "workflow/rules").glob("*.smk"))
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in RULES)


class Rule:
    def __init__(self, name, output, shellcmd="biaslab step x.y", log=(), conda_env=None):
        self.name, self.output, self.shellcmd = name, [output], shellcmd
        self.log, self.conda_env = log, conda_env
        self.output_modifier = PathModifier({"results/": "own/results/"}, None, SimpleNamespace())

    def set_log(self, path):
        self.log = [self.log_modifier.replace_prefix(path)]


@pytest.mark.parametrize(
    ("rule", "output", "log"),
    [
        ("toss", "coins/shares.tsv", "coins/toss.log"),
        ("train", "a/{setup}/embeddings/{set}/batch-{batch}.npz", "a/{setup}/train/{set}/batch-{batch}.log"),
        ("split", "testing/text-{texts}/data.npz", "testing/text-{texts}/split.log"),
        ("estimate", "origins/{setup}/bias/{weat}.parquet", "origins/{setup}/estimate/{weat}.log"),
        ("summarize", "audit/summary.tsv", "audit/summarize.log"),
    ],
)  # fmt: skip
def test_a_log_lies_where_its_area_unit_rule_and_job_say(rule, output, log):
    assert log_of(rule, output) == f"results/logs/{log}"


def test_rules_keep_what_they_name_and_get_what_they_lack():
    plain = Rule("toss", "own/results/coins/{corpus,a|b}/shares.tsv")
    special = Rule("train", "own/results/coins/x.npz", log=["a.log"], conda_env="neural.yaml")
    target = Rule("all", "own/results/x", shellcmd=None)
    complete_rules([plain, special, target], "own/results/", "plain.yaml")
    assert (plain.log, plain.conda_env) == (["own/results/logs/coins/{corpus}/toss.log"], "plain.yaml")
    assert (special.log, special.conda_env) == (["a.log"], "neural.yaml")
    assert (target.log, target.conda_env) == ((), None)


# --- limits


def limits(threads=None, memory=None, runtime=None, cores=None):
    return Limits(threads, memory, runtime, cores)


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (3, 1), (4, 2), (16, 8), (64, 8), (None, 8)])
def test_a_step_of_several_threads_leaves_half_of_the_machine_to_others(cores, threads):
    assert limits(cores=cores).threads(8) == threads


def test_a_step_asks_for_no_more_than_it_can_use_or_is_allowed():
    assert limits(cores=64).threads(2) == 2
    assert [limits(threads=4, cores=cores).threads(8) for cores in (None, 2)] == [4, 1]
    assert [limits(runtime=runtime).minutes(480) for runtime in (None, 60)] == [480, 60]


@pytest.mark.parametrize(("memory", "asked"), [(None, [3000, 6000, 12000]), (5000, [3000, 5000, 5000])])
def test_memory_doubles_at_each_retry_up_to_what_a_node_has(memory, asked):
    assert [limits(memory=memory).memory(3000)(None, attempt) for attempt in (1, 2, 3)] == asked


def test_all_rules_ask_within_the_limits():
    assert len(re.findall(r"^ +runtime=", TEXT, flags=re.M)) > 40
    assert not re.findall(
        r"^ +(?:mem_mb|runtime)=(?!LIMITS\.(?:memory|minutes)\(\d+\),$).*", TEXT, flags=re.M
    )
    assert not re.findall(r"^ +threads: (?!LIMITS\.threads\(\d+\)$|1\b).*", TEXT, flags=re.M)


def test_no_rule_retries_by_itself():
    assert "retries" not in TEXT, "a job of a cluster would do so at three levels: name it in the profile"


# --- results in another folder


def workflow(prefix):
    return SimpleNamespace(modifier=SimpleNamespace(path_modifier=PathModifier(None, prefix, None)))


def rule(**params):
    return SimpleNamespace(params=Params(fromdict=params))


def test_without_a_prefix_nothing_changes():
    ours = workflow(None)
    before = ours.modifier.path_modifier
    assert limit_prefix(ours) == RESULTS
    assert ours.modifier.path_modifier is before
    same = rule(a="results/a")
    move_results([same], RESULTS)
    assert same.params.a == "results/a"


def test_a_prefix_moves_the_results_alone():
    ours = workflow("sub")
    assert limit_prefix(ours) == "sub/results/"
    replace = ours.modifier.path_modifier.replace_prefix
    assert replace("results/x.tsv") == "sub/results/x.tsv"
    assert replace("mine/results/x.tsv") == "mine/results/x.tsv"
    assert replace("texts.csv") == "texts.csv"


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_commands_name_results_by_parameters(path):
    commands = re.findall(r"^ +shell:\n(.*\n)", path.read_text(), flags=re.M)
    assert commands or path.stem == "common"
    assert not [command for command in commands if re.search(r"(?<![\w./-])results[/ \"]", command)]


def test_parameters_and_what_makes_them():
    def make(wildcards, input):
        return [f"--a results/{wildcards}", f"--b {input}"]

    moved = rule(
        text="--data name=results/a",
        several=['{"file": "results/b"}', "the results of results/"],
        made=make,
        others="my.results/a {input.results} ../results/a x/results/a",
        method=partial(str.format, "{0} results/"),
        number=3,
    )
    move_results([moved], "sub/results/")
    params = moved.params
    assert params.text == "--data name=sub/results/a"
    assert params.several == ['{"file": "sub/results/b"}', "the results of sub/results/"]
    assert params.made("w", input="sub/results/c") == ["--a sub/results/w", "--b sub/results/c"]
    assert params.method("x") == "x sub/results/"
    assert params.others == "my.results/a {input.results} ../results/a x/results/a"
    assert params.number == 3


@pytest.mark.parametrize("audits", [True, False])
def test_a_plan_with_the_audit_is_recorded(tmp_path, audits):
    """Otherwise a run of one table would leave out all else of the last audit."""
    folder = f"{tmp_path}/results/"
    files = [f"{folder}b.tsv", f"{folder}a.tsv", "elsewhere.tsv", *([f"{folder}audit/claims.tsv"] * audits)]
    write_planned(SimpleNamespace(dag=SimpleNamespace(jobs=[SimpleNamespace(output=files)])), folder)
    planned = tmp_path / "results/logs/planned.json"
    assert planned.exists() == audits
    assert not audits or json.loads(planned.read_text()) == ["a.tsv", "audit/claims.tsv", "b.tsv"]
