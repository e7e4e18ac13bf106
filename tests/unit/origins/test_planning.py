"""What the workflow plans for setups: sets, trainings, files, inputs of rules, and parts switched off."""

from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from snakemake.io import is_flagged

from biaslab.audit.claims import read_claims
from biaslab.core.errors import InputError
from biaslab.core.settings import merge, plain
from biaslab.origins import analyses, expansion
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.origins.inputs import Inputs
from biaslab.origins.sets import BASELINE
from biaslab.origins.settings import Setup
from biaslab.run.area import Unit, expand
from biaslab.run.data.datasets import load_registry, verified_copy
from biaslab.run.plan.config import PRESETS, REGISTRY, load_files, read_files
from biaslab.run.plan.plan import CLAIMS, Plan, make_plan
from biaslab.run.record.taken import Taken, note_taken

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


SMOKE = yaml.safe_load((ROOT / "workflow/presets/smoke.yaml").read_text(encoding="utf-8"))
SWITCHES = {"lds": "subsets", "planted": "documents", "brittleness": "retrainings", "word2vec": "trainings"}
GONE = {name: {name} for name in SWITCHES} | {"word2vec": {"figure9_glove_word2vec", "analogies_word2vec"}}
ALL_OFF = {section: {key: 0} for section, key in SWITCHES.items()}


def planned(switched: dict) -> Plan:
    """Return what the smoke preset does with something switched off."""
    mine = {"areas": ["origins"], "origins": {"setups": {"smoke": switched}}}
    return make_plan(merge(SMOKE, mine), ROOT)


@pytest.mark.parametrize(("section", "key"), SWITCHES.items())
def test_what_needs_a_part_goes_with_it_and_all_else_stays(section, key):
    whole, plan = planned({}), planned({section: {key: 0}})
    made = {one.item.stem for one in plan.made(plan.area("origins"))}
    before = {one.item.stem for one in whole.made(whole.area("origins"))}
    assert before - made == GONE[section]
    assert f"{section}.{key} is 0" in plan.audited()["lacking"]["origins/smoke"]
    read = {file for one in plan.made(plan.area("origins")) for file in one.inputs(plan.area("origins"))}
    results = analyses.result_files("results/origins", plan.config["origins"]["setups"])
    no_claim_reads = (f"/{BY_SEED}/", "/bias_gradient/")
    ours = {file for file in read if file.startswith("results/")}
    assert {file for file in ours if not any(part in file for part in no_claim_reads)} <= set(results)


@pytest.mark.parametrize(
    "switched",
    [
        {},
        {"word2vec": {"trainings": 0}},
        {"ppmi_sets": {"sizes": []}},
        {"perturbations": {"random_retrainings": 0}},
    ],
    ids=str,
)
def test_all_that_claims_read_is_made_or_the_audit_is_told_why_not(switched):
    preset = yaml.safe_load((ROOT / "workflow/presets/simplewiki.yaml").read_text(encoding="utf-8"))
    plan = make_plan(merge(preset, {"origins": {"setups": {"simplewiki": switched}}}), ROOT)
    lacking = plan.audited()["lacking"]["origins/simplewiki"]
    made = analyses.result_files("results/origins", plan.config["origins"]["setups"])
    made = [file.removeprefix("results/") for file in [*made, *plan.report_files("origins")]]
    known = [*made, *(file for files in lacking.values() for file in files)]
    claims = read_claims([ROOT / CLAIMS / "origins.tsv"], ROOT / "workflow/schemas/claims.schema.yaml")
    ours = [claim for claim in claims if not claim.setups or "simplewiki" in claim.setups]
    read = {file for claim in ours for file in claim.file.replace("{setup}", "simplewiki").split()}
    assert len(read) > 10
    unknown = {file for file in read if not any(fnmatch(one, file) or fnmatch(file, one) for one in known)}
    assert unknown == set()
    assert "" not in lacking


def test_tables_are_told_of_a_setup_what_they_are_made_of_alone():
    whole, plan = planned({}), planned(ALL_OFF)
    area, before, after = plan.area("origins"), *(one.reports(one.area("origins")) for one in (whole, plan))
    stays = [
        whole.report_inputs(area, before[stem]) == plan.report_inputs(area, after[stem]) for stem in after
    ]
    told = [whole.described(area, before[stem]) == plan.described(area, after[stem]) for stem in after]
    assert any(stays)
    assert all(same for same, stay in zip(told, stays, strict=True) if stay)


@pytest.mark.parametrize("switched", [{}, ALL_OFF], ids=str)
def test_what_tables_are_told_is_enough_to_make_them(switched):
    plan = planned(switched)
    area = plan.area("origins")
    for made in plan.reports(area).values():
        units = [Unit(**one) for one in plan.described(area, made)]
        stems = [one.stem for one in made]
        found = [one for one in expand(area.items, units) if one.stem in stems]
        assert [one.inputs(area) for one in found] == [one.inputs(area) for one in made]


def test_one_training_has_no_spread():
    problem = r"smoke\.word2vec\.trainings: one training has no standard deviation; write 0"
    with pytest.raises(InputError, match=problem):
        planned({"word2vec": {"trainings": 1}})
