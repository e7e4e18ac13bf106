"""A new check and format: worked examples of CONTRIBUTING.md, applied to a copy and run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = dict(
    re.findall(
        r"<!-- (check|format) -->\n```diff\n(.*?)```",
        (ROOT / "CONTRIBUTING.md").read_text(),
        flags=re.S,
    )
)
CENTRAL = {
    "check": "src/biaslab/origins/analyses.py",
    "format": "src/biaslab/text/registry.py",
}
MADE = """
from pathlib import Path
import pandas as pd
from biaslab.core.io import write_parquet
from biaslab.origins.area import AREA
from biaslab.run.area import Unit
from biaslab.run.reports import find, write_report

folder = Path("results/origins/wiki")
documents = pd.DataFrame({"document": range(4), "n_tokens": [9, 5, 7, 1]})
means = {f"{name}_mean": [0.9, -0.5, 0.7, 0.1] for name in ("influence", "newton", "gradient")}
write_parquet(folder / "documents.parquet", documents)
write_parquet(folder / "differential_bias/weat1.parquet", documents.assign(**means))
outputs = folder / "documents.parquet", folder / "lengths/correlation.tsv"
find(AREA.steps["correlate-lengths"])([folder / "differential_bias/weat1.parquet"], *outputs)
write_report(AREA, [Unit("wiki", ("weat1",))], Path("results"), ["lengths"])
"""

READ = """
from pathlib import Path
from biaslab.run.config import make_schema
from biaslab.text.corpora import Source

Path("texts.txt").write_text("__label__bad A rude word\\n__label__good Bakers bake\\n")
print(Source("fasttext", Path("texts.txt"), positive="bad").read().to_dict("list"))
print(make_schema()["properties"]["corpora"]["additionalProperties"]["properties"]["format"]["enum"])
"""

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the repository with all of them."""
    folder = tmp_path_factory.mktemp("new") / "biaslab"
    folder.mkdir()
    for name in ("src", "tests", "workflow", "envs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "config.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    for diff in EXAMPLES.values():
        subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)
    return folder


def python(copy: Path, *arguments: object, folder: Path | None = None) -> str:
    """Run Python in the copy, or in a folder with the code of the copy; return what it printed."""
    environment = os.environ | {"PYTHONPATH": f"{copy / 'src'}:{copy / 'tests'}", "PIP_NO_INDEX": "1"}
    finished = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder or copy,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    printed = finished.stdout + finished.stderr
    assert finished.returncode == 0, printed
    return printed


@pytest.mark.parametrize("example", CENTRAL)
def test_one_line_is_added_and_all_else_is_new(example):
    diff = EXAMPLES[example]
    changed = re.findall(r"^diff --git a/(\S+) b/\S+\n(new file)?", diff, flags=re.M)
    assert [name for name, new in changed if not new] == [CENTRAL[example]]
    central = diff.partition(f"--- a/{CENTRAL[example]}")[2].partition("diff --git")[0]
    assert len(re.findall(r"^\+(?!\+\+)", central, flags=re.M)) == 1
    assert not re.findall(r"^-(?!--)", central, flags=re.M)


def test_a_run_plans_the_check(copy, tmp_path):
    preset = copy / "workflow/presets/smoke.yaml"
    arguments = ("--snakefile", copy / "Snakefile", "--dry-run", "--configfile", preset)
    printed = python(copy, "-m", "snakemake", *arguments, folder=tmp_path)
    assert re.search(r"^correlate_lengths +1$", printed, flags=re.M)


def test_the_check_makes_its_table(copy, tmp_path):
    python(copy, "-c", MADE, folder=tmp_path)
    assert "| wiki | weat1 | newton | 1.00 |" in (tmp_path / "results/origins/tables/lengths.md").read_text()


def test_the_format_is_read_and_may_be_set(copy, tmp_path):
    table, formats = python(copy, "-c", READ, folder=tmp_path).splitlines()
    assert table == "{'text': ['A rude word', 'Bakers bake'], 'row': [0, 1], 'label': [1, 0]}"
    assert "'fasttext'" in formats
