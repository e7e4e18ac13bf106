"""The workflow inside another one: its rules renamed, its results moved, another corpus in it."""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUTER = """
rule own:
    output: "results/own.txt"
    shell: "biaslab of-my-own results/x > {{output}}"

module biaslab:
    snakefile: {snakefile!r}
    config: {config}
    prefix: {prefix!r}

use rule * from biaslab as biaslab_*

rule all:
    default_target: True
    input: rules.biaslab_all.input
"""
CORPUS = {
    "areas": ["origins", "debiasing"],
    "origins": {
        "run": ["mine"],
        "setups": {"mine": {"corpus": {"source": "mine.jsonl", "format": "jsonl", "unit": "article"}}},
    },
    "debiasing": {"embeddings": ["mine"], "benchmarks": ["rg65", "wordsim353"]},
}
RANKING = {
    "areas": ["ranking"],
    "ranking": {"attribute_values": [2], "distributions": 2, "candidates": 5, "top": 5},
}


@pytest.fixture
def outer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text('{"id": "1", "title": "One", "text": "a short text"}\n')

    def run(config, *arguments, python=sys.executable, **environment):
        text = OUTER.format(snakefile=str(ROOT / "workflow/Snakefile"), config=config, prefix="fairness")
        Path("Snakefile").write_text(text)
        command = [python, "-m", "snakemake", *map(str, arguments)]
        variables = os.environ | {"PIP_NO_INDEX": "1"} | environment
        finished = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    return run


@pytest.mark.slow
def test_a_prefix_moves_results_and_neither_corpus_nor_word_lists_nor_outer_rules(outer):
    shown = outer(CORPUS, "--dry-run", "--printshellcmds", "all", "own")
    found = re.findall(r"^Shell command: (.*)$", shown, flags=re.M)
    unmoved = [command for command in found if re.search(r"(?<![\w./-])results[/ ]", command)]
    assert unmoved == ["biaslab of-my-own results/x > results/own.txt"]
    (reading,) = [command for command in found if command.startswith("biaslab step embeddings.read-corpus")]
    assert '"source": "mine.jsonl"' in reading
    assert "fairness/results/origins/mine/corpus.npz" in reading
    (scoring,) = [c for c in found if c.startswith("biaslab step debiasing.measure-embedding")]
    assert '"wordsim353": "fairness/results/datasets/wordsim353/wordsim353.tsv"' in scoring
    assert not Path("fairness").exists()


@pytest.mark.slow
def test_a_run_with_a_prefix_writes_there_alone(outer):
    outer(RANKING, "--cores", 1)
    assert {path.name for path in Path().iterdir()} == {".snakemake", "Snakefile", "fairness", "mine.jsonl"}
    manifest = json.loads(Path("fairness/results/audit/manifest.json").read_text())
    assert "ranking/simulation.tsv" in manifest["outputs"]
    assert "biaslab_simulate_ranking" in manifest["code"]


@pytest.mark.slow
def test_a_hosted_module_runs_with_the_package(tmp_path, monkeypatch):
    """Of a repository Snakemake caches only the files of the workflow."""
    hosted, here = tmp_path / "hosted", tmp_path / "here"
    for folder in ("workflow", "envs"):
        shutil.copytree(ROOT / folder, hosted / folder)
    shutil.copy(ROOT / "config.yaml", hosted)
    author = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "workflow"]):
        subprocess.run(["git", "-C", hosted, *command], check=True)
    git = ["git", "-C", hosted, "rev-parse", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=True).stdout.strip()
    here.mkdir()
    monkeypatch.chdir(here)
    source = f'gitfile("{hosted}", path="workflow/Snakefile", commit="{commit}")'
    Path("Snakefile").write_text(
        OUTER.replace("{snakefile!r}", source).format(config=RANKING, prefix="fairness")
    )
    environment = os.environ | {"PIP_NO_INDEX": "1"}
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "rules"]
    command += ["--", "biaslab_simulate_ranking"]
    finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert Path("fairness/results/ranking/simulation.tsv").exists()


@pytest.mark.slow
def test_conda_environments_are_planned_without_the_package(outer, tmp_path):
    """Planning needs no heavy package; environments of the steps have what areas need, torch too."""
    python = _python_with_snakemake_alone(tmp_path / "plain")
    conda = tmp_path / "bin/conda"
    conda.parent.mkdir()
    conda.write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        '"info --json") echo \'{"conda_version": "25.1.0", "conda_prefix": "/", "root_prefix": "/",'
        ' "platform": "linux-64"}\' ;;\n'
        "--version) echo conda 25.1.0 ;;\n"
        '*) echo \'{"get": {"channel_priority": "strict"}}\' ;;\n'
        "esac\n"
    )
    conda.chmod(0o755)
    shown = outer(
        CORPUS | {"areas": ["origins", "hate_speech"]},
        *("--dry-run", "--quiet", "rules", "--software-deployment-method", "conda"),
        python=python,
        PATH=f"{conda.parent}{os.pathsep}{os.environ['PATH']}",
        PYTHONPATH="",
    )
    assert "biaslab_train_baseline" in shown
    assert "biaslab_report_hate_speech" in shown


def _python_with_snakemake_alone(folder: Path) -> str:
    """Make an environment in which the packages that only steps and commands need cannot be imported."""
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    site = next(folder.glob("lib/python*/site-packages"))
    running = Path(next(path for path in sys.path if path.endswith("site-packages")))
    (site / "outer.pth").write_text(f"{running}\n")
    hidden = ("numba", "torch", "typer", "gensim", "matplotlib", "sklearn", "rich", "zstandard")
    hidden += ("transformers", "tokenizers")
    (site / "sitecustomize.py").write_text(
        "import importlib.metadata, sys\n"
        f"HIDDEN = {hidden!r}\n"
        "class Hider:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in HIDDEN:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Hider())\n"
        "import pkgutil\n"  # Snakemake imports each plugin that it lists, and that for Slurm needs pandas
        "listed = pkgutil.iter_modules\n"
        "SLURM = 'snakemake_executor_plugin_slurm'\n"
        "pkgutil.iter_modules = lambda *given: (m for m in listed(*given) if not m.name.startswith(SLURM))\n"
    )
    return str(python)
