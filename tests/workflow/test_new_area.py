"""A new area: the worked example of CONTRIBUTING.md, applied to a copy of the repository and run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
DIFF = re.search(r"<!-- area -->\n```diff\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), flags=re.S)[1]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the repository with the new area."""
    folder = tmp_path_factory.mktemp("new") / "biaslab"
    folder.mkdir()
    for name in ("src", "workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(ROOT / name, folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    subprocess.run(["git", "apply", "-"], cwd=folder, input=DIFF, text=True, check=True)
    return folder


@pytest.fixture(scope="module")
def results(copy, tmp_path_factory) -> Path:
    """What a run of the new area alone makes."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "coins.yaml").write_text("areas: [coins]\ncoins: {coins: 2}\n")
    finished = snakemake(copy, folder, "--configfile", "coins.yaml", "--cores", 1)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder / "results"


def snakemake(copy: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "snakemake", "--snakefile", copy / "Snakefile", *arguments]
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "PIP_NO_INDEX": "1"}
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_one_line_changes_and_all_else_is_new():
    changed = re.findall(r"^diff --git a/(\S+) b/\S+\n(new file)?", DIFF, flags=re.M)
    assert [name for name, new in changed if not new] == ["src/biaslab/run/areas.py"]
    old = DIFF.partition("a/src/biaslab/run/areas.py")[2].partition("diff --git")[0]
    assert len(re.findall(r"^-[^-]", old, flags=re.M)) == len(re.findall(r"^\+[^+]", old, flags=re.M)) == 1


def test_a_dry_run_of_all_areas_has_the_new_one(copy, tmp_path):
    finished = snakemake(copy, tmp_path, "--dry-run", "--configfile", copy / "workflow/presets/smoke.yaml")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "toss_coins" not in finished.stdout  # the preset does not list it
    (tmp_path / "all.yaml").write_text("areas: [ranking, coins]\n")
    finished = snakemake(copy, tmp_path, "--dry-run", "--configfile", "all.yaml")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert re.search(r"^toss_coins +1$", finished.stdout + finished.stderr, flags=re.M)
    assert re.search(r"^report_coins +1$", finished.stdout + finished.stderr, flags=re.M)


def test_its_step_its_table_its_claim_and_its_digest_are_there(results):
    assert len(pd.read_csv(results / "coins/shares.tsv", sep="\t")) == 2
    assert "| Coin | Heads |" in (results / "coins/tables/shares.md").read_text()
    claims = pd.read_csv(results / "audit/claims.tsv", sep="\t").set_index("claim_id")
    assert claims.loc["coins-fair", "verdict"] == "reproduced"
    manifest = pd.read_json(results / "audit/manifest.json", typ="series")
    assert {"toss_coins", "report_coins"} <= set(manifest["code"])
    assert manifest["config"] == {"areas": ["coins"], "coins": {"coins": 2, "tosses": 100}, "seed": 1}


def test_a_misspelt_key_of_it_is_refused(copy, tmp_path):
    (tmp_path / "wrong.yaml").write_text("areas: [coins]\ncoins: {toses: 2}\n")
    finished = snakemake(copy, tmp_path, "--dry-run", "--configfile", "wrong.yaml")
    assert finished.returncode == 2
    assert finished.stderr == "biaslab: config: coins.toses: unknown key; did you mean 'tosses'?\n"
