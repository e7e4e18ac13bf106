"""Bags of WordPieces and logistic regression."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

pytest.importorskip("tokenizers")

from biaslab.core.errors import InputError
from biaslab.hate_speech.linear import Linear, Part, documents, fit_linear, removal_curve, weights_table
from biaslab.hate_speech.metrics import measure
from biaslab.text.tokens import Tokenizer
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


def table_of(weights, identifiers, n_top=None):
    linear = fit_linear(DOCUMENTS, LABELS)
    linear.model.coef_ = np.array([weights], float)
    return weights_table(Linear(linear.vectorizer, linear.model), identifiers, n_top)


def test_the_table_of_weights_keeps_all_identifiers():
    weights = [0, 3, -1, 2, 3, 0, 9, 0, 0, 0, 0]  # are baker cls cyclist gardener kind late ness sep slow unk
    table = table_of(weights, ["cyclist", "baker", "potter"])
    assert table["term"].tolist()[:4] == ["late", "baker", "gardener", "cyclist"]
    assert table["term"].tolist()[-2:] == ["cls", "potter"]
    assert table["rank"].tolist()[:-1] == list(range(1, 12))
    assert table["rank"].isna().tolist() == table["weight"].isna().tolist() == [False] * 11 + [True]
    assert table.loc[table["is_identifier"], "term"].tolist() == ["baker", "cyclist", "potter"]
    assert (table["n_features"] == 11).all()
    top = table_of(weights, ["cyclist", "baker", "potter"], n_top=2)
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
    return Part(READER.encode(texts), np.array(labels), np.array(groups))


def parts(seed=0):
    rng = np.random.default_rng(seed)
    train, test = sentences(150, rng), sentences(120, rng)
    return train._replace(identifiers=None), test._replace(identifiers=None), sentences(90, rng, True)


def curve(seed=1, ids=IDS, n_subsets=5):
    return removal_curve(*parts(), READER.vocabulary, ids, NEGATIVE_WEIGHT, seed, n_subsets)


def refit(removed):
    """The row of a classifier of the texts that word removal leaves."""
    train, test, news = (
        part._replace(tokens=part.tokens.without([IDS[name] for name in removed])) for part in parts()
    )
    linear = fit_linear(
        documents(train.tokens, READER.vocabulary), train.labels, negative_weight=NEGATIVE_WEIGHT
    )
    on_test, on_news = (
        measure(linear.scores(documents(part.tokens, READER.vocabulary)), part.labels, part.identifiers)
        for part in (test, news)
    )
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
    with pytest.raises(InputError, match="identifiers 'bakers' and 'minibakers' are one feature"):
        curve(ids=ids)
