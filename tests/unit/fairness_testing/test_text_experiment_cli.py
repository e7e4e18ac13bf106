"""``biaslab fairness-testing text experiment``: all steps of one corpus, as rules call them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import text_experiment_data as made
from biaslab.cli import app, main
from biaslab.core.io import read_tsv
from biaslab.fairness_testing.text.corpus import load_prepared
from biaslab.text.words import Lexicon

STEP = ("fairness-testing", "text", "experiment")
TRAINING = ("--epochs", "6", "--batch-size", "8", "--learning-rate", "0.03", "--negative-weight", "0.5")
SEED = ("--seed", "1")


def run(*arguments):
    result = CliRunner().invoke(app, [*STEP, *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def refused(monkeypatch, capsys, *arguments):
    """Call the command as a user does; return the line that it says."""
    monkeypatch.setattr(sys, "argv", ["biaslab", *STEP, *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    error = capsys.readouterr().err.strip()
    assert "\n" not in error
    return error


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The inputs in the current folder, the vectors as text."""
    monkeypatch.chdir(tmp_path)
    written = made.write_inputs(tmp_path)
    vectors = Lexicon.load(written["vectors"])
    lines = [" ".join([w, *map(str, row)]) for w, row in zip(vectors.words, vectors.vectors, strict=True)]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


PREPARE = (
    *("prepare", "text-made", "--source", "texts.csv", "--vectors", "read.npz", "--terms", "terms.yaml"),
    *("--sentences", "sentences.txt", *SEED, "--features"),
)


def test_all_steps(files):
    run("vectors", "vectors.txt", "--out", "read.npz", *SEED)
    read, given = Lexicon.load(files / "read.npz"), Lexicon.load(files / "vectors.npz")
    assert read.words == given.words
    np.testing.assert_array_equal(read.vectors, given.vectors)
    run(*PREPARE, "trade,relation")
    run("train", "text-made", "--models", "gru", "--repetitions", 2, *TRAINING, *SEED)
    effort = ("--repetitions", 2, "--seeds", 5, "--hops", 2, "--threads", 1)
    run("search", "text-made", "--model", "gru", *effort, *SEED)
    retrainings = ("--retrainings", 2, "--retraining-share", 0.1, "--independent", 9)
    run("retrain", "text-made", "--model", "gru", *retrainings, *TRAINING, *SEED)
    run("measure", "text-made", "--models", "gru", "--pairs", 5, *SEED)
    assert list(load_prepared(files / "text-made").values) == ["trade", "relation"]
    assert read_tsv("text-made/models.tsv")["epoch"].between(1, 6).all()
    assert read_tsv("text-made/global.tsv")["n_seeds"].eq(5).all()
    assert read_tsv("text-made/retraining.tsv")["n_independent"].max() <= 9
    assert read_tsv("text-made/validity.tsv")["n_pairs"].max() <= 5
    assert Path("text-made/example.json").exists()


def test_certified_training_is_a_step(files):
    pytest.importorskip("torch")
    run("vectors", "vectors.txt", "--out", "read.npz", *SEED)
    run(*PREPARE, "trade")
    run("train", "text-made", "--models", "lstm", "--repetitions", 1, *TRAINING, *SEED)
    effort = ("--repetitions", 1, "--seeds", 5, "--hops", 2, "--threads", 1)
    run("search", "text-made", "--model", "lstm", *effort, *SEED)
    run("certify", "text-made", "--model", "lstm", "--certified-epochs", 2, *TRAINING, *SEED)
    rows = read_tsv("text-made/lstm/certified.tsv")
    assert rows["tester"].tolist() == ["certified"]
    assert rows["certified_after"].between(0, 1).all()


def test_word_vectors_are_trained_on_a_corpus(files):
    documents = files / "documents.txt"
    documents.write_text("".join(f"{text}\n" for text, _ in made.rows()[:30]), encoding="utf-8")
    options = ("--format", "text", "--dimension", 4, "--epochs", 2, "--window", 3, "--min-count", 3)
    run("vectors", documents, "--out", "one.npz", *options, *SEED, "--threads", 1)
    run("vectors", documents, "--out", "two.npz", *options, *SEED, "--threads", 2)
    assert (files / "one.npz").read_bytes() == (files / "two.npz").read_bytes()
    trained = Lexicon.load(files / "one.npz")
    assert trained.vectors.shape == (len(trained.words), 4)
    assert {"the", "near", "park"} <= {*trained.words}
    assert trained.is_known.all()


def test_what_is_wrong_is_said_in_one_line(files, monkeypatch, capsys):
    assert "none.txt" in refused(monkeypatch, capsys, "vectors", "none.txt", "--out", "o.npz", *SEED)
    run("vectors", "vectors.txt", "--out", "read.npz", *SEED)
    error = refused(monkeypatch, capsys, *PREPARE, "trade,colours")
    assert error.startswith("biaslab: terms.yaml: has no feature 'colours'")
    error = refused(monkeypatch, capsys, *PREPARE, "trade", "--test", "texts.csv")
    assert "texts for test are named, but none for validation" in error
    options = ("--models", "gru", "--repetitions", 1, *TRAINING, *SEED)
    assert "texts.npz" in refused(monkeypatch, capsys, "train", "nowhere", *options)
    run(*PREPARE, "trade")
    effort = ("--repetitions", 1, "--seeds", 5, "--hops", 2, "--threads", 1)
    error = refused(monkeypatch, capsys, "search", "text-made", "--model", "gru", *effort, *SEED)
    assert "network-0.npz" in error
    options = ("--models", "grus", *options[2:])
    assert "grus" in refused(monkeypatch, capsys, "train", "text-made", *options)
