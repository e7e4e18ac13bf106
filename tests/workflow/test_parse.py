"""What is seen before anything runs: style, the jobs of every preset, and one line for bad input."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from biaslab.debiasing import area as debiasing_plan
from biaslab.debiasing.report import document_ranking as ranking_report
from biaslab.fairness_testing import area as testing_plan
from biaslab.origins.items import ITEMS
from biaslab.ranking import area as ranking_plan

ROOT = Path(__file__).parents[2]
PRESETS = ROOT / "workflow/presets"


def jobs(finished: subprocess.CompletedProcess) -> dict[str, int]:
    """Return how many jobs of every rule a dry run announces."""
    assert finished.returncode == 0, finished.stdout + finished.stderr
    table = re.search(r"^job +count\n[ -]+\n((?:\w+ +\d+\n)+)", finished.stdout + finished.stderr, flags=re.M)
    return {name: int(count) for name, count in (line.split() for line in table[1].splitlines())}


def dry_run(snakemake, folder, *configs, **options) -> subprocess.CompletedProcess:
    return snakemake(folder, "--dry-run", "--quiet", "rules", "--configfile", *configs, "--", **options)


def test_snakemake_finds_nothing_to_object_to(snakemake, tmp_path):
    finished = snakemake(tmp_path, "--lint", "--configfile", ROOT / "config.yaml")
    assert finished.returncode == 0, finished.stdout + finished.stderr


def test_rules_are_formatted():
    snakefmt = Path(sys.executable).with_name("snakefmt")
    finished = subprocess.run(
        [snakefmt, "--check", "Snakefile", "workflow"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.parametrize(
    ("config", "baseline_jobs", "retraining_jobs", "weats"),
    [
        ("config.yaml", 2, 20 + 2 + 4 + 12, 2),  # five trainings a job
        ("workflow/presets/simplewiki.yaml", 10, 250 + 40 + 80 + 27, 2),
        ("workflow/presets/nyt.yaml", 10, 130, 2),
        ("workflow/presets/smoke.yaml", 2, 5 + 2 + 4 + 3, 1),
    ],
)
def test_presets_expand_to_their_trainings(
    snakemake, tmp_path, config, baseline_jobs, retraining_jobs, weats
):
    counts = jobs(dry_run(snakemake, tmp_path, ROOT / config))
    assert counts["train_baseline"] == baseline_jobs
    assert counts["train_without_set"] == retraining_jobs
    assert counts["estimate_differential_bias"] == weats
    assert counts["measure_claims"] == counts["write_manifest"] == 1


def test_both_papers_setups_in_one_run_leave_out_the_one_without_a_corpus(snakemake, tmp_path):
    (tmp_path / "both.yaml").write_text("run: [sample, nyt]\n")
    files = [ROOT / "config.yaml", PRESETS / "nyt.yaml", tmp_path / "both.yaml"]
    finished = dry_run(snakemake, tmp_path, *files)
    counts = jobs(finished)
    assert counts["train_baseline"] == 2
    assert "setup nyt is left out: dataset 'nyt-annotated-corpus' is not available" in finished.stderr


def test_own_corpus_needs_no_dataset(snakemake, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "mine.yaml").write_text(
        "run: [mine]\nsetups: {mine: {corpus: {source: texts, format: folder, unit: article}}}\n"
    )
    counts = jobs(dry_run(snakemake, tmp_path, tmp_path / "mine.yaml"))
    assert "fetch_dataset" not in counts
    assert counts["read_corpus"] == 1


def test_the_catalogs_entry_is_the_same_workflow(snakemake, tmp_path):
    finished = dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", snakefile="workflow/Snakefile")
    assert jobs(finished)["train_without_set"] == 14


@pytest.mark.parametrize(("areas", "ranks", "trains"), [("origins", False, True), ("ranking", True, False)])
def test_only_the_areas_of_the_configuration_are_run(snakemake, tmp_path, areas, ranks, trains):
    (tmp_path / "areas.yaml").write_text(f"areas: [{areas}]\n")
    counts = jobs(dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", tmp_path / "areas.yaml"))
    assert ("simulate_ranking" in counts, "train_baseline" in counts) == (ranks, trains)
    assert counts["record_config"] == counts["measure_claims"] == counts["write_manifest"] == 1


@pytest.mark.parametrize(("areas", "rankings"), [("origins, debiasing", 1), ("origins", 0), ("debiasing", 0)])
def test_documents_are_ranked_after_debiasing_when_both_areas_run(snakemake, tmp_path, areas, rankings):
    (tmp_path / "areas.yaml").write_text(f"areas: [{areas}]\n")
    counts = jobs(dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", tmp_path / "areas.yaml"))
    assert counts.get("report_document_rankings", 0) == rankings
    assert counts.get("make_debiasing_transform", 0) == 2 * rankings  # hard, and soft with one weight


def test_an_area_without_setups_needs_no_corpus(snakemake, tmp_path):
    (tmp_path / "ranking.yaml").write_text(
        "areas: [ranking]\nrun: [mine]\nsetups: {mine: {corpus: {source: nowhere}}}\n"
    )
    counts = jobs(dry_run(snakemake, tmp_path, tmp_path / "ranking.yaml"))
    assert "fetch_dataset" not in counts
    assert counts["simulate_ranking"] == 1


def test_an_embedding_that_cannot_be_fetched_is_left_out_with_the_reason(snakemake, tmp_path):
    finished = dry_run(snakemake, tmp_path, ROOT / "config.yaml")
    counts = jobs(finished)
    assert counts["measure_debiasing"] == counts["score_benchmarks"] == counts["write_debiasing_tables"] == 1
    for name in ("w2vnews", "wordsim353", "msr"):
        assert f"debiasing goes without {name}: dataset '" in finished.stderr


def test_an_own_copy_of_an_embedding_is_debiased(snakemake, tmp_path):
    (tmp_path / "own.bin").touch()
    (tmp_path / "own.yaml").write_text(
        "areas: [debiasing]\ndatasets: {mirror: null, paths: {w2vnews: own.bin}}\n"
    )
    finished = dry_run(snakemake, tmp_path, tmp_path / "own.yaml")
    counts = jobs(finished)
    assert counts["fetch_dataset"] == counts["classify_words"] == counts["generate_analogies"] == 1
    assert counts["draw_debiasing_figures"] == counts["write_debiasing_tables"] == 1
    assert "debiasing goes without sample: the setup sample is not run" in finished.stderr


def test_without_any_embedding_only_the_audit_is_left(snakemake, tmp_path):
    (tmp_path / "none.yaml").write_text("areas: [debiasing]\n")
    counts = jobs(dry_run(snakemake, tmp_path, tmp_path / "none.yaml"))
    assert {"measure_debiasing", "write_debiasing_tables"}.isdisjoint(counts)
    assert counts["measure_claims"] == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed: 3", "config: sed: unknown key; did you mean 'seed'?"),
        ("run: [smple]", "config: run: there is no setup 'smple' (defined: sample); did you mean 'sample'?"),
    ],
)
def test_bad_configuration_ends_with_one_line(snakemake, tmp_path, text, message):
    (tmp_path / "config.yaml").write_text(text)
    finished = snakemake(tmp_path, "--dry-run")
    assert finished.returncode == 2
    assert finished.stderr == f"biaslab: {message}\n"
    assert finished.stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--preset", "simplwiki"], r"there is no preset 'simplwiki' \(.*\); did you mean 'simplewiki'\?"),
        (
            ["--configfile", "nowhere.yaml"],
            r"nowhere\.yaml: No such file or directory; name an existing YAML file",
        ),
    ],
)
def test_run_refuses_misspelt_names_with_one_line(arguments, message):
    command = [sys.executable, "-m", "biaslab", "run", *arguments]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 2
    assert re.fullmatch(f"biaslab: {message}\n", finished.stderr)


def test_every_item_of_the_report_has_a_caption():
    items = [*ITEMS, *ranking_plan.TABLES, *ranking_plan.FIGURES]
    items += [*debiasing_plan.TABLES, *debiasing_plan.figures(["e"])]
    items += [*testing_plan.TABLES, *testing_plan.FIGURES]
    captions = {item.caption or item.stem for item in items} | {
        "workflow",
        "audit",
        "context",
        ranking_report.CAPTION,
    }
    files = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "workflow/report").glob("*.rst")}
    assert captions == set(files)
    assert all(text.strip() for text in files.values())


def test_profile_names_rules_that_exist():
    profile = yaml.safe_load((ROOT / "workflow/profiles/slurm/profile.yaml").read_text())
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    assert all(f"\nrule {name}:\n" in rules for name in profile["set-threads"])
