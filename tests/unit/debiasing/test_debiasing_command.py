"""``biaslab debiasing apply``, on a small embedding with a bias that was put in."""

import numpy as np
import pytest
from gensim.models import KeyedVectors
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.io import write_npz
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import digest_words
from debiasing_data import PAIRS, WORDS, options_of, vectors, write_lists

VECTORS = vectors(1.5)


@pytest.fixture
def embedding(tmp_path):
    path = tmp_path / "vectors.txt"
    write_embedding(path, WORDS, VECTORS, "word2vec")
    return path


@pytest.fixture
def options(tmp_path):
    return options_of(write_lists(tmp_path))


def applied(*arguments):
    result = CliRunner().invoke(app, ["debiasing", "apply", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def refused(biaslab):
    """Return a function that calls the command as a user does, and returns its last line."""

    def call(*arguments):
        code, _, error = biaslab("debiasing", *arguments)
        assert code == 2
        assert "Traceback" not in error
        assert [line.startswith("biaslab: ") for line in error.splitlines()].count(True) == 1
        return error.splitlines()[-1]

    return call


@pytest.mark.parametrize(("name", "binary"), [("hard.txt", False), ("hard.bin", True)])
def test_hard_debiasing_is_read_by_gensim(embedding, options, tmp_path, name, binary):
    said = applied(embedding, *options, "--out", tmp_path / name)
    assert f"{tmp_path / name}: {len(WORDS)} words; biaslab debiasing audit" in said
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
    assert keyed.index_to_key == WORDS
    lengths = np.linalg.norm(keyed.vectors, axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(VECTORS, axis=1), rtol=1e-6)
    for first, second in PAIRS[:2]:
        for word in ("job3", "word3"):
            assert keyed.similarity(word, first) == pytest.approx(keyed.similarity(word, second), abs=1e-6)
    for word in ("word0", "her", "son"):  # specific, and of a defining set: never neutral
        np.testing.assert_allclose(keyed[word], VECTORS[WORDS.index(word)], rtol=1e-5)


def test_soft_debiasing_goes_with_lambda(embedding, options, tmp_path):
    lean = []
    for penalty in (0, 1, 1000):
        out = tmp_path / f"soft{penalty}.txt"
        applied(embedding, *options, "--method", "soft", "--lambda", penalty, "--out", out)
        unit = read_unit_embedding(out)
        she, he, *rows = (unit.words.index(word) for word in WORDS[:2] + WORDS[8:20])
        lean.append(np.abs(unit.vectors[rows] @ (unit.vectors[she] - unit.vectors[he])).mean())
    assert lean[0] > lean[1] > lean[2]
    kept = read_unit_embedding(tmp_path / "soft0.txt")
    np.testing.assert_allclose(kept.vectors, read_unit_embedding(embedding).vectors, atol=1e-6)


def test_words_in_another_case_are_found_and_named(embedding, options, tmp_path):
    forms = {"job0": "Job0", "job7": "JOB7", "she": "SHE"}
    write_embedding(tmp_path / "case.txt", [forms.get(word, word) for word in WORDS], VECTORS, "word2vec")
    said = applied(tmp_path / "case.txt", *options, "--out", tmp_path / "other.txt")
    assert "3 in another letter case only (she as SHE, job0 as Job0, job7 as JOB7)" in said
    assert "another case" not in applied(embedding, *options, "--out", tmp_path / "same.txt")
    same, other = (read_unit_embedding(tmp_path / f"{name}.txt").vectors for name in ("same", "other"))
    np.testing.assert_array_equal(same, other)


def test_words_that_hold_blanks_are_left_out_of_what_is_written(embedding, options, tmp_path):
    lines = embedding.read_text().splitlines()
    lines = [f"{len(lines)} 30", *lines[1:], f"at name@example.org {lines[3].partition(' ')[2]}"]
    (tmp_path / "public.txt").write_text("\n".join(lines) + "\n")
    said = applied(tmp_path / "public.txt", *options, "--out", tmp_path / "hard.txt", "--unit-length")
    assert "the word of 1 row contains blanks ('at name@example.org')" in said
    assert "hard.txt: words with blanks are omitted (1), because other tools cannot read them" in said
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "hard.txt"))
    assert keyed.index_to_key == WORDS
    np.testing.assert_allclose(np.linalg.norm(keyed.vectors, axis=1), 1, rtol=1e-6)


def test_a_training_of_a_run_is_debiased(embedding, options, tmp_path):
    folder = tmp_path / "setup/embeddings/baseline"
    folder.mkdir(parents=True)
    rows = "".join(f"{word}\t1\n" for word in WORDS)
    (tmp_path / "setup/vocabulary.tsv").write_text("word\tcount\n" + rows)
    write_npz(folder / "batch-0.npz", replicates=np.array([0]), W=VECTORS[None], words=digest_words(WORDS))
    applied(folder / "batch-0.npz", *options, "--out", tmp_path / "a.txt")
    applied(embedding, *options, "--out", tmp_path / "b.txt")
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"she 1 2\nhe nan 2\n", "the vector of 'he' is not finite in 32 bits (word 2"),
        (b"she 0 0\nhe 0 0\n", "all vectors are zero; give a file of trained vectors"),
        (b"she 1 2\nhe 2 1\n", "mine: the embedding has no set with 2 words or more (lost: woman, man)"),
    ],
)
def test_bad_embeddings_end_with_one_line(refused, tmp_path, options, content, problem):
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    (tmp_path / "equalize.yaml").write_text(
        (tmp_path / "equalize.yaml").read_text().replace("- - she\n  - he\n", "")
    )
    assert problem in refused("apply", path, *options, "--out", tmp_path / "out/new.bin")
    assert not (tmp_path / "out").exists()


def test_other_wrong_arguments_end_with_one_line(refused, tmp_path, embedding, options):
    def line(file, *arguments):
        return refused("apply", file, *options, *arguments, "--out", tmp_path / "new.txt")

    assert "file of word vectors does not exist" in line(tmp_path / "absent.bin")
    assert "so they have no bias subspace of 5" in line(embedding, "--components", 5)
    assert "'soft'" in line(embedding, "--method", "gentle")
    assert not (tmp_path / "new.txt").exists()
