"""The steps on one corpus, one after the other, as rules call them."""

import json

import pytest

import text_experiment_data as made
from biaslab.core.errors import InputError
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
