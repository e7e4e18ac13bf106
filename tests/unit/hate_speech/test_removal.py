"""Removal of random subsets of the identifiers."""

import math
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.core.errors import InputError
from biaslab.hate_speech.linear import documents, fit_linear
from biaslab.hate_speech.metrics import measure
from biaslab.hate_speech.removal import Part, removal_curve

pytest.importorskip("tokenizers")
from biaslab.text.tokens import Tokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
GROUPS = ["bakers", "cyclists", "gardeners", "potters"]
WORDS = ["are", "late", "kind", "slow", "rude", "##bakers", "mini", "often"]
TOKENIZER = Tokenizer(SPECIAL + GROUPS + WORDS)
IDS = {name: TOKENIZER.vocabulary.index(name) for name in GROUPS}
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
    return Part(TOKENIZER.encode(texts), np.array(labels), np.array(groups))


def parts(seed=0):
    rng = np.random.default_rng(seed)
    train, test = sentences(150, rng), sentences(120, rng)
    return train._replace(identifiers=None), test._replace(identifiers=None), sentences(90, rng, True)


def curve(seed=1, ids=IDS, **options):
    return removal_curve(*parts(), TOKENIZER.vocabulary, ids, NEGATIVE_WEIGHT, seed, **options)


def refit(removed):
    """The row of a classifier of the texts that word removal leaves."""
    train, test, news = (
        part._replace(tokens=part.tokens.without([IDS[name] for name in removed])) for part in parts()
    )
    linear = fit_linear(
        documents(train.tokens, TOKENIZER.vocabulary), train.labels, negative_weight=NEGATIVE_WEIGHT
    )
    on_test, on_news = (
        measure(linear.scores(documents(part.tokens, TOKENIZER.vocabulary)), part.labels, part.identifiers)
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


def test_features_without_a_subset_are_those_of_its_texts():
    from sklearn.feature_extraction.text import CountVectorizer

    from biaslab.hate_speech.removal import _bag, _columns

    train = parts()[0]
    vectorizer = CountVectorizer(binary=True).fit(documents(train.tokens, TOKENIZER.vocabulary))
    bag = _bag(train, vectorizer, TOKENIZER.vocabulary, np.array(list(IDS.values())))
    columns = _columns(vectorizer, TOKENIZER.vocabulary, IDS)
    for removed in ([], [0], [0, 3], [0, 1, 2, 3]):
        left = train.tokens.without([IDS[GROUPS[i]] for i in removed])
        expected = vectorizer.transform(documents(left, TOKENIZER.vocabulary)).toarray()
        assert (bag.without([columns[i] for i in removed]).toarray() == expected).all()
    assert expected[:, columns[0]].any()  # the piece ##bakers of minibakers is the same feature, and stays


def test_number_of_subsets():
    found = curve(n_subsets=2)
    assert found.groupby("n_removed").size().tolist() == [1, 2, 2, 2, 1]
    assert found["subset"].tolist() == [0, 0, 1, 0, 1, 0, 1, 0]


def test_subsets_follow_the_seed():
    one = curve(seed=1, n_subsets=3)
    assert one.equals(curve(seed=1, n_subsets=3))
    assert not one.equals(curve(seed=2, n_subsets=3))


def test_removal_of_what_no_text_holds_changes_nothing():
    found = curve(ids={"[MASK]": TOKENIZER.mask})
    assert found.iloc[0, 2:].tolist() == found.iloc[1, 2:].tolist()


def test_identifiers_of_one_feature_are_refused():
    ids = {"bakers": IDS["bakers"], "minibakers": TOKENIZER.vocabulary.index("##bakers")}
    with pytest.raises(InputError, match="identifiers 'bakers' and 'minibakers' are one feature"):
        curve(ids=ids)
