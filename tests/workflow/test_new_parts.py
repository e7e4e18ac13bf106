"""A new area, check and format: the worked examples of CONTRIBUTING.md, applied to a copy and run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = dict(
    re.findall(r"<!-- (\w+) -->\n```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.S)
)
TABLE_OF_CHECK = """
from pathlib import Path
import pandas as pd
from biaslab.core.io import write_parquet
from biaslab.origins.area import AREA
from biaslab.origins.checks.lengths import write_correlation
from biaslab.run.area import Unit
from biaslab.run.plan.reports import write_report

folder = Path("results/origins/wiki")
documents = pd.DataFrame({"document": range(4), "n_tokens": [9, 5, 7, 1]})
means = {f"{name}_mean": [0.9, -0.5, 0.7, 0.1] for name in ("influence", "newton", "gradient")}
write_parquet(folder / "documents.parquet", documents)
write_parquet(folder / "differential_bias/weat1.parquet", documents.assign(**means))
outputs = folder / "documents.parquet", folder / "lengths/correlation.tsv"
write_correlation([folder / "differential_bias/weat1.parquet"], *outputs)
write_report(AREA, [Unit("wiki", ("weat1",))], Path("results"), ["lengths"])
"""
READ = """
from pathlib import Path
from biaslab.core.settings import fields_of, setting_of
from biaslab.text.corpora import Source
from biaslab.text.settings import Corpus

Path("texts.txt").write_text("__label__bad A rude word\\n__label__good Bakers bake\\n")
print(Source("fasttext", Path("texts.txt"), positive="bad").read().to_dict("list"))
print(list(setting_of(fields_of(Corpus)["format"]).choices))
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("new") / "biaslab"
    folder.mkdir()
    for name in ("src", "workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for diff in EXAMPLES.values():
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
    return folder


@pytest.fixture
def python(copy, tmp_path):
    def run(*arguments: object, code: int = 0) -> str:
        finished = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(copy / "src"), "PIP_NO_INDEX": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == code, finished.stdout + finished.stderr
        return finished.stdout + finished.stderr

    return run


@pytest.fixture
def snakemake(copy, python):
    return lambda *arguments, code=0: python(
        "-m", "snakemake", "--snakefile", copy / "Snakefile", *arguments, code=code
    )


def test_a_run_plans_the_check_and_not_the_area_that_its_preset_lacks(copy, snakemake):
    printed = snakemake("--dry-run", "--configfile", copy / "workflow/presets/smoke.yaml")
    assert re.search(r"^correlate_lengths +1$", printed, flags=re.M)
    assert "toss_coins" not in printed


def test_the_check_makes_its_table(python, tmp_path):
    python("-c", TABLE_OF_CHECK)
    assert "| wiki | weat1 | newton | 1.00 |" in (tmp_path / "results/origins/tables/lengths.md").read_text()


def test_the_format_is_read_and_may_be_set(python):
    table, formats = python("-c", READ).splitlines()
    assert table == "{'text': ['A rude word', 'Bakers bake'], 'row': [0, 1], 'label': [1, 0]}"
    assert "'fasttext'" in formats


def test_the_area_has_its_step_its_table_its_claim_and_its_digest(snakemake, tmp_path):
    (tmp_path / "coins.yaml").write_text("areas: [coins]\ncoins: {coins: 2}\n")
    snakemake("--configfile", "coins.yaml", "--cores", 1)
    results = tmp_path / "results"
    assert len(pd.read_csv(results / "coins/shares.tsv", sep="\t")) == 2
    assert "| Coin | Heads |" in (results / "coins/tables/shares.md").read_text()
    claims = pd.read_csv(results / "audit/claims.tsv", sep="\t").set_index("claim_id")
    assert claims.loc["coins-fair", "verdict"] == "reproduced"
    manifest = pd.read_json(results / "audit/manifest.json", typ="series")
    assert {"toss_coins", "report_coins"} <= set(manifest["code"])
    assert manifest["config"] == {"areas": ["coins"], "coins": {"coins": 2, "tosses": 100}, "seed": 1}


def test_a_misspelt_key_of_the_area_is_refused(snakemake, tmp_path):
    (tmp_path / "wrong.yaml").write_text("areas: [coins]\ncoins: {toses: 2}\n")
    said = snakemake("--dry-run", "--configfile", "wrong.yaml", code=2)
    assert said.endswith("biaslab: config: coins.toses: unknown key; did you mean 'tosses'?\n")
