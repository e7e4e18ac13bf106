"""Bags of WordPieces and logistic regression."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

pytest.importorskip("tokenizers")


from biaslab.core.io import read_parquet, read_tsv
from biaslab.hate_speech import corpus
from biaslab.hate_speech.corpus import Source, Texts, read_splits
from biaslab.hate_speech.linear import (
    Linear,
    LinearEffort,
    documents,
    fit_linear,
    removal_curve,
    run_linear,
    weights_table,
)
from biaslab.hate_speech.metrics import measure
from biaslab.text.tokens import Tokenizer
from hate_speech_experiment_data import EXAMPLE, TERMS, example_folder
from naive import hate_speech_measures as naive
from refusals import refused

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["baker", "cyclist", "gardener", "are", "late", "kind", "slow", "a", "i", "##s", "##late", "##ness"]
TOKENIZER = Tokenizer(SPECIAL + WORDS)
TEXTS = [
    "bakers are late",
    "a gardener, late late",
    "slow cyclists are late",
    "slowness",
    "a kind baker",
    "i are kind kindness",
    "gardeners are kind, bakers are slow",
    "cyclists are kind",
    "a kindlate cyclist",
]
LABELS = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0])  # 1: a complaint


def documents_of(texts):
    return documents(TOKENIZER.encode(texts), TOKENIZER.vocabulary)


DOCUMENTS = documents_of(TEXTS)


def features(linear):
    return linear.vectorizer.transform(DOCUMENTS).toarray()


def test_features_are_those_of_the_published_code():
    assert DOCUMENTS[5] == "[CLS] i are kind kind ##ness [SEP]"
    linear = fit_linear(DOCUMENTS, LABELS)
    terms = " ".join(linear.terms)
    # "##ness" and "##late" lose their ##; "a", "i" and "##s" are too short; all texts have "cls" and "sep".
    assert terms == "are baker cls cyclist gardener kind late ness sep slow unk"
    assert_allclose(features(linear), naive.binary_bag(DOCUMENTS, linear.terms.tolist()), rtol=1e-12)
    scores = features(linear) @ linear.weights + linear.model.intercept_
    assert_allclose(linear.scores(DOCUMENTS), scores, rtol=1e-12)


def test_weights_are_at_the_optimum():
    linear = fit_linear(DOCUMENTS, LABELS, negative_weight=0.125)
    X = features(linear)

    def loss(at):
        return naive.logistic_loss(X, LABELS, 0.125, at[:-1], at[-1])

    at, step = np.append(linear.weights, linear.model.intercept_), 1e-5
    for shift in np.eye(len(at)) * step:
        assert abs(loss(at + shift) - loss(at - shift)) / (2 * step) < 1e-7
        assert min(loss(at + 100 * shift), loss(at - 100 * shift)) > loss(at)


def test_same_bytes_with_more_threads():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{i}" for i in rng.integers(0, 200_000, 100)) for _ in range(250)]
    labels = rng.integers(0, 2, len(texts))
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(fit_linear(texts, labels))
    assert fits[0].weights.size > 20_000  # threads share sums of more than 10,000 numbers
    assert fits[0].weights.tobytes() == fits[1].weights.tobytes()


def table_of(weights, identifiers):
    linear = fit_linear(DOCUMENTS, LABELS)
    linear.model.coef_ = np.array([weights], float)
    return weights_table(Linear(linear.vectorizer, linear.model), identifiers)


def test_the_table_of_weights_keeps_all_identifiers(monkeypatch):
    weights = [0, 3, -1, 2, 3, 0, 9, 0, 0, 0, 0]  # are baker cls cyclist gardener kind late ness sep slow unk
    table = table_of(weights, ["cyclist", "baker", "potter"])
    assert table["term"].tolist()[:4] == ["late", "baker", "gardener", "cyclist"]
    assert table["term"].tolist()[-2:] == ["cls", "potter"]
    assert table["rank"].tolist()[:-1] == list(range(1, 12))
    assert table["rank"].isna().tolist() == table["weight"].isna().tolist() == [False] * 11 + [True]
    assert table.loc[table["is_identifier"], "term"].tolist() == ["baker", "cyclist", "potter"]
    assert (table["n_features"] == 11).all()
    monkeypatch.setattr("biaslab.hate_speech.linear.N_WEIGHTS", 2)
    top = table_of(weights, ["cyclist", "baker", "potter"])
    assert top["term"].tolist() == ["late", "baker", "cyclist", "potter"]
    assert top["rank"].tolist()[:3] == [1, 2, 4]


@pytest.mark.parametrize(
    ("texts", "labels", "problem"),
    [
        (DOCUMENTS, np.zeros(9, int), "no training text is positive"),
        (DOCUMENTS, np.ones(9, int), "no training text is negative"),
        (["a", "i"], [0, 1], "no training text has a word"),
    ],
)
def test_texts_that_teach_nothing_are_refused(texts, labels, problem):
    with refused(problem):
        fit_linear(texts, labels)


GROUPS = ["bakers", "cyclists", "gardeners", "potters"]
OTHER_WORDS = ["are", "late", "kind", "slow", "rude", "##bakers", "mini", "often"]
READER = Tokenizer(SPECIAL + GROUPS + OTHER_WORDS)
IDS = {name: READER.vocabulary.index(name) for name in GROUPS}
NEGATIVE_WEIGHT = 0.4


def sentences(n, rng, only_negative=False):
    """Sentences about a group, complaints more often about some; 'minibakers' holds no identifier."""
    texts, labels, groups = [], [], []
    for _ in range(n):
        group = rng.integers(len(GROUPS))
        is_positive = not only_negative and rng.random() < [0.7, 0.5, 0.3, 0.1][group]
        words = ["late", "slow", "rude", "kind", "often"]
        p = [0.3, 0.3, 0.2, 0.1, 0.1] if is_positive else [0.2, 0.2, 0.1, 0.3, 0.2]
        texts.append(" ".join([GROUPS[group], "are", *rng.choice(words, 2, p=p)]))
        texts[-1] += " minibakers" * (rng.random() < 0.3)
        labels.append(int(is_positive))
        groups.append(GROUPS[group])
    return Texts(READER.encode(texts), np.array(labels), np.arange(n)), np.array(groups)


def parts(seed=0):
    rng = np.random.default_rng(seed)
    (train, _), (test, _) = sentences(150, rng), sentences(120, rng)
    return train, test, *sentences(90, rng, True)


def curve(seed=1, ids=IDS, n_subsets=5):
    *texts, groups = parts()
    effort = LinearEffort(NEGATIVE_WEIGHT, n_splits=1, n_subsets=n_subsets, seed=seed)
    return removal_curve(texts, groups, READER.vocabulary, ids, effort)


def refit(removed):
    train, test, news, groups = parts()
    left = [
        documents(part.tokens.without([IDS[name] for name in removed]), READER.vocabulary)
        for part in (train, test, news)
    ]
    linear = fit_linear(left[0], train.labels, negative_weight=NEGATIVE_WEIGHT)
    on_test = measure(linear.scores(left[1]), test.labels)
    on_news = measure(linear.scores(left[2]), news.labels, groups)
    return (*on_test[2:5], *on_news[-2:])


def test_curve_equals_refits_on_texts_without_the_identifiers():
    found = curve(n_subsets=100)  # all subsets there are
    for k in range(len(GROUPS) + 1):
        rows = found[found["n_removed"] == k].iloc[:, 2:].to_numpy()
        expected = np.array([refit(removed) for removed in combinations(GROUPS, k)])
        assert len(rows) == math.comb(4, k)
        assert_allclose(
            rows[np.lexsort(rows.T.round(9))], expected[np.lexsort(expected.T.round(9))], rtol=1e-12
        )
    assert len(found.iloc[:, 2:].round(9).drop_duplicates()) > 8  # the subsets matter


def test_so_many_subsets_of_each_size_follow_the_seed():
    found = curve(n_subsets=2)
    assert found.groupby("n_removed").size().tolist() == [1, 2, 2, 2, 1]
    assert found["subset"].tolist() == [0, 0, 1, 0, 1, 0, 1, 0]
    assert found.equals(curve(n_subsets=2))
    assert not found.equals(curve(seed=2, n_subsets=2))


def test_identifiers_of_one_feature_are_refused():
    ids = {"bakers": IDS["bakers"], "minibakers": READER.vocabulary.index("##bakers")}
    with refused("identifiers 'bakers' and 'minibakers' are one feature"):
        curve(ids=ids)


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
