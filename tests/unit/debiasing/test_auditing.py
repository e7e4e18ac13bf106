"""The audit of embeddings: planted bias against random directions, remaining bias, refused inputs."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

import pages
from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.debiasing import auditing
from biaslab.debiasing.methods import debias
from biaslab.debiasing.report.audited import answer
from biaslab.debiasing.settings import COMPARED, Settings
from biaslab.debiasing.word_lists import match_case
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import AnyCase
from debiasing_data import JOBS, WORDS, options_of, vectors, write_lists
from refusals import refused

TEST = WordSets(
    "jobs",
    "These jobs and those",
    "made up",
    {"these": ["Job0", "job2", "job4"], "those": ["job1", "job3", "JOB5"]},
    {"female": ["She", "woman", "her"], "male": ["he", "man", "his"]},
)


def write_files(folder):
    for name, lean in (("biased", 1.5), ("plain", 0.02)):
        write_embedding(folder / f"{name}.txt", WORDS, vectors(lean), "word2vec")
    return write_lists(folder)


@pytest.fixture
def files(tmp_path):
    return write_files(tmp_path)


def audited(files, name, tests=(TEST,), **changes):
    path = files[0].parent / (name if "." in name else f"{name}.txt")
    return auditing.audit(path, *auditing.read_own(path, files, Settings(**changes)), list(tests), "hard")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    files = write_files(tmp_path_factory.mktemp("audits"))
    return [audited(files, name) for name in ("biased", "plain")]


def test_a_planted_bias_stands_out_and_none_does_not(both):
    biased, plain = auditing.compare(both)
    assert biased.share_below == 1
    assert plain.share_below < 0.9
    assert biased.after.values["direct_bias_neutral"] == pytest.approx(0, abs=1e-6)
    lines = " ".join(answer([biased, plain], "hard").lines)
    assert "smaller DirectBias: the bias direction differs from random directions." in lines
    assert "the bias direction does not differ from random directions. This result does not prove" in lines


def test_words_with_zero_vectors_are_named_and_change_no_other_number(files):
    zero = vectors(1.5)
    zero[[WORDS.index("job2"), WORDS.index("word7")]] = 0
    kept = zero.any(axis=1)
    write_embedding(files[0].parent / "zero.txt", WORDS, zero, "glove")
    names = [word for word, is_kept in zip(WORDS, kept, strict=True) if is_kept]
    write_embedding(files[0].parent / "without.txt", names, zero[kept], "glove")
    found, without = audited(files, "zero"), audited(files, "without")
    assert found.n_words == without.n_words == len(WORDS) - 2
    assert found.before.weats.equals(without.before.weats)
    assert found.lost == without.lost
    path = files[0].parent / "zero.txt"
    assert answer([found], "hard").lines[-2:] == [
        f"{path}: 2 words omitted, because the vectors are zero and have no direction ('job2', 'word7')",
        f"{path}: job2 has a zero vector and counts as missing from the lists",
    ]


def test_numbers_are_those_of_the_measures(both):
    found = both[0]
    unit = read_unit_embedding(found.file)
    weat = in_vocabulary(match_case(TEST, AnyCase(unit.ids())), unit.ids())
    assert found.tests["before"].item() == pytest.approx(effect_size(unit.vectors, weat))
    direction = sum(unit.vectors[i] - unit.vectors[i + 1] for i in range(0, 8, 2)).astype(np.float64)
    leaning = np.abs(unit.vectors[8:20] @ direction / np.linalg.norm(direction)).mean()
    assert found.bias == pytest.approx(leaning, abs=0.01)
    assert len(found.random) == auditing.N_DIRECTIONS
    assert set(found.remaining["measure"]) == {"classifier_accuracy", "cluster_accuracy"}
    assert found.remaining[["before", "after", "chance"]].to_numpy().min() >= 0
    classifier = found.remaining.set_index("measure").loc["classifier_accuracy"]
    assert classifier["chance_low"] < classifier["chance"] < classifier["chance_high"]
    assert classifier["before_low"] <= classifier["before"] <= classifier["before_high"]


def test_words_are_found_whatever_their_case(both):
    ids = AnyCase({word: row for row, word in enumerate(WORDS)})
    matched = match_case(TEST, ids)
    assert ids.recased == {"Job0": "job0", "JOB5": "job5", "She": "she"}
    assert matched.targets == {"these": ["job0", "job2", "job4"], "those": ["job1", "job3", "job5"]}
    two_forms = AnyCase({"Job0": 0, "job0": 1})
    assert match_case(TEST, two_forms).targets["these"][0] == "Job0"
    assert two_forms.recased == {}
    shared = dataclasses.replace(TEST, targets={"these": ["job0"], "those": ["JOB0", "job1"]})
    assert match_case(shared, ids).targets == {"these": ["job0"], "those": ["JOB0", "job1"]}
    assert both[0].tests["lost"].item() == ""


def test_corrected_p_values_are_of_all_embeddings(both):
    found = auditing.compare(both)
    p = [one.tests["p_value"].item() for one in found]
    least = min(range(2), key=p.__getitem__)
    assert found[least].tests["p_corrected"].item() == pytest.approx(min(1, 2 * p[least]))


def test_too_few_occupations_are_refused(files):
    few = {"name": "few", "title": "t", "source": "s", "words": [*JOBS[:3], "lost"]}
    files[2].write_text(yaml.safe_dump(few))
    with refused(r"biased\.txt: the embedding has 3 of the neutral occupations"):
        audited(files, "biased")


@pytest.mark.parametrize("method", COMPARED)
def test_apply_writes_what_every_method_makes_of_an_embedding(files, method, biaslab):
    folder, rng = files[0].parent, np.random.default_rng(4)
    rows = rng.normal(scale=0.25, size=(140, 100)).astype(np.float32)  # INLP needs so many
    rows[:80, :30] = vectors(1.5)
    words = [*WORDS, *(f"more{i}" for i in range(60))]
    write_embedding(folder / "biased.txt", words, rows, "word2vec")
    options = [*options_of(files), "--method", method, "--seed", "2", "--out", folder / "new.txt"]
    assert biaslab("debiasing", "apply", folder / "biased.txt", *options)[0] == 0
    experiment, _ = auditing.read_own(folder / "biased.txt", files, Settings(seed=2))
    found = read_unit_embedding(folder / "new.txt")
    np.testing.assert_allclose(found.vectors, debias(method, experiment), atol=1e-6)
    np.testing.assert_allclose(found.lengths, experiment.embedding.lengths, rtol=1e-5)


@pytest.mark.parametrize("decimals", [None, 4])
def test_what_hard_debiasing_wrote_has_no_effect_size(files, decimals):
    """Where nothing but rounding tells the targets apart, there is no number."""
    folder = files[0].parent
    experiment, _ = auditing.read_own(folder / "biased.txt", files, Settings())
    hard = debias("hard", experiment)
    for scale in (1, 3, 0.1) if decimals is None else (1,):
        rows = scale * (hard if decimals is None else hard.round(decimals))
        write_embedding(folder / "hard.txt", WORDS, rows.astype(np.float32), "word2vec")
        equal = dataclasses.replace(TEST, attributes={"f": ["she", "woman"], "m": ["he", "man"]})
        test = audited(files, "hard", [equal]).tests.iloc[0]
        assert np.isnan(test["before"])
        assert test["p_value"] == 1


def test_the_command_answers_of_several_files_and_ranks_them(files, tmp_path, monkeypatch, biaslab):
    monkeypatch.chdir(tmp_path)
    head = {"name": "jobs", "title": "t", "source": "s"}
    test = head | {"targets": TEST.targets, "attributes": TEST.attributes}
    Path("w.yaml").write_text(yaml.safe_dump(test))
    Path("same.yaml").write_text(yaml.safe_dump(test | {"name": "jobs_same", "measure": "same"}))

    def run(code, *arguments):
        found, output, error = biaslab("debiasing", "audit", *arguments, *options_of(files))
        assert found == code
        return output + error

    both, weats = ["biased.txt", "plain.txt"], ["--weat", "w.yaml", "--weat", "same.yaml"]
    assert "Rank 1: plain.txt, mean rank over 2 tests 1.00 of 2" in run(0, *both, *weats)
    page = pages.Page(Path("debiasing-audit.html").read_text())
    assert all(link.startswith("data:") for link in page.links)
    numbers = json.loads(Path("debiasing-audit.json").read_text())
    assert {"biased.txt", "plain.txt"} <= set(numbers)
    assert [row["embedding"] for row in numbers["ranks"]["ranking"]] == ["plain.txt", "biased.txt"]
    assert {row["weat"] for row in numbers["ranks"]["values"]} == {"jobs", "jobs_same"}
    run(0, *both, "--weat", "same.yaml")
    assert "could be measured" not in Path("debiasing-audit.html").read_text()
    repeated = "plain.txt: the embedding is repeated; give each embedding once"
    assert repeated in run(2, "plain.txt", "plain.txt")
    assert "jobs: two tests have this name" in run(2, *both, "--weat", "w.yaml", "--weat", "w.yaml")
