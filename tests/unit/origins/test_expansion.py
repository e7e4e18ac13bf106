"""What the paper's setups expand to."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.core.errors import InputError
from biaslab.origins import analyses, expansion
from biaslab.origins.sets import BASELINE
from biaslab.run.plan.config import PRESETS, load_files

ROOT = Path(__file__).parents[3]
LDS, BRITTLENESS = map(analyses.named, ("lds", "brittleness"))

# Brunet et al. 2019, Appendix C: 10 targeted sets per corpus and bias, 30 random sets for Wiki and 6 for NYT,
# 5 retrainings of each set, 10 baselines. Table 5: 10 retrainings without each of the 8 sets that PPMI finds,
# and 10 instead of 5 without the 8 of ours. Beyond the paper: two
# retrainings on each of thirty random subsets.
PAPER = [("simplewiki", 20, 30, 8, 0, 250 + 40 + 80), ("nyt", 20, 6, 0, 0, 130)]


def setup_of(name: str) -> dict:
    files = [ROOT / PRESETS / f"{name}.yaml"] if name != "sample" else [ROOT / "config.yaml"]
    return load_files(files, ROOT)["origins"]["setups"][name]


@pytest.mark.parametrize(
    ("name", "n_targeted", "n_random", "n_ppmi", "n_subsets", "n_retrainings"),
    [*PAPER, ("sample", 16, 4, 2, 0, 100 + 2 + 12)],
)
def test_setups_have_the_papers_counts(name, n_targeted, n_random, n_ppmi, n_subsets, n_retrainings):
    setup = setup_of(name)
    sets = expansion.perturbation_sets(setup)
    assert len(sets) == len(set(sets)) == n_targeted + n_random
    assert sum(s.startswith("random-") for s in sets) == n_random
    by_ppmi = expansion.ppmi_sets(setup)
    assert len(by_ppmi) == n_ppmi
    every = [*sets, *by_ppmi]
    assert sum(batch.count for batch in LDS.batches(setup)) == n_subsets
    others = sum(batch.count for s in every for batch in expansion.batches_of(s, setup))
    assert others + LDS.n_sets(setup) * LDS.trainings(setup) == n_retrainings
    assert ("lds/scores.tsv" in analyses.lacks(setup)) == (not n_subsets)
    assert sum(batch.count for batch in expansion.batches_of(BASELINE, setup)) == 10
    assert analyses.summary(name, setup).endswith(f" {n_retrainings} retrainings")


def test_sets_of_table_5_are_trained_equally_often():
    setup = setup_of("sample")
    for name in expansion.ppmi_sets(setup):
        both = name, name.removeprefix("ppmi-")
        assert [expansion.trainings_of(one, setup) for one in both] == [6, 6]
    others = "weat1-decrease-10", "random-30-0"
    assert [expansion.trainings_of(one, setup) for one in others] == [5, 5]
    setup |= {"ppmi_sets": {"sizes": [30], "retrainings": 2}}
    assert expansion.trainings_of("weat1-decrease-30", setup) == 5
    assert expansion.trainings_of("ppmi-weat1-decrease-30", setup) == 2
    setup["perturbations"]["random_retrainings"] = 2
    assert expansion.trainings_of("random-30-0", setup) == 2
    setup["perturbations"]["random_retrainings"] = 0
    assert not [name for name in expansion.perturbation_sets(setup) if name.startswith("random-")]


def test_the_largest_sets_are_of_the_largest_size_in_any_order():
    perturbations = {"sizes": [10, 300, 30], "retrainings": 5}
    setup = {"bias": {"weats": ["weat1", "weat2"]}, "perturbations": perturbations}
    kinds = ("increase-300", "decrease-300")
    assert expansion.largest_sets(setup) == [f"weat{k}-{kind}" for k in (1, 2) for kind in kinds]


@given(st.integers(1, 60), st.integers(1, 12))
def test_batches_hold_every_replicate_once(trainings, per_job):
    batches = expansion.batches(trainings, per_job)
    replicates = [batch.first + i for batch in batches for i in range(batch.count)]
    assert replicates == list(range(trainings))
    assert all(1 <= batch.count <= per_job for batch in batches)


def test_files_of_embeddings_and_results():
    setup = setup_of("sample") | {"baselines": 3, "trainings_per_job": 2}
    batches = ["baseline/batch-0", "baseline/batch-1", *(f"random-10-0/batch-{k}" for k in range(3))]
    found = expansion.embedding_files("out", [BASELINE, "random-10-0"], setup)
    assert found == [f"out/embeddings/{batch}.npz" for batch in batches]
    files = analyses.result_files("out", {"mine": setup})
    assert "out/mine/baseline.tsv" in files
    assert {f"out/mine/ppmi/weat{k}.parquet" for k in (1, 2)} <= set(files)
    flips = setup | {"brittleness": {"multiples": [0.5, 1, 2], "retrainings": 4}}
    names = ("numbers", "paths", "outcomes", "brackets")
    found = set(analyses.result_files("out", {"mine": flips})) - set(files)
    assert found == {f"out/mine/brittleness/{name}.tsv" for name in names}
    assert sum(batch.count for batch in BRITTLENESS.batches(flips)) == 2 * 5 * 3
    assert BRITTLENESS.n_sets(flips) * BRITTLENESS.trainings(flips) == 120


def test_a_test_without_a_table_is_named():
    assert expansion.of_test([Path("a/v.tsv"), Path("a/w.tsv")], "w") == Path("a/w.tsv")
    problem = r"w: the tables \(v\) do not include this test; give one table for each test"
    with pytest.raises(InputError, match=problem):
        expansion.of_test([Path("a/v.tsv")], "w")
