"""The analogy task."""

import math

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv, write_npz
from biaslab.embeddings import analogies
from biaslab.embeddings.analogies import count_questions, default_questions, evaluate
from biaslab.embeddings.vocabulary import digest_words
from refusals import assert_file_refused

# Royals, and capitals and countries, as sums of features; the last word disturbs.
WORDS = ["man", "woman", "king", "queen", "paris", "france", "rome", "italy", "noise"]
VECTORS = np.array(
    [
        [1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0],
        [1, 0, 1, 0, 0, 0],
        [0, 1, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 1, 0],
        [0, 0, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1],
        [1, 1, -1, 1, -1, -1],
    ],
    dtype=np.float32,
)
QUESTIONS = """\
: family
man woman king queen
man king woman queen
king queen man noise
: capitals
Paris France Rome Italy
FRANCE PARIS ITALY ROME
paris france london england
"""


@pytest.fixture
def questions(tmp_path):
    path = tmp_path / "questions.txt"
    path.write_text(QUESTIONS)
    return path


def test_right_answers_are_counted_among_answerable_questions(questions):
    score = evaluate(WORDS, VECTORS, questions)
    assert (score.correct, score.total, score.questions) == (4, 5, 6)
    assert score.accuracy == 0.8
    assert score.coverage == 5 / 6
    scaled = VECTORS * np.random.default_rng(0).uniform(0.1, 10, (len(WORDS), 1)).astype(np.float32)
    assert evaluate(WORDS, scaled, questions) == score


def test_every_word_is_a_candidate(questions):
    # The last word of the vocabulary now is a nearer answer to "man woman king" than queen.
    vectors = VECTORS.copy()
    vectors[-1] = vectors[1] / math.sqrt(1) + vectors[2] / math.sqrt(2) - vectors[0]
    assert evaluate(WORDS, vectors, questions).correct == 2


def test_the_default_questions_come_with_gensim(tmp_path):
    assert count_questions(default_questions()) == 19544
    with pytest.raises(InputError, match="name an existing file of analogy questions"):
        count_questions(tmp_path / "absent.txt")


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
def test_a_vector_without_a_cosine_is_refused(questions, value):
    vectors = VECTORS.copy()
    vectors[2] = value
    with pytest.raises(InputError, match="the vector of 'king' is zero or not finite"):
        evaluate(WORDS, vectors, questions)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no analogy questions"),
        (b": family\n\n", "no analogy questions"),
        (b"man woman king queen\n", "line 1: the question has no section"),
        (b": family\nman woman king\n", "line 2: expected 4 words, found 3 words"),
        (b": family\n\nman woman king queen prince\n", "line 3: expected 4 words, found 5 words"),
        (b": family\n\xff\n", "not UTF-8 text"),
    ],
)
def test_malformed_questions_are_refused(tmp_path, content, problem):
    assert_file_refused(
        tmp_path / "questions.txt", content, problem, lambda path: evaluate(WORDS, VECTORS, path)
    )


def test_analogies_of_all_trainings(tmp_path, questions, monkeypatch):
    vocabulary, out = tmp_path / "vocabulary.tsv", tmp_path / "analogies.tsv"
    vocabulary.write_text("word\tcount\n" + "".join(f"{word}\t5\n" for word in WORDS))
    batch = tmp_path / "baseline" / "batch-0.npz"
    vectors = np.stack([VECTORS, np.random.default_rng(0).normal(size=VECTORS.shape)]).astype(np.float32)
    write_npz(batch, replicates=np.array([1, 0]), W=vectors, words=digest_words(WORDS))
    monkeypatch.setattr(analogies, "default_questions", lambda: questions)
    analogies.write_analogies([batch], vocabulary, out)
    table = read_tsv(out)
    assert table.columns.tolist() == ["set", "seed", "correct", "total", "accuracy", "coverage"]
    assert table["set"].tolist() == ["baseline"] * 2
    assert table["seed"].tolist() == [0, 1]
    assert table["total"].tolist() == [5, 5]
    assert table.iloc[1][["correct", "accuracy"]].tolist() == [4, 0.8]
    assert table["coverage"].tolist() == pytest.approx([5 / 6] * 2)
