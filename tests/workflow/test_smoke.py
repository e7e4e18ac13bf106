"""The whole workflow on a small corpus: killed and resumed, with other threads, it writes the same bytes."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
SMOKE = ROOT / "workflow/presets/smoke.yaml"
OPTIONS = ["--configfile", SMOKE, "--cores", 2, "--quiet", "all", "--show-failed-logs"]
RETRAINED = "results/origins/smoke/embeddings/*-*/batch-0.npz"
DEADLINE = 300  # seconds

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished_run(snakemake, tmp_path_factory) -> Path:
    """Return the folder of an undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    finished = snakemake(folder, *OPTIONS)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder


def test_killed_run_goes_on_and_other_threads_give_the_same_bytes(snakemake, finished_run, tmp_path):
    one_thread = ["count_cooccurrences", "estimate_differential_bias", "predict_sets", "simulate_ranking"]
    threads = ["train_baseline=2", *(f"{rule}=1" for rule in one_thread)]
    options = [*OPTIONS, "--nolock", "--rerun-incomplete", "--set-threads", *threads]
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", tmp_path]
    run = subprocess.Popen(
        list(map(str, [*command, *options])),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    end = time.monotonic() + DEADLINE
    while not list(tmp_path.glob(RETRAINED)) and run.poll() is None and time.monotonic() < end:
        time.sleep(0.1)
    os.killpg(run.pid, signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL, "the run ended by itself, before or without retraining"
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("results/origins/smoke/*.npz")}
    assert len(list(tmp_path.glob(RETRAINED))) < 5

    resumed = snakemake(tmp_path, *options)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before, "finished steps were run again"

    command = [
        sys.executable,
        "-m",
        "biaslab",
        "audit",
        "compare",
        finished_run / "results",
        tmp_path / "results",
    ]
    compared = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert compared.returncode == 0, compared.stdout
    files, equal = re.search(r"(\d+) files: (\d+) byte equal(.*)", compared.stdout).group(1, 2)
    manifest = 1  # whose environment need not be equal
    assert int(files) - int(equal) <= manifest, compared.stdout


def test_nothing_is_left_to_do(snakemake, finished_run):
    finished = snakemake(finished_run, "--configfile", SMOKE, "--dry-run")
    assert "Nothing to be done" in finished.stdout + finished.stderr


def test_report_shows_every_item(snakemake, finished_run):
    finished = snakemake(finished_run, "--configfile", SMOKE, "--report", "report.html")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    page = (finished_run / "report.html").read_text(encoding="utf-8")
    for item in (
        "Table 1",
        "Table 4",
        "Appendix E",
        "Figure 1",
        "Figure 8",
        "Origins of bias (Brunet et al. 2019)",
        "Fairness-aware ranking (Geyik et al. 2019)",
        "Worked example of the skew",
        "Adversarial fairness testing (Zhang et al. 2021)",
        "Table 6: global generation",
    ):
        assert item in page


def test_every_column_is_described(finished_run):
    described = set(re.findall(r"`([^`]+)`", (ROOT / "results/README.md").read_text(encoding="utf-8")))
    results = finished_run / "results"
    for path in sorted(
        path
        for pattern in (
            "origins/**/*.tsv",
            "ranking/**/*.tsv",
            "fairness_testing/example/*.tsv",
            "audit/*.tsv",
            "**/*.parquet",
        )
        for path in results.glob(pattern)
    ):
        table = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, sep="\t", nrows=1)
        columns = {
            re.sub(r"_seed\d+$", "_seed0", c).replace("lost_smoke", "lost_SETUP") for c in table.columns
        }
        assert columns <= described, path


def test_every_file_is_described(finished_run):
    described = (ROOT / "results/README.md").read_text(encoding="utf-8")
    for path in (finished_run / "results").rglob("*"):
        parts = path.relative_to(finished_run / "results").parts
        if (
            path.is_file()
            and parts[0] not in {"logs", "benchmarks", "datasets"}
            and "embeddings" not in parts
        ):
            assert path.stem.removesuffix("_smoke").replace("smoke", "TEST") in described, path


def test_no_result_names_this_folder(finished_run):
    for path in (finished_run / "results").rglob("*"):
        if path.suffix in {".tsv", ".md", ".tex", ".json", ".html", ".svg"} and "logs" not in path.parts:
            assert str(finished_run) not in path.read_text(encoding="utf-8"), path


def test_manifest_names_the_corpus_and_every_result(finished_run):
    manifest = json.loads((finished_run / "results/audit/manifest.json").read_text())
    assert list(manifest["inputs"]) == ["example", "smoke"]
    assert "origins/smoke/correlation.tsv" in manifest["outputs"]
    assert "ranking/simulation.tsv" in manifest["outputs"]
    assert manifest["config"]["run"] == ["smoke"]
