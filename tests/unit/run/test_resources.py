"""What a run took, from made benchmark files, and what a full grid would take."""

import sys
from pathlib import Path

import pytest

from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv
from biaslab.run.area import ALL, load_area
from biaslab.run.resources import measured_resources, projected_resources, read_jobs, scheduled_resources
from biaslab.run.schedule import Task

ROOT = Path(__file__).parents[3]


def setup(baselines, sizes, retrainings, weats, per_job, epochs, by_ppmi, word2vec=(1, 2)):
    return {
        "baselines": baselines,
        "trainings_per_job": per_job,
        "bias": {"weats": weats},
        "glove": {"epochs": epochs},
        "perturbations": {
            "sizes": sizes,
            "random_sizes": [],
            "random_sets": 1,
            "retrainings": retrainings,
            "random_retrainings": None,
        },
        "ppmi_comparison": {"random_tests": 2000},
        "ppmi_sets": {"sizes": by_ppmi, "retrainings": retrainings},
        "single_documents": {"tails": 0, "random": 0, "trainings": 2},
        "lds": {"subsets": 0, "shares": [0.5], "retrainings": 2},
        "planted": {"documents": 0, "doses": [0, 0.1], "baselines": 3},
        "randomised": {"embeddings": 0},
        "word2vec": dict(zip(("epochs", "trainings"), word2vec, strict=True)),
        "brittleness": {"multiples": [1], "retrainings": 0},
    }


def config(name, settings):
    return {"areas": ["origins"], "origins": {"run": [name], "setups": {name: settings}}}


ORIGINS = [load_area("origins")]
MEASURED = config("wiki", setup(3, [10], 1, ["weat1"], 2, 100, []))
FULL = config("wiki", setup(10, [10, 30], 5, ["weat1", "weat2"], 1, 300, [10], word2vec=(4, 5)))


def write_benchmark(results, name, seconds, memory, cpu_time):
    path = results / "benchmarks" / f"{name}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\tmax_rss\tcpu_time\n{seconds}\t{memory}\t{cpu_time}\n")


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    write_benchmark(folder, "origins/wiki/read_corpus", 36, 200, 18)
    write_benchmark(folder, "origins/wiki/train_baseline/batch-0", 7200, 1000, 3600)  # two trainings
    write_benchmark(folder, "origins/wiki/train_baseline/batch-1", 7200, 1100, 3600)  # one
    write_benchmark(folder, "origins/wiki/train_without_set/weat1-increase-10/batch-0", 7200, 900, 3600)
    write_benchmark(folder, "origins/wiki/train_without_set/weat1-decrease-10/batch-0", 7200, 950, 1800)
    write_benchmark(folder, "origins/wiki/scan_ppmi/weat1", 360, 500, 720)
    write_benchmark(folder, "origins/wiki/train_word2vec/baseline", 36, 500, 36)
    write_benchmark(folder, "origins/wiki/train_word2vec/weat1-increase-10", 36, 500, 36)
    write_benchmark(folder, "ranking/report", 1.5, 60, 1.5)
    write_benchmark(folder, "datasets/wiki-2021/wiki.jsonl.gz", 1.0, 10, 1.0)
    sizes = {"baseline/batch-0": 2000, "baseline/batch-1": 1000, "weat1-increase-10/batch-0": 600}
    for name, size in sizes.items():
        path = folder / f"origins/wiki/embeddings/{name}.npz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(size))
    (folder / "origins/wiki/corpus.npz").write_bytes(bytes(400))
    return folder


def by_rule(table, name):
    return table.data[table.data["unit"] == name].set_index("rule")


def test_jobs_are_counted_by_their_trainings_and_tests(results):
    jobs = read_jobs(results, ORIGINS, MEASURED).set_index("rule")
    assert jobs.loc["train_baseline", "count"].tolist() == [2, 1]
    assert jobs.loc["train_without_set", "work"].tolist() == ["retraining"] * 2
    assert jobs.loc["scan_ppmi", "work"] == "test"
    assert jobs.loc["read_corpus", "work"] == "job"
    assert jobs.loc[["report", "fetch_dataset"], "unit"].tolist() == [ALL] * 2


def test_table_adds_up_the_run(results):
    table = measured_resources(read_jobs(results, ORIGINS, MEASURED), results, ORIGINS)
    wiki, every = by_rule(table, "wiki"), by_rule(table, ALL)
    taken = wiki.loc["train_baseline", ["jobs", "core_hours", "wall_hours", "memory_mb"]]
    assert taken.tolist() == [2, 2, 4, 1100]
    assert wiki.loc["train_baseline", "disk_gb"] == pytest.approx(3000e-9)
    assert wiki.loc["train_without_set", "disk_gb"] == pytest.approx(600e-9)
    assert wiki.loc["total", ["jobs", "memory_mb"]].tolist() == [8, 1100]
    assert wiki.loc["total", "core_hours"] == pytest.approx(2 + 1.5 + 0.2 + 0.02 + 0.005)
    assert wiki.loc["total", "disk_gb"] == pytest.approx(4000e-9)
    assert every.loc["report", "core_hours"] == pytest.approx(1.5 / 3600)
    assert wiki.index.tolist()[0] == "train_baseline"
    assert wiki.index.tolist()[-1] == "total"


def test_full_grid_takes_the_median_cost_of_a_unit(results):
    table = by_rule(
        projected_resources(read_jobs(results, ORIGINS, MEASURED), results, ORIGINS, MEASURED, FULL), "wiki"
    )
    columns = ["jobs", "count", "core_hours"]
    assert table.loc["train_baseline", columns].tolist() == [10, 10, 7.5]  # a training took 0.5 and 1 h
    assert table.loc["train_without_set", columns].tolist() == [50, 50, 37.5]  # 8 sets and 2 by PPMI
    assert table.loc["scan_ppmi", ["jobs", "core_hours"]].tolist() == [2, pytest.approx(0.4)]
    assert table.loc["read_corpus", ["jobs", "core_hours"]].tolist() == [1, pytest.approx(0.005)]
    word2vec = table.loc["train_word2vec", ["work", *columns]].tolist()
    assert word2vec == ["word2vec training", 9, 9 * 5, pytest.approx(0.225)], "two took 0.01 h"
    taken = [*(3 * table["core_hours"].iloc[:2]), 0.4, 4 * 0.225, 0.005]
    assert table["core_hours_scaled"].tolist() == pytest.approx([*taken, 3 * 45 + 1.305])
    assert table.loc["train_baseline", "disk_gb"] == pytest.approx(10_000e-9)
    assert table.loc["total", ["jobs", "memory_mb"]].tolist() == [72, 1100]


def test_a_cluster_holds_more_core_hours_than_the_grid_uses(results):
    jobs = read_jobs(results, ORIGINS, MEASURED)
    projected = projected_resources(jobs, results, ORIGINS, MEASURED, FULL).data
    tasks = {"read": Task("read_corpus"), "all": Task("all", ("read",))}
    tasks |= {f"b{i}": Task("train_baseline", ("read",)) for i in range(10)}
    tasks |= {f"t{i}": Task("train_without_set", ("b0", "b9")) for i in range(50)}
    data = scheduled_resources(projected, tasks, [1, 10, 1000], 0).data
    assert data["core_hours_used"].tolist() == pytest.approx([3 * 45 + 1.305] * 3)
    assert data["hours"][0] == pytest.approx(3 * 45 + 0.005), "the others are in no job"
    chain = 0.005 + 3 * 0.75 + 3 * 0.75  # hours: the corpus, a baseline, a training without a set
    assert data["hours"][2] == pytest.approx(chain)
    assert data["efficiency"][2] == pytest.approx((3 * 45 + 1.305) / (1000 * chain))
    assert data["memory_gb"].tolist() == [1.1, 11, 1100]


def test_setup_that_was_not_run_is_refused(results):
    jobs = read_jobs(results, ORIGINS, MEASURED)
    with pytest.raises(InputError, match="setup wikis was not run; did you mean 'wiki'"):
        projected_resources(
            jobs, results, ORIGINS, MEASURED, config("wikis", FULL["origins"]["setups"]["wiki"])
        )


def test_folder_without_benchmarks_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"benchmarks: no benchmark file \(\.tsv\); name the results folder"):
        read_jobs(tmp_path, ORIGINS, MEASURED)


def test_file_that_is_no_benchmark_is_refused(results):
    (results / "benchmarks/origins/wiki/other.tsv").write_text("a\tb\n1\t2\n")
    with pytest.raises(InputError, match=r"other\.tsv: column 's' is missing"):
        read_jobs(results, ORIGINS, MEASURED)


def test_command_writes_both_tables(results, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(ROOT)
    write_json(results / "config.json", config("wiki", {"baselines": 3}))
    (tmp_path / "full.yaml").write_text(
        "origins: {run: [wiki], setups: {wiki: {baselines: 20, trainings_per_job: 1}}}\n"
    )
    options = ["--out", tmp_path / "taken", "--configfile", tmp_path / "full.yaml", "--slots", "1,2"]
    monkeypatch.setattr("biaslab.run.schedule.job_graph", lambda files: '0[label = "train_baseline"]')
    monkeypatch.setattr(sys, "argv", ["biaslab", "audit", "resources", str(results), *map(str, options)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert not stop.value.code, capsys.readouterr().err
    taken = read_tsv(
        tmp_path / "taken.tsv", ("area", "unit", "rule", "jobs", "core_hours", "wall_hours", "disk_gb")
    )
    full = read_tsv(tmp_path / "taken_full_grid.tsv").set_index("rule")
    assert taken["jobs"].max() == 8
    assert full.loc["train_baseline", "count"] == 20
    assert "Core-hours" in (tmp_path / "taken_full_grid.md").read_text(encoding="utf-8")
    assert read_tsv(tmp_path / "taken_cluster.tsv")["cores"].tolist() == [1, 2]


def test_planted_corpora_are_counted_by_dose_test_and_training():
    from biaslab.origins.checks.planted import jobs
    from biaslab.origins.grid import workload

    settings = setup(3, [10], 1, ["weat1", "weat2"], 2, 100, [])
    assert workload.grid_work(settings)[jobs.TRAINING][0] == 0
    settings["planted"] = {"documents": 4, "doses": [0, 0.1], "baselines": 3}
    assert workload.work(("0.1",), settings) == workload.Work(jobs.CORPUS, 1)
    assert workload.work(("0", "weat2"), settings) == workload.Work(jobs.TEST, 1)
    assert workload.work(("0", "batch-1"), settings) == workload.Work(jobs.TRAINING, 1)
    grid_work = workload.grid_work(settings)
    assert grid_work[jobs.CORPUS] == (2, 2)
    assert grid_work[jobs.TEST] == (4, 4)
    assert grid_work[jobs.TRAINING] == (6, 4)
    assert workload.factor("train_planted", settings, setup(3, [10], 1, ["weat1"], 5, 300, [])) == 3


def test_randomised_embeddings_are_counted_by_kind_and_test():
    from biaslab.origins.checks.randomised import jobs
    from biaslab.origins.grid import workload

    settings = setup(3, [10], 1, ["weat1", "weat2"], 2, 100, [])
    assert workload.grid_work(settings)[jobs.EMBEDDINGS] == (0, 0)
    settings["randomised"] = {"embeddings": 5}
    assert workload.work(("shuffled",), settings) == workload.Work(jobs.EMBEDDINGS, 1)
    assert workload.work(("untrained", "weat2"), settings) == workload.Work(jobs.TEST, 1)
    assert workload.grid_work(settings)[jobs.EMBEDDINGS] == (2, 2)
    assert workload.grid_work(settings)[jobs.TEST] == (4, 4)


def test_subsets_are_counted_by_their_retrainings():
    from biaslab.origins.grid import workload

    settings = setup(3, [10], 1, ["weat1"], 5, 100, [])
    settings["lds"] = {"subsets": 6, "shares": [0.5, 0.1], "retrainings": 2}
    assert workload.work(("lds", "batch-2"), settings) == workload.Work("subset retraining", 4)
    assert workload.work(("lds", "batch-0"), settings) == workload.Work("subset retraining", 10)
    assert workload.grid_work(settings)["subset retraining"] == (24, 3)
    assert workload.factor("retrain_subsets", settings, setup(3, [10], 1, ["weat1"], 5, 300, [])) == 3


def test_sets_that_shall_flip_a_sign_are_counted_by_their_retrainings():
    from biaslab.origins.grid import workload

    settings = setup(3, [10], 1, ["weat1", "weat2"], 4, 100, [])
    assert workload.grid_work(settings)["flip retraining"] == (0, 0)
    settings["brittleness"] = {"multiples": [0.5, 1, 2], "retrainings": 2}
    assert workload.work(("brittleness", "batch-7"), settings) == workload.Work("flip retraining", 4)
    assert workload.grid_work(settings)["flip retraining"] == (60, 8)
    assert workload.factor("retrain_flips", settings, setup(3, [10], 1, ["weat1"], 5, 300, [])) == 3
