"""What every rule gets after parsing: its log and its environment, unless it names its own."""

from types import SimpleNamespace

import pytest
from snakemake.path_modifier import PathModifier

from biaslab.run.rules import complete_rules, log_of


class Rule:
    """A rule as far as it is completed."""

    def __init__(self, name, output, shellcmd="biaslab step x.y", log=(), conda_env=None):
        self.name, self.output, self.shellcmd, self.log, self.conda_env = (
            name,
            [output],
            shellcmd,
            log,
            conda_env,
        )
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
