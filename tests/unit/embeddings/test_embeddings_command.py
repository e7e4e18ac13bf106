"""The commands that train word vectors and convert them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence
from biaslab.embeddings.formats import read_embedding
from biaslab.embeddings.glove import write_trainings
from biaslab.embeddings.retraining import train_replicates
from biaslab.embeddings.settings import GloveParameters
from biaslab.embeddings.vocabulary import digest_words

WORDS = ["bread", "cake", "milk", "wine", "beer", "tea", "ale", "rum"]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = stream(3)
    lines = [json.dumps({"id": str(i), "text": " ".join(rng.choice(WORDS, 50))}) for i in range(20)]
    (tmp_path / "texts.jsonl").write_text("\n".join(lines) + "\n")
    return "texts.jsonl"


def run(*arguments):
    result = CliRunner().invoke(app, ["embeddings", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


@pytest.mark.slow
@pytest.mark.parametrize("method", ["glove", "word2vec"])
def test_texts_become_vectors_that_depend_on_the_seed_alone(texts, method, tmp_path):
    options = ["train", texts, "--method", method, "--dimension", 4, "--epochs", 2]
    for name, more in {"a": [], "b": ["--threads", 2], "c": ["--seed", 2]}.items():
        run(*options, *more, "--out", name)
    words, vectors = read_embedding("a")
    assert sorted(words) == sorted(WORDS)
    assert vectors.shape == (8, 4)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b != c


def test_a_training_of_a_batch_is_converted_with_the_words_near_it(texts, tmp_path):
    x = cooccurrence.count(np.arange(8, dtype=np.int32), np.array([0, 8]), 8, 2)
    trained = train_replicates(x, GloveParameters(3, 1), "baseline", [0, 1], 1, tmp_path / "x", 60)
    write_trainings(tmp_path / "batch.npz", [0, 1], trained, True, digest_words(WORDS))
    rows = "".join(f"{word}\t{9 - i}\n" for i, word in enumerate(WORDS))
    (tmp_path / "vocabulary.tsv").write_text(f"word\tcount\n{rows}")
    run("convert", "batch.npz", "--replicate", 1, "--format", "glove", "--out", "b")
    words, vectors = read_embedding("b")
    assert words == WORDS
    np.testing.assert_array_equal(vectors, trained[1].W)
