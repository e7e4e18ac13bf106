"""Linear models on a corpus: predictions in the order of the texts, word removal in test, all splits."""

from itertools import product

import numpy as np
import pytest

pytest.importorskip("tokenizers")

from biaslab.core.io import read_parquet, read_tsv
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import Source, read_splits
from biaslab.hate_speech.linear import LinearEffort, fit_linear, run_linear
from biaslab.hate_speech.metrics import measure
from hate_speech_experiment_data import EXAMPLE, TERMS, example_folder

EFFORT = LinearEffort(negative_weight=0.5, n_splits=2, n_subsets=2, seed=3)
SOURCE = Source("table", EXAMPLE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    limits = (50, None)  # the first is of no account here
    folder = example_folder(tmp_path_factory.mktemp("linear"), probes=("news",), limits=limits)
    said = []
    run_linear(folder, SOURCE, EFFORT, said.append)
    return folder, said


def document(folder, tokens, i, removes):
    """A text as the vectorizer gets it, piece by piece."""
    pieces = [folder.tokenizer.vocabulary[token] for token in tokens.row(i)]
    return " ".join(piece for piece in pieces if not (removes and piece in TERMS))


def scores_of(folder, model, name):
    table = read_parquet(folder.path / f"predictions/{model}.parquet")
    assert (table["seed"] == 0).all()
    assert table["score"].dtype == np.float32
    return table[table["set"] == name]


@pytest.mark.parametrize("model", ["bow", "bow-wr"])
def test_predictions_are_in_the_order_of_the_texts_and_removal_holds_in_test(ran, model):
    folder, _ = ran
    removes = model == "bow-wr"
    train = folder.splits["train"]
    documents = [document(folder, train.tokens, i, removes) for i in range(len(train))]
    linear = fit_linear(documents, train.labels, 0.5)
    for name, texts in folder.tested.items():
        found = scores_of(folder, model, name)
        assert found["row"].tolist() == list(range(len(texts)))
        expected = [linear.scores([document(folder, texts.tokens, i, removes)])[0] for i in range(len(texts))]
        np.testing.assert_allclose(found["score"], expected, rtol=0, atol=1e-6)
        assert np.ptp(expected) > 0.5


def test_removal_begins_with_all_identifiers_and_ends_with_none(ran):
    folder, _ = ran
    weights = read_tsv(folder.path / "linear_weights.tsv")
    assert set(weights.loc[weights["is_identifier"], "term"]) == set(TERMS)
    curve = read_tsv(folder.path / "removal.tsv")
    assert curve.groupby("n_removed").size().tolist() == [1, 2, 2, 2, 1]
    names = folder.column("identifier", "news")
    for n_removed, model in ((0, "bow"), (4, "bow-wr")):
        row = curve[curve["n_removed"] == n_removed].iloc[0]
        test = measure(scores_of(folder, model, "test")["score"], folder.tested["test"].labels)
        news = measure(scores_of(folder, model, "news")["score"], folder.tested["news"].labels, names)
        assert row["f1"] == pytest.approx(test.f1)
        assert row["news_accuracy"] == pytest.approx(news.accuracy)
        assert row["news_macro_accuracy"] == pytest.approx(news.macro_accuracy)


def test_every_split_has_its_rows(ran):
    folder, _ = ran
    table = read_tsv(folder.path / "linear.tsv")
    keys = ["split", "model", "set"]
    expected = list(product((0, 1), ("bow", "bow-wr"), ("test", "news")))
    assert list(table[keys].itertuples(index=False, name=None)) == expected
    assert set(table["features"] + " " + table["label_rule"] + " " + table["split_kind"]) == {
        "binary given random"
    }
    assert (table["n_train"] == len(folder.splits["train"])).all()
    rows = table.set_index(keys)
    for model in ("bow", "bow-wr"):  # the first split is the one that all share
        scores = scores_of(folder, model, "news")["score"]
        news = measure(scores, folder.tested["news"].labels, folder.column("identifier", "news"))
        assert 0 < news.accuracy < 1 or model == "bow-wr"
        assert rows.loc[(0, model, "news"), "accuracy"] == pytest.approx(news.accuracy)
        assert rows.loc[(0, model, "news"), "macro_accuracy"] == pytest.approx(news.macro_accuracy)
    assert rows.loc[(0, "bow", "news"), "accuracy"] != rows.loc[(1, "bow", "news"), "accuracy"]


def test_a_released_split_is_measured_once(tmp_path, monkeypatch, ran):
    folder = example_folder(tmp_path)
    splits = read_splits(SOURCE, 3)
    monkeypatch.setattr(corpus, "read_splits", lambda *_, **__: splits)
    run_linear(folder, Source("table", EXAMPLE, EXAMPLE, EXAMPLE), EFFORT, lambda _: None)
    table = read_tsv(folder.path / "linear.tsv")
    assert set(table["split"]) == {0}
    assert set(table["split_kind"]) == {"release"}
    assert set(table["label_rule"]) == {"released"}
    assert set(table["set"]) == {"test"}
    assert len(table) == 2
    curve = read_tsv(folder.path / "removal.tsv")  # without rows where there are no news
    assert curve.empty
    assert list(curve) == list(read_tsv(ran[0].path / "removal.tsv"))
