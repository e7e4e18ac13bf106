"""Linear models on a corpus: predictions in the order of the texts, word removal in test, all variants."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("tokenizers")

from biaslab.core.io import read_parquet, read_tsv
from biaslab.hate_speech import linear_experiment
from biaslab.hate_speech.corpus import STORMFRONT, TABLE, Source, read_splits, read_whole, split_rows
from biaslab.hate_speech.linear import BINARY, TFIDF, Linear, fit_linear
from biaslab.hate_speech.linear_experiment import LinearEffort, run_linear
from biaslab.hate_speech.metrics import measure
from hate_speech_experiment_data import EXAMPLE, TERMS, example_folder

EFFORT = LinearEffort(negative_weight=0.5, n_splits=2, n_subsets=2, seed=3)
SOURCE = Source(TABLE, EXAMPLE)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    limits = (50, None)  # the first is of no account here
    folder = example_folder(tmp_path_factory.mktemp("linear"), probes=("news", "hatecheck"), limits=limits)
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
    linear = fit_linear(documents, train.labels, BINARY, 0.5)
    for name, texts in folder.tested.items():
        found = scores_of(folder, model, name)
        assert found["row"].tolist() == list(range(len(texts)))
        expected = [linear.scores([document(folder, texts.tokens, i, removes)])[0] for i in range(len(texts))]
        np.testing.assert_allclose(found["score"], expected, rtol=0, atol=1e-6)
        assert np.ptp(expected) > 0.5


def test_removal_makes_texts_equal_that_differ_in_identifiers_alone(ran):
    folder, _ = ran
    thanks = folder.column("functionality", "hatecheck") == "thanks"
    with_names, without = (
        scores_of(folder, model, "hatecheck")["score"][thanks] for model in ("bow", "bow-wr")
    )
    assert with_names.nunique() == len(TERMS)
    assert without.nunique() == 1


def test_identifiers_are_removed_before_texts_are_scored(tmp_path, monkeypatch):
    folder = example_folder(tmp_path, probes=("news", "hatecheck"))
    real, holds = Linear.scores, []

    def record(linear, documents):
        holds.append(any(term in document.split() for document in documents for term in TERMS))
        return real(linear, documents)

    monkeypatch.setattr(Linear, "scores", record)
    run_linear(folder, SOURCE, EFFORT, lambda _: None)
    assert holds[:6] == [True] * 3 + [False] * 3  # the three sets by bow, then by bow-wr
    assert holds[6:] == [True, True, False, False] * 4  # of every split and kind of features


def test_weights_list_all_identifiers(ran):
    folder, _ = ran
    weights = read_tsv(folder.path / "linear_weights.tsv")
    assert set(weights.loc[weights["is_identifier"], "term"]) == set(TERMS)
    assert weights["rank"].is_monotonic_increasing


def test_removal_begins_with_all_identifiers_and_ends_with_none(ran):
    folder, _ = ran
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


def test_every_variant_has_its_row(ran):
    folder, said = ran
    table = read_tsv(folder.path / "linear.tsv")
    keys = ["label_rule", "split_kind", "split", "features", "model", "set"]
    expected = [
        ("given", "random", split, features, model, name)
        for split in (0, 1)
        for features in (BINARY, TFIDF)
        for model in ("bow", "bow-wr")
        for name in ("test", "news")
    ]
    assert list(table[keys].itertuples(index=False, name=None)) == expected
    assert (table["n_train"] == len(folder.splits["train"])).all()
    rows = table.set_index(keys)
    names = folder.column("identifier", "news")
    for model in ("bow", "bow-wr"):  # the first split is the one that all share
        news = measure(scores_of(folder, model, "news")["score"], folder.tested["news"].labels, names)
        row = rows.loc[("given", "random", 0, BINARY, model, "news")]
        assert 0 < news.accuracy < 1 or model == "bow-wr"
        assert row["accuracy"] == pytest.approx(news.accuracy)
        assert row["macro_accuracy"] == pytest.approx(news.macro_accuracy)
    news = table[(table["set"] == "news") & (table["model"] == "bow")]
    accuracies = news.groupby("split")["accuracy"].agg(list)
    assert accuracies[0] != accuracies[1]  # another split
    assert said[-1] == "label rule given, split random"


def test_without_news_there_is_a_curve_without_rows(tmp_path, ran):
    folder = example_folder(tmp_path)
    run_linear(folder, SOURCE, EFFORT, lambda _: None)
    curve = read_tsv(folder.path / "removal.tsv")
    assert curve.empty
    assert list(curve) == list(read_tsv(ran[0].path / "removal.tsv"))
    assert set(read_tsv(folder.path / "linear.tsv")["set"]) == {"test"}


@pytest.mark.parametrize("positive", [None, "hate"])
def test_the_archive_is_measured_by_both_label_rules_and_kinds_of_splits(tmp_path, monkeypatch, positive):
    folder = example_folder(tmp_path)
    asked = []

    def split(table, source, seed, number):
        asked.append((source.positive, source.split, seed, number))
        return split_rows(table, SOURCE, seed, number)

    monkeypatch.setattr(linear_experiment.corpus, "read_whole", lambda *_: read_whole(SOURCE))
    monkeypatch.setattr(linear_experiment.corpus, "split_rows", split)
    run_linear(folder, Source(STORMFRONT, EXAMPLE, positive=positive), EFFORT, lambda _: None)
    both = [(rule, kind) for rule in ("not-nohate", "hate") for kind in ("random", "grouped")]
    assert asked == [(*names, 3, number) for names in both for number in (0, 1)]
    table = read_tsv(folder.path / "linear.tsv")
    found = table[["label_rule", "split_kind", "features"]].drop_duplicates()
    with_tfidf = [(positive or "not-nohate", "random", TFIDF)]
    expected = [(*names, BINARY) for names in both] + with_tfidf
    assert sorted(found.itertuples(index=False, name=None)) == sorted(expected)


def test_a_released_split_is_measured_once(tmp_path, monkeypatch):
    folder = example_folder(tmp_path)
    splits = read_splits(SOURCE, 3)
    monkeypatch.setattr(linear_experiment.corpus, "read_splits", lambda *_, **__: splits)
    run_linear(folder, Source(TABLE, EXAMPLE, EXAMPLE, EXAMPLE), EFFORT, lambda _: None)
    table = read_tsv(folder.path / "linear.tsv")
    assert set(table["split"]) == {0}
    assert set(table["split_kind"]) == {"release"}
    assert set(table["label_rule"]) == {"released"}
    assert isinstance(table, pd.DataFrame)
    assert len(table) == 4
