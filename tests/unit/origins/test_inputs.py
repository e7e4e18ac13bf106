"""What rules ask for: which age of a corpus counts, and settings by the names that steps have for them."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.io import is_flagged

from biaslab.core.settings import plain
from biaslab.origins.inputs import Inputs
from biaslab.origins.settings import Setup
from biaslab.run.data.datasets import load_registry, verified_copy
from biaslab.run.plan.config import REGISTRY, read_files
from biaslab.run.plan.plan import make_plan
from biaslab.run.record.taken import Taken, note_taken

ROOT = Path(__file__).parents[3]
WILDCARDS = SimpleNamespace(setup="mine", batch="1")


def inputs(checksum="", **changed):
    setup = plain(Setup()) | changed
    return Inputs(
        SimpleNamespace(
            config={"origins": {"setups": {"mine": setup}}},
            units={"origins": SimpleNamespace(names=("mine",))},
            source=lambda source: f"file of {source}",
            checksum=lambda source: checksum,
        )
    )


@pytest.mark.parametrize(("checksum", "counts"), [("", True), ("1a2b", False)])
def test_the_age_of_an_own_corpus_counts_and_that_of_a_verified_copy_does_not(checksum, counts):
    found = inputs(checksum).corpus_source(WILDCARDS)
    assert found == f"file of {Setup().corpus.source}"
    assert is_flagged(found, "ancient") != counts


def test_a_job_leaves_out_its_share_of_the_sets_and_all_tables_are_read():
    made = inputs(lds={"subsets": 7, "shares": [0.5], "retrainings": 2}, trainings_per_job=5)
    assert made.retrained_batch("lds")(WILDCARDS) == {"first": 5, "count": 2, "trainings": 2}
    files = [f"results/origins/mine/lds/retrained/batch-{batch}.tsv" for batch in (0, 1)]
    assert made.retrained("lds")(WILDCARDS) == files


def test_sets_by_ppmi_have_a_file_of_their_own():
    for name, file in (
        ("ppmi-weat1-decrease-30", "ppmi/perturbation_sets.parquet"),
        ("weat1-decrease-30", "perturbation_sets.parquet"),
        ("random-5-0", "perturbation_sets.parquet"),
    ):
        assert inputs().sets_of(SimpleNamespace(setup="mine", set=name)) == f"results/origins/mine/{file}"


@pytest.mark.parametrize(("random_retrainings", "trainings"), [(1, 1), (9, 3), (None, 3)])
def test_random_sets_are_left_out_for_word2vec_no_more_often_than_for_glove(random_retrainings, trainings):
    setup = plain(Setup())
    setup["perturbations"]["random_retrainings"] = random_retrainings
    made = inputs(perturbations=setup["perturbations"])
    for name, expected in (("random-5-0", trainings), ("weat1-decrease-30", 3), ("baseline", 3)):
        assert made.word2vec(SimpleNamespace(setup="mine", trained=name))["trainings"] == expected


def test_of_a_corpus_that_is_not_here_nothing_with_its_texts_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BIASLAB_MIRROR", raising=False)
    own = read_files([ROOT / "workflow/presets/simplewiki.yaml"]) | {"datasets": {"mirror": None}}
    known = load_registry(ROOT / REGISTRY)["simplewiki-2021"].sha256
    note_taken(tmp_path / "results", Taken(source="a.zip", datasets={"simplewiki-2021": known}), [])
    plan = make_plan(own, ROOT)
    assert plan.unreadable == {"simplewiki-2021"}
    assert plan.known_inputs() == {"simplewiki": known}
    assert plan.inputs() == {}
    assert any("results with its texts are omitted" in notice for notice in plan.notices)
    inputs = Inputs(plan)
    assert inputs.pages() == []
    texts = "results/origins/simplewiki/documents.parquet"
    assert texts not in inputs.results()
    assert "results/origins/simplewiki/vocabulary.tsv" in inputs.results()
    copy = Path(verified_copy(load_registry(ROOT / REGISTRY)["simplewiki-2021"]))
    copy.parent.mkdir(parents=True)
    copy.touch()
    whole = make_plan(own, ROOT)
    assert whole.unreadable == set()
    assert texts in Inputs(whole).results()
    assert len(Inputs(whole).pages()) == 4
    # A step that is taken as done needs no copy of its data: the manifest has the registered checksum.
    assert (whole.inputs(), whole.known_inputs()) == ({}, {"simplewiki": known})
