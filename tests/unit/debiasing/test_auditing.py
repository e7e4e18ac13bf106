"""The commands: audits of planted bias against random directions, what apply writes, refused inputs."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from gensim.models import KeyedVectors

import pages
from biaslab.bias.weat import effect_size
from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.io import write_npz
from biaslab.debiasing import auditing
from biaslab.debiasing.experiment import read_experiment
from biaslab.debiasing.methods import debias
from biaslab.debiasing.report.audited import answer
from biaslab.debiasing.settings import COMPARED, Settings
from biaslab.debiasing.word_lists import match_case
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import AnyCase, digest_words
from debiasing_data import JOBS, PAIRS, WORDS, options_of, vectors, write_lists
from refusals import refused

BIASED = vectors(1.5)
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
    experiment = read_experiment(path, files, Settings(**changes), any_case=True)
    return auditing.audit(path, experiment, list(tests), "hard")


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
    zero = BIASED.copy()
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


@pytest.mark.parametrize("decimals", [None, 4])
def test_what_hard_debiasing_wrote_has_no_effect_size(files, decimals):
    """Where nothing but rounding tells the targets apart, there is no number."""
    folder = files[0].parent
    experiment = read_experiment(folder / "biased.txt", files, Settings(), any_case=True)
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


# --- biaslab debiasing apply


@pytest.fixture
def embedding(files):
    return files[0].parent / "biased.txt"


@pytest.fixture
def options(files):
    return options_of(files)


@pytest.fixture
def apply(biaslab):
    """Return a function that calls the command and returns its output, or its only line of an error."""

    def call(*arguments, code=0):
        found, output, error = biaslab("debiasing", "apply", *arguments)
        assert found == code
        assert "Traceback" not in error
        assert [line.startswith("biaslab: ") for line in error.splitlines()].count(True) == (code > 0)
        return error.splitlines()[-1] if code else output

    return call


@pytest.mark.parametrize("method", COMPARED)
def test_apply_writes_what_every_method_makes_of_an_embedding(apply, files, method):
    folder, rng = files[0].parent, np.random.default_rng(4)
    rows = rng.normal(scale=0.25, size=(140, 100)).astype(np.float32)  # INLP needs so many
    rows[:80, :30] = BIASED
    words = [*WORDS, *(f"more{i}" for i in range(60))]
    write_embedding(folder / "biased.txt", words, rows, "word2vec")
    options = [*options_of(files), "--method", method, "--seed", "2", "--out", folder / "new.txt"]
    apply(folder / "biased.txt", *options)
    experiment = read_experiment(folder / "biased.txt", files, Settings(seed=2), any_case=True)
    found = read_unit_embedding(folder / "new.txt")
    np.testing.assert_allclose(found.vectors, debias(method, experiment), atol=1e-6)
    np.testing.assert_allclose(found.lengths, experiment.embedding.lengths, rtol=1e-5)


@pytest.mark.parametrize(("name", "binary"), [("hard.txt", False), ("hard.bin", True)])
def test_hard_debiasing_is_read_by_gensim(apply, embedding, options, tmp_path, name, binary):
    said = apply(embedding, *options, "--out", tmp_path / name)
    assert f"{tmp_path / name}: {len(WORDS)} words; biaslab debiasing audit" in said
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
    assert keyed.index_to_key == WORDS
    lengths = np.linalg.norm(keyed.vectors, axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(BIASED, axis=1), rtol=1e-6)
    for first, second in PAIRS[:2]:
        for word in ("job3", "word3"):
            assert keyed.similarity(word, first) == pytest.approx(keyed.similarity(word, second), abs=1e-6)
    for word in ("word0", "her", "son"):  # specific, and of a defining set: never neutral
        np.testing.assert_allclose(keyed[word], BIASED[WORDS.index(word)], rtol=1e-5)


def test_soft_debiasing_goes_with_lambda(apply, embedding, options, tmp_path):
    lean = []
    for penalty in (0, 1, 1000):
        out = tmp_path / f"soft{penalty}.txt"
        apply(embedding, *options, "--method", "soft", "--lambda", penalty, "--out", out)
        unit = read_unit_embedding(out)
        she, he, *rows = (unit.words.index(word) for word in WORDS[:2] + WORDS[8:20])
        lean.append(np.abs(unit.vectors[rows] @ (unit.vectors[she] - unit.vectors[he])).mean())
    assert lean[0] > lean[1] > lean[2]
    kept = read_unit_embedding(tmp_path / "soft0.txt")
    np.testing.assert_allclose(kept.vectors, read_unit_embedding(embedding).vectors, atol=1e-6)


def test_words_in_another_case_are_found_and_named(apply, embedding, options, tmp_path):
    forms = {"job0": "Job0", "job7": "JOB7", "she": "SHE"}
    write_embedding(tmp_path / "case.txt", [forms.get(word, word) for word in WORDS], BIASED, "word2vec")
    said = apply(tmp_path / "case.txt", *options, "--out", tmp_path / "other.txt")
    assert "3 in another letter case only (she as SHE, job0 as Job0, job7 as JOB7)" in said
    assert "another case" not in apply(embedding, *options, "--out", tmp_path / "same.txt")
    same, other = (read_unit_embedding(tmp_path / f"{name}.txt").vectors for name in ("same", "other"))
    np.testing.assert_array_equal(same, other)


def test_words_that_hold_blanks_are_left_out_of_what_is_written(apply, embedding, options, tmp_path):
    lines = embedding.read_text().splitlines()
    lines = [f"{len(lines)} 30", *lines[1:], f"at name@example.org {lines[3].partition(' ')[2]}"]
    (tmp_path / "public.txt").write_text("\n".join(lines) + "\n")
    said = apply(tmp_path / "public.txt", *options, "--out", tmp_path / "hard.txt", "--unit-length")
    assert "the word of 1 row contains blanks ('at name@example.org')" in said
    assert "hard.txt: words with blanks are omitted (1), because other tools cannot read them" in said
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "hard.txt"))
    assert keyed.index_to_key == WORDS
    np.testing.assert_allclose(np.linalg.norm(keyed.vectors, axis=1), 1, rtol=1e-6)


def test_a_training_of_a_run_is_debiased(apply, embedding, options, tmp_path):
    folder = tmp_path / "setup/embeddings/baseline"
    folder.mkdir(parents=True)
    rows = "".join(f"{word}\t1\n" for word in WORDS)
    (tmp_path / "setup/vocabulary.tsv").write_text("word\tcount\n" + rows)
    write_npz(folder / "batch-0.npz", replicates=np.array([0]), W=BIASED[None], words=digest_words(WORDS))
    apply(folder / "batch-0.npz", *options, "--out", tmp_path / "a.txt")
    apply(embedding, *options, "--out", tmp_path / "b.txt")
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"she 1 2\nhe nan 2\n", "the vector of 'he' is not finite in 32 bits (word 2"),
        (b"she 0 0\nhe 0 0\n", "all vectors are zero; give a file of trained vectors"),
        (b"she 1 2\nhe 2 1\n", "mine: the embedding has no set with 2 words or more (lost: woman, man)"),
    ],
)
def test_bad_embeddings_end_with_one_line(apply, tmp_path, options, content, problem):
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    (tmp_path / "equalize.yaml").write_text(
        (tmp_path / "equalize.yaml").read_text().replace("- - she\n  - he\n", "")
    )
    assert problem in apply(path, *options, "--out", tmp_path / "out/new.bin", code=2)
    assert not (tmp_path / "out").exists()


def test_other_wrong_arguments_end_with_one_line(apply, tmp_path, embedding, options):
    def line(file, *arguments):
        return apply(file, *options, *arguments, "--out", tmp_path / "new.txt", code=2)

    assert "file of word vectors does not exist" in line(tmp_path / "absent.bin")
    assert "so they have no bias subspace of 5" in line(embedding, "--components", 5)
    assert "'soft'" in line(embedding, "--method", "gentle")
    assert not (tmp_path / "new.txt").exists()
