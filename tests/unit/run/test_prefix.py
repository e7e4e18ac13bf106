"""Results in another folder: which paths of a rule move, and which stay."""

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import Params
from snakemake.path_modifier import PathModifier

from biaslab.run.rules import RESULTS, limit_prefix, move_results

ROOT = Path(__file__).parents[3]


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


@pytest.mark.parametrize("path", sorted((ROOT / "workflow/rules").glob("*.smk")), ids=lambda path: path.stem)
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
