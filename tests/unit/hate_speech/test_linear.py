"""Bags of WordPieces and logistic regression."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from biaslab.core.errors import InputError
from biaslab.hate_speech.linear import Linear, documents, fit_linear, weights_table
from naive import hate_speech_measures as naive

pytest.importorskip("tokenizers")
from biaslab.text.tokens import Tokenizer

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


def test_documents_are_pieces_joined_by_blanks():
    assert DOCUMENTS[0] == "[CLS] baker ##s are late [SEP]"
    assert DOCUMENTS[5] == "[CLS] i are kind kind ##ness [SEP]"
    assert documents_of([""]) == ["[CLS] [SEP]"]
    assert len(DOCUMENTS) == len(TEXTS)


def test_features_are_those_of_the_published_code():
    terms = " ".join(fit_linear(DOCUMENTS, LABELS).terms)
    # "##ness" and "##late" lose their ##; "a", "i" and "##s" are too short; all texts have "cls" and "sep".
    assert terms == "are baker cls cyclist gardener kind late ness sep slow unk"


def test_features_equal_the_literal_bag():
    linear = fit_linear(DOCUMENTS, LABELS)
    assert_allclose(features(linear), naive.binary_bag(DOCUMENTS, linear.terms.tolist()), rtol=1e-12)


def test_weights_are_at_the_optimum():
    linear = fit_linear(DOCUMENTS, LABELS, negative_weight=0.125)
    X = features(linear)

    def loss(at):
        return naive.logistic_loss(X, LABELS, 0.125, at[:-1], at[-1])

    at, step = np.append(linear.weights, linear.model.intercept_), 1e-5
    for shift in np.eye(len(at)) * step:
        assert abs(loss(at + shift) - loss(at - shift)) / (2 * step) < 1e-7
        assert min(loss(at + 100 * shift), loss(at - 100 * shift)) > loss(at)


def test_scores_are_logits():
    linear = fit_linear(DOCUMENTS, LABELS, negative_weight=0.5)
    expected = features(linear) @ linear.weights + linear.model.intercept_
    assert_allclose(linear.scores(DOCUMENTS), expected, rtol=1e-12)
    assert ((linear.scores(DOCUMENTS) > 0) == LABELS.astype(bool)).sum() > len(LABELS) / 2


def test_weight_of_negative_texts_counts_them_several_times():
    weighted = fit_linear(DOCUMENTS, LABELS, negative_weight=2)
    repeated = fit_linear(
        DOCUMENTS + [d for d, y in zip(DOCUMENTS, LABELS, strict=True) if not y],
        np.append(LABELS, np.zeros((LABELS == 0).sum(), int)),
    )
    assert_allclose(weighted.weights, repeated.weights, atol=1e-6)
    unweighted = fit_linear(DOCUMENTS, LABELS)
    assert (weighted.scores(DOCUMENTS) < unweighted.scores(DOCUMENTS)).all()


def test_word_removal_by_exact_match():
    tokens = TOKENIZER.encode([*TEXTS, "a kindlate gardener"]).without([TOKENIZER.vocabulary.index("late")])
    left = documents(tokens, TOKENIZER.vocabulary)
    assert left[1] == "[CLS] a gardener [UNK] [SEP]"
    assert left[-1] == "[CLS] a kind ##late gardener [SEP]"  # a piece of another word is another token


def test_same_bytes_with_more_threads():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"word{i}" for i in rng.integers(0, 40_000, 100)) for _ in range(500)]
    labels = rng.integers(0, 2, len(texts))
    fits = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fits.append(fit_linear(texts, labels))
    assert fits[0].weights.size > 20_000  # threads share sums of more than 10,000 numbers
    assert fits[0].weights.tobytes() == fits[1].weights.tobytes()


def table_of(weights, identifiers, n_top=None):
    linear = fit_linear(DOCUMENTS, LABELS)
    linear.model.coef_ = np.array([weights], float)
    return weights_table(Linear(linear.vectorizer, linear.model), identifiers, n_top)


def test_weights_table_by_hand():
    weights = [0, 3, -1, 2, 3, 0, 9, 0, 0, 0, 0]  # are baker cls cyclist gardener kind late ness sep slow unk
    table = table_of(weights, ["cyclist", "baker", "potter"])
    assert table.columns.tolist() == ["term", "is_identifier", "weight", "rank", "n_features"]
    assert table["term"].tolist()[:4] == ["late", "baker", "gardener", "cyclist"]
    assert table["term"].tolist()[-2:] == ["cls", "potter"]
    assert table["rank"].tolist()[:-1] == list(range(1, 12))
    assert table["rank"].isna().tolist() == table["weight"].isna().tolist() == [False] * 11 + [True]
    assert table.loc[table["is_identifier"], "term"].tolist() == ["baker", "cyclist", "potter"]
    assert (table["n_features"] == 11).all()


def test_weights_table_of_the_top_keeps_all_identifiers():
    weights = [0, 3, -1, 2, 3, 0, 9, 0, 0, 0, 0]
    table = table_of(weights, ["cyclist", "baker", "potter"], n_top=2)
    assert table["term"].tolist() == ["late", "baker", "cyclist", "potter"]
    assert table["rank"].tolist()[:3] == [1, 2, 4]


def test_removed_identifiers_have_no_rank():
    tokens = TOKENIZER.encode(TEXTS).without([TOKENIZER.vocabulary.index("baker")])
    linear = fit_linear(documents(tokens, TOKENIZER.vocabulary), LABELS)
    row = weights_table(linear, ["baker"]).iloc[-1]
    assert row["term"] == "baker"
    assert row[["weight", "rank"]].isna().all()


@pytest.mark.parametrize(
    ("texts", "labels", "problem"),
    [
        (DOCUMENTS, np.zeros(9, int), "no training text is positive"),
        (DOCUMENTS, np.ones(9, int), "no training text is negative"),
        (["a", "i"], [0, 1], "no training text has a word"),
    ],
)
def test_bad_input(texts, labels, problem):
    with pytest.raises(InputError, match=problem) as error:
        fit_linear(texts, labels)
    assert "\n" not in str(error.value)
