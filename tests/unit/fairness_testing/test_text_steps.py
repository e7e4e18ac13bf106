"""The steps on one corpus, one after the other, as rules call them."""

import json
from pathlib import Path

import numpy as np
import pytest

import text_experiment_data as made
from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.fairness_testing.text.corpus import load_prepared
from biaslab.run.steps import run_step
from biaslab.text.words import Lexicon

TRAINING = {"epochs": 6, "batch_size": 8, "learning_rate": 0.03, "negative_weight": 0.5}
VECTORS = {"source": "vectors.txt", "vectors": "read.npz", "training": None}
EFFORT = {"seeds": 5, "hops": 2, "seed": 1}


def run(step, threads=None, **given):
    run_step(f"fairness-testing.{step}", json.dumps(given), threads, print)


def on(step, threads=None, **given):
    """Run a step on the corpus; all but searching ask for the seed by itself."""
    run(step, threads, folder="text-made", **({} if "effort" in given else {"seed": 1}), **given)


def prepare(*features, **files):
    texts = {"format": "table", "train": "texts.csv", **files}
    on(
        "prepare-tested-texts",
        source=texts,
        vectors="read.npz",
        terms="terms.yaml",
        sentences="sentences.txt",
        features=features,
    )


def refused(call, *arguments, **given):
    """Return the line in which a step says what is wrong."""
    with pytest.raises(InputError) as caught:
        call(*arguments, **given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The inputs in the current folder, the vectors as text."""
    monkeypatch.chdir(tmp_path)
    written = made.write_inputs(tmp_path)
    vectors = Lexicon.load(written["vectors"])
    lines = [" ".join([w, *map(str, row)]) for w, row in zip(vectors.words, vectors.vectors, strict=True)]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_all_steps(files):
    run("train-text-vectors", **VECTORS, seed=1)
    read, given = Lexicon.load(files / "read.npz"), Lexicon.load(files / "vectors.npz")
    assert read.words == given.words
    np.testing.assert_array_equal(read.vectors, given.vectors)
    prepare("trade", "relation")
    on("train-text-networks", kinds=["gru"], repetitions=2, training=TRAINING)
    on("search-text-networks", 1, kind="gru", repetitions=2, effort=EFFORT)
    added = {"retrainings": 2, "share": 0.1, "n_independent": 9}
    on("retrain-text-networks", kind="gru", **added, training=TRAINING)
    on("measure-found-texts", models=["gru"], pairs=5, encoder={}, is_certified=False)
    assert list(load_prepared(files / "text-made").values) == ["trade", "relation"]
    assert read_tsv("text-made/models.tsv")["epoch"].between(1, 6).all()
    assert read_tsv("text-made/global.tsv")["n_seeds"].eq(5).all()
    assert read_tsv("text-made/retraining.tsv")["n_independent"].max() <= 9
    assert read_tsv("text-made/validity.tsv")["n_pairs"].max() <= 5
    assert Path("text-made/example.json").exists()


def test_certified_training_is_a_step(files):
    pytest.importorskip("torch")
    run("train-text-vectors", **VECTORS, seed=1)
    prepare("trade")
    on("train-text-networks", kinds=["lstm"], repetitions=1, training=TRAINING)
    on("search-text-networks", 1, kind="lstm", repetitions=1, effort=EFFORT)
    on("certify-text-networks", kind="lstm", epochs=2, n_independent=None, negative_weight=0.5)
    rows = read_tsv("text-made/lstm/certified.tsv")
    assert rows["tester"].tolist() == ["certified"]


def test_word_vectors_are_trained_on_a_corpus(files):
    documents = files / "documents.txt"
    documents.write_text("".join(f"{text}\n" for text, _ in made.rows()[:30]), encoding="utf-8")
    glove = {"dimension": 4, "epochs": 2}
    training = {"format": "text", "choice": {"min_count": 3}, "window": 3, "glove": glove}
    for threads, vectors in ((1, "one.npz"), (2, "two.npz")):
        given = {"source": str(documents), "vectors": vectors, "training": training}
        run("train-text-vectors", threads, **given, seed=1)
    assert (files / "one.npz").read_bytes() == (files / "two.npz").read_bytes()
    trained = Lexicon.load(files / "one.npz")
    assert trained.vectors.shape == (len(trained.words), 4)
    assert {"the", "near", "park"} <= {*trained.words}
    assert trained.is_known.all()


def test_what_is_wrong_is_said_in_one_line(files):
    error = refused(run, "train-text-vectors", source="none.txt", vectors="o.npz", seed=1)
    assert "none.txt" in error
    run("train-text-vectors", **VECTORS, seed=1)
    assert refused(prepare, "trade", "colours").startswith("terms.yaml: has no feature 'colours'")
    assert "texts for test are named, but none for validation" in refused(prepare, "trade", test="texts.csv")
    training = {"repetitions": 1, "training": TRAINING}
    error = refused(run, "train-text-networks", folder="nowhere", kinds=["gru"], **training, seed=1)
    assert "texts.npz" in error
    prepare("trade")
    error = refused(on, "search-text-networks", kind="gru", repetitions=1, effort=EFFORT)
    assert "network-0.npz" in error
    assert "grus" in refused(on, "train-text-networks", kinds=["grus"], **training)
