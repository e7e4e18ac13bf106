"""The whole workflow on a small corpus: what is killed, or has other threads, writes the same bytes."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest

import processors
import smoke_tables
from biaslab.audit.compare import BYTE_EQUAL, compare_runs
from biaslab.core import processor
from biaslab.run.areas import AREAS
from biaslab.run.plan.steps import step_modules
from biaslab.run.record.code import closure
from biaslab.run.record.manifest import result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate.contents import is_shown
from dry_runs import jobs
from elsewhere import Elsewhere
from smoke_run import OPTIONS, ROOT, SMOKE, plan_of

MADE_AGAIN = [
    "results/origins/smoke/cooccurrence.npz",
    "results/origins/smoke/embeddings/baseline/batch-0.npz",
    "results/origins/smoke/differential_bias/smoke.parquet",
    "results/origins/smoke/predictions.tsv",
    "results/ranking/simulation.tsv",
    "results/debiasing/smoke/classifier.tsv",
    "results/fairness_testing/example/network.npz",
    "results/fairness_testing/text-example/lstm/models.tsv",
    "results/hate_speech/example/models/vanilla/0/model.safetensors",
]
KILLED = [
    "results/hate_speech/example/models/soc-0.1/0/model.safetensors",
    "results/hate_speech/example/models/soc-0.1/1/model.safetensors",
    "results/origins/smoke/embeddings/random-10-0/batch-0.npz",
    "results/origins/smoke/embeddings/smoke-increase-5/batch-0.npz",
    "results/origins/smoke/embeddings/smoke-increase-10/batch-0.npz",
]
KILLED_SETS = {"random-10-0", "smoke-increase-5", "smoke-increase-10"}
DEADLINE = 300  # seconds
AUDIT = {"record_config", "audit"}
OF_TEXTS = {"read_corpus", "count_cooccurrences", "highlight_documents"}
"""What is made again for the pages of documents: no crate holds their texts."""


README = (ROOT / "results/README.md").read_text(encoding="utf-8")
IMPORTED = re.compile(r"^import time: +\d+ \| +\d+ \| +(biaslab[\w.]*)$", flags=re.M)
PLACEHOLDERS = {
    "SETUP": "smoke",
    "EMBEDDING": "smoke",
    "CLASSIFIER": "example",
    "CORPUS": "example",
    "METHOD": "[a-z0-9.@-]+",
    "MODEL": "(?:lstm|gru)",
    "SEED": r"\d+",
    "TEST": "smoke",
    "SET": "[a-z0-9-]+",
    "LAMBDA": r"[\d.]+",
    "DOSE": r"[\d.e-]+",
    "KIND": "(?:untrained|shuffled)",
    "B": r"\d+",
}
"""What stands for what in the page that describes the results, in this run."""


def recorded(folder: Path) -> list[dict]:
    records = {}
    for path in (folder / ".snakemake/metadata").rglob("*"):
        if path.is_file():
            record = json.loads(path.read_text(encoding="utf-8"))
            records[record["shellcmd"]] = record
    return list(records.values())


def imported_by(*arguments: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", *arguments]
    return set(IMPORTED.findall(subprocess.run(command, capture_output=True, text=True, check=True).stderr))


def descriptions() -> dict[str, str]:
    """Return the text about each file that the page describes, by its path with placeholders.

    A heading ``## `FOLDER/` `` names a place; headings ``### `FILE` `` below it, and rows of tables that
    begin with a file, name files there. What stands above these counts for each of them, too, and the whole
    place where one says "as above".
    """
    described = {}
    beginning, *sections = re.split(r"^## ", README, flags=re.M)
    for section in [f"\n{beginning}", *sections]:
        heading, _, text = section.partition("\n")
        folder = next(iter(re.findall(r"`([^`]+/)`", heading)), "")
        above, *parts = re.split(r"^### ", text, flags=re.M)
        for part in [f"\n{above}", *parts]:
            names, _, body = part.partition("\n")
            named = re.findall(r"`([^`]+)`", names)
            inner = next((name for name in named if name.endswith("/") and not name.startswith(folder)), "")
            about = {name: body for name in named if not name.endswith("/")}
            for first, rest in re.findall(r"^\| (`[^|]*) \|(.*)$", body, flags=re.M):
                for file in re.findall(r"`([^`]+\.(?:tsv|parquet|npz|json|html))`", first):
                    about.setdefault(f"{inner}{file}", rest)
            for name, said in about.items():
                described[f"{folder}{name}"] = said + (text if "above" in said else above)
    return described


def outputs(folder: Path) -> dict[str, str]:
    return json.loads((folder / "results/audit/manifest.json").read_text())["outputs"]


def words_in(texts: Iterable[str]) -> set[str]:
    """Return what stands in backticks; a column of one seed stands for those of all."""
    return {re.sub(r"_seed0$", r"_seedB", word) for word in re.findall(r"`([^`]+)`", " ".join(texts))}


def as_regex(pattern: str) -> str:
    escaped = re.escape(pattern)
    return re.sub("|".join(PLACEHOLDERS), lambda found: PLACEHOLDERS[found[0]], escaped)


def assert_equal(first: Path, second: Path) -> None:
    """Refuse results that differ in a byte from those of another run."""
    comparison = compare_runs(first / "results", second / "results")
    assert [file for file in comparison.files if file.status != BYTE_EQUAL] == []
    assert len(comparison.files) > 200


def test_its_tables_have_the_bytes_of_the_reference(smoke_run):
    state = processor.state()
    if state["target"] != processor.TARGET or state["set_by_user"]:
        pytest.skip(f"not pinned to {processor.TARGET}: {state['target']}, {state['set_by_user']}")
    made_with, *expected = smoke_tables.REFERENCE.read_text(encoding="utf-8").splitlines()
    if made_with != f"# {processors.versions()}":
        pytest.skip(f"the reference is of other libraries: {made_with[2:]}")
    found = smoke_tables.digests(smoke_run / "results")
    differing = sorted({line.partition("\t")[0] for line in set(expected) ^ set(found)})
    assert len(found) > 200
    assert not differing, f"{', '.join(differing)}: where this is meant, python tests/smoke_tables.py RESULTS"


@pytest.fixture
def copy(smoke_run) -> Path:
    """Return a copy of the undisturbed run, in which steps can be made again.

    It lies beside that: the workflow's own files have the same path from there, or all would be made again.
    """
    folder = Path(tempfile.mkdtemp(prefix="copy-", dir=smoke_run.parent))
    return shutil.copytree(smoke_run, folder, dirs_exist_ok=True)


@pytest.mark.slow
def test_with_other_threads_and_without_forks_steps_write_the_same_bytes(snakemake, smoke_run, copy):
    """A step of every kind: each kernel that shares its work out, and each library that is imported once."""
    one_thread = ["count_cooccurrences", "attribute_documents", "predict_removals", "simulate_ranking"]
    threads = ["train_baseline=2", *(f"{rule}=1" for rule in one_thread)]
    for name in MADE_AGAIN:
        (copy / name).unlink()
    finished = snakemake(copy, *OPTIONS, "--set-threads", *threads, "--", *MADE_AGAIN, forks=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert_equal(smoke_run, copy)


@pytest.mark.slow
def test_killed_steps_are_made_again_with_the_same_bytes_and_no_others(snakemake, smoke_run, copy):
    """Trainings, one of which leaves a checkpoint, and short steps, one of which has written its file."""
    for name in KILLED:
        shutil.rmtree((copy / name).parent, ignore_errors=True)
    others = {
        path: path.stat().st_mtime_ns
        for path in (copy / "results").rglob("*")
        if path.is_file() and not {"logs", "benchmarks", *KILLED_SETS} & set(path.parts)
    }
    options = [*OPTIONS, "--nolock", "--rerun-incomplete", "--"]
    trainings, sets = KILLED[:2], KILLED[2:]
    for wanted, trace in (
        (trainings, "results/hate_speech/example/models/*/*/checkpoint*"),
        (sets, "results/origins/smoke/embeddings/*-*/batch-*.npz"),
    ):
        known = set(copy.glob(trace))
        command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile", "--directory", copy]
        run = subprocess.Popen(
            list(map(str, [*command, *options, *wanted])),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        end = time.monotonic() + DEADLINE
        while set(copy.glob(trace)) <= known and run.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        os.killpg(run.pid, signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL, "the run ended by itself, before or without what was waited for"
        assert not all((copy / name).exists() for name in wanted)

    resumed = snakemake(copy, *options, *KILLED)
    assert resumed.returncode == 0, resumed.stdout + resumed.stderr
    assert {path: path.stat().st_mtime_ns for path in others} == others, "finished steps were run again"
    assert not list(copy.rglob("checkpoint*"))
    assert_equal(smoke_run, copy)


@pytest.mark.slow
def test_a_broken_input_costs_its_own_branch_and_when_it_is_corrected_the_bytes_are_the_same(smoke_run, copy):
    folder = copy
    (folder / "broken.csv").write_text("age,education\n60\n")
    (folder / "broken.yaml").write_text(
        "fairness_testing: {classifiers: {example: {data: broken.csv}}}\n", encoding="utf-8"
    )
    (folder / "results/ranking/enumeration.tsv").unlink()
    run = [sys.executable, "-m", "biaslab", "run", "--preset", "smoke", "--cores", "2", "--quiet", "all"]
    broken = subprocess.run(
        [*run, "--configfile", "broken.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert broken.returncode == 1, broken.stderr
    log = "results/logs/fairness_testing/example/prepare_classifier.log"
    error = (folder / log).read_text().splitlines()[-1].removeprefix("biaslab: ")
    reason = f"step prepare_classifier failed: {error} ({log})"
    named, *others = broken.stderr.splitlines()[-3:]
    assert named.startswith(f"biaslab: {reason}; the following results are missing: fairness_testing/example")
    assert others == [
        "biaslab: all other results are complete and audited",
        "biaslab: correct the errors above; the same command resumes from here",
    ]
    before, after = (outputs(each) for each in (smoke_run, folder))
    lost = {name for name in before if name.startswith("fairness_testing/example/")}
    assert lost
    assert not lost & set(after), "the results of the earlier run are none of this run"
    own = {f"fairness_testing/example/{name}" for name in ("network.npz", "data.npz", "classifiers.tsv")}
    kept = {name: sha256_file(folder / "results" / name) for name in lost - own}
    assert kept == {name: before[name] for name in kept}, "the failure deleted results of the earlier run"
    tables = ("fairness_testing/tables/", "fairness_testing/figures/", "audit/", "config.json")
    others = {name for name in before if name not in lost and not name.startswith(tables)}
    assert {name: after.get(name) for name in others} == {name: before[name] for name in others}
    assert "fairness_testing/tables/text_averages.tsv" in after
    assert "fairness_testing/tables/averages.tsv" not in after
    claims = [
        pd.read_csv(each / "results/audit/claims.tsv", sep="\t", dtype=str) for each in (smoke_run, folder)
    ]
    is_of_area = [table["area"] == "fairness_testing" for table in claims]
    reasons = claims[1].loc[is_of_area[1] & (claims[1]["verdict"] == "not_attempted"), "reason"]
    assert reasons.str.contains(reason, regex=False).any()
    pd.testing.assert_frame_equal(
        *(table[~own].reset_index(drop=True) for table, own in zip(claims, is_of_area, strict=True))
    )

    corrected = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert corrected.returncode == 0, corrected.stderr
    assert outputs(folder) == before
    assert json.loads((folder / "results/config.json").read_text()) == json.loads(
        (smoke_run / "results/config.json").read_text()
    )


CHANGES = """
origins:
  setups:
    smoke:
      baselines: 2
      perturbations: {sizes: [5], random_sets: 2, retrainings: 1}
      ppmi_sets: {retrainings: 2}
      lds: {subsets: 3}
      planted: {doses: [0, 0.2]}
      brittleness: {multiples: [2]}
      word2vec: {epochs: 3}
      trainings_per_job: 2
ranking: {attribute_values: [3], top: 10}
debiasing: {lambdas: [0, 0.2, 2], analogies: 10, comparison: {methods: [hard]}}
fairness_testing: {repetitions: 3, query_budgets: [700], text: {hops: 4, certified_epochs: 0, pairs: 5}}
hate_speech: {seeds: 1, methods: [bow, vanilla, soc-0.1], ablation: []}
"""


@pytest.mark.slow
def test_a_changed_configuration_gives_the_results_of_a_new_folder(snakemake, copy, tmp_path):
    """Many results of the earlier configuration have no place in the other, and stay in the folder."""
    other = tmp_path / "other.yaml"
    other.write_text(CHANGES)
    for folder in (copy, tmp_path):
        run = snakemake(folder, "--configfile", SMOKE, other, "--cores", 2, "--quiet", "all")
        assert run.returncode == 0, run.stderr
    assert outputs(copy) == outputs(tmp_path)
    assert set(result_files(copy / "results")) > set(result_files(tmp_path / "results"))


def test_nothing_is_left_to_do(snakemake, smoke_run):
    finished = snakemake(smoke_run, "--configfile", SMOKE, "--dry-run")
    assert "Nothing to be done" in finished.stdout + finished.stderr
    planned = json.loads((smoke_run / "results/logs/planned.json").read_text())
    assert planned == result_files(smoke_run / "results"), "no other is in the manifest"


def test_a_key_of_one_area_reruns_nothing_of_another(snakemake, smoke_run, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text("fairness_testing: {hops: 21}\n")
    rules = planned(snakemake, smoke_run, SMOKE, mine)
    own = {"search_discrimination", "retrain_classifier"}
    own |= {rule for rule in rules if rule.startswith("report_fairness_testing")}
    assert own <= rules
    assert rules <= own | AUDIT


def test_another_line_of_a_kernel_reruns_its_steps_and_no_others(snakemake, smoke_run, tmp_path):
    source = shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    with (source / "biaslab/ranking/_kernels.py").open("a") as kernels:
        kernels.write("EDITED = True\n")
    rules = planned(snakemake, smoke_run, SMOKE, PYTHONPATH=str(source))
    own = {"simulate_ranking", "compare_rankings"}
    assert own <= rules <= own | AUDIT | {"report_ranking"}


def test_a_changed_input_reruns_all_that_was_made_of_it(snakemake, copy):
    corpus = copy / "results/origins/smoke/corpus.npz"
    corpus.write_bytes(corpus.read_bytes() + b"0")
    rules = planned(snakemake, copy, SMOKE)
    assert {"count_cooccurrences", "train_baseline", "train_word2vec", "report_origins_smoke"} <= rules
    assert not {"simulate_ranking", "search_discrimination", "train_classifier"} & rules


def planned(snakemake, folder: Path, *configs: object, **environment: str) -> set[str]:
    options = ("--dry-run", "--quiet", "rules")
    finished = snakemake(folder, "--configfile", *configs, *options, **environment)
    return jobs(finished).keys() - {"everything", "total"}


@pytest.mark.slow
def test_report_shows_every_item(snakemake, smoke_run):
    finished = snakemake(smoke_run, "--configfile", SMOKE, "--report", "report.html")
    assert finished.returncode == 0, finished.stdout + finished.stderr
    page = (smoke_run / "report.html").read_text(encoding="utf-8")
    plan = plan_of(smoke_run)
    for area in plan.areas:
        assert area.paper in page
        made = plan.made(area)
        assert made
        for one in made:
            assert f'"results/{area.name}/{one.files[0]}"' in page, one.stem
            assert one.item.label in page
    assert '"results/origins/smoke/tables/never_made.tsv"' not in page


def test_a_step_imports_nothing_that_its_digest_leaves_out(smoke_run):
    started = imported_by("-m", "biaslab", "--help") | {"biaslab.__main__"}
    load = "from biaslab.run.area import load_area; load_area"
    plugged = {area: imported_by("-c", f"{load}({area!r})") for area in AREAS}
    recipes = set().union(*plugged.values())  # the registry of datasets has the recipes of all areas
    stepping = imported_by("-c", "import biaslab.run.plan.steps")
    steps = 0
    for record in recorded(smoke_run):
        called = re.match(r"biaslab step (\S+)", record["shellcmd"])
        if called and record["log"]:
            log = (smoke_run / record["log"][0]).read_text(encoding="utf-8")
            imported = set(IMPORTED.findall(log))
            assert "biaslab.core.errors" in imported, "the log tells what was imported"
            allowed = started | stepping | closure(step_modules(called[1]))
            group = called[1].partition(".")[0].replace("-", "_")
            allowed |= plugged.get(group, recipes if group == "datasets" else set())
            assert imported <= allowed, f"{called[1]}: {imported - allowed}"
            steps += 1
    assert steps > 60


def test_every_file_is_described_and_every_description_has_a_file(smoke_run):
    results, plan = smoke_run / "results", plan_of(smoke_run)
    described = descriptions()
    items = {
        f"{area.name}/{file}": f"{one.item.stem}_TEST" if one.test else one.item.stem
        for area in plan.areas
        for one in plan.made(area)
        for file in one.files
    }
    found = set()
    for path in sorted(results.rglob("*")):
        name = path.relative_to(results).as_posix()
        is_aside = name.split("/")[0] in {"logs", "benchmarks", "datasets"}
        if path.is_dir() or (is_aside and name not in described):
            continue
        if name in items:
            assert f"`{items[name]}`" in README, name
        else:
            matching = {pattern for pattern in described if re.fullmatch(as_regex(pattern), name)}
            assert matching, f"{name}: no row or heading of results/README.md describes this file"
            found |= matching
    if {area.name for area in plan.areas} == set(AREAS):  # without torch, files of several areas are missing
        assert set(described) - found == set()


def test_every_column_is_described_where_its_file_is(smoke_run):
    results, described = smoke_run / "results", descriptions()
    ends = {p: {"/".join(p.split("/")[-n:]) for n in range(1, 6)} for p in described}
    checked = 0
    for path in sorted([*results.rglob("*.tsv"), *results.rglob("*.parquet")]):
        name = path.relative_to(results).as_posix()
        texts = [text for pattern, text in described.items() if re.fullmatch(as_regex(pattern), name)]
        if texts:
            is_parquet = path.suffix == ".parquet"
            columns = pd.read_parquet(path) if is_parquet else pd.read_csv(path, sep="\t", nrows=1)
            known = words_in(texts)
            known |= words_in(text for pattern, text in described.items() if known & ends[pattern])
            patterns = "|".join(map(as_regex, known))
            unknown = [c for c in columns if c not in known and not re.fullmatch(patterns, c)]
            assert not unknown, f"{name}: {unknown}"
            checked += 1
    assert checked > 40


def test_no_result_names_this_folder(smoke_run):
    for path in (smoke_run / "results").rglob("*"):
        if path.suffix in {".tsv", ".md", ".tex", ".json", ".html", ".svg"} and "logs" not in path.parts:
            assert str(smoke_run) not in path.read_text(encoding="utf-8"), path


# --- from a crate, on a machine without torch


@pytest.fixture(scope="module")
def crate(smoke_run) -> Path:
    command = ["audit", "crate", "results", "--out", "run.zip", "--with", "results"]
    subprocess.run([sys.executable, "-m", "biaslab", *command], cwd=smoke_run, check=True)
    return smoke_run / "run.zip"


@pytest.fixture
def without_torch(tmp_path) -> Elsewhere:
    return Elsewhere(tmp_path, has_torch=False)


@pytest.mark.slow
def test_all_five_areas_are_shown_again_with_the_same_bytes_and_nothing_is_trained(
    smoke_run, crate, without_torch
):
    said = without_torch.biaslab("run", "--from", crate, "--cores", 2)
    before, after = outputs(smoke_run), outputs(without_torch.folder)
    shown = {name for name in before if is_shown(name)}
    assert {name.partition("/")[0] for name in shown} == {*AREAS, "audit", "config.json"}
    assert shown <= set(after)
    assert {name: before.get(name) for name in after} == after
    assert "not taken" not in said
    assert re.search(r"(\d+) of \1 results made here have the other run's bytes", said)
    folder = without_torch.folder / "results/logs"
    logs = [path.relative_to(folder) for path in folder.rglob("*.log")]
    logs = [path for path in logs if not path.name.startswith("report")]
    others = {path for path in logs if path.parts[0] not in {"audit", "datasets"}}
    assert {path.parts[2].removesuffix(".log") for path in others} == OF_TEXTS


@pytest.mark.slow
def test_a_grid_goes_on_from_a_crate_without_embeddings_and_gradients_and_trains_no_baseline_again(
    smoke_run, without_torch
):
    command = ["audit", "crate", "results", "--out", "lean.zip", "--with", "results"]
    command += ["--leave-out", "origins/*/bias_gradient/*.parquet"]
    subprocess.run([sys.executable, "-m", "biaslab", *command], cwd=smoke_run, check=True)
    retrainings = "origins: {setups: {smoke: {perturbations: {retrainings: 4}}}}\n"
    (without_torch.folder / "more.yaml").write_text(retrainings, encoding="utf-8")
    given = ["run", "--preset", "smoke", "--configfile", "more.yaml", "--cores", 2, "--dry-run"]
    files = ["context_smoke_raises.html", "observed.tsv", "analogies.tsv", "cross_fitting.tsv"]
    targets = [f"results/origins/smoke/{file}" for file in files]
    said = without_torch.biaslab(*given, "--from", smoke_run / "lean.zip", *targets)
    made = re.search(r"to run: (.*)", said)[1]
    assert "train_without_set" in made
    assert "highlight_documents" in made
    assert not re.search("train_baseline|gradient", made)
    said = without_torch.biaslab(*given, "--from", smoke_run / "lean.zip", "results/none.tsv", code=2)
    assert said.endswith("biaslab: the run cannot be planned: No rule to produce results/none.tsv\n")


@pytest.mark.slow
def test_without_a_crate_what_is_not_installed_is_named_and_the_other_areas_are_planned(without_torch):
    said = without_torch.biaslab("run", "--preset", "smoke", "--cores", 2, "--dry-run")
    assert re.search(r"hate_speech.*is not installed; pip install 'biaslab\[neural\]'", said), said
    assert "train_baseline" in said
    assert "train_classifier" in said
