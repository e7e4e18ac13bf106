"""Identity terms in the user's texts, and in neutral sentences."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from biaslab.core.stats import share_interval
from biaslab.hate_speech import auditing
from biaslab.hate_speech.auditing import (
    ANY,
    NEUTRAL_WORDS,
    NONE,
    TEMPLATES,
    fill_templates,
    labelled_bias,
    macro_accuracy,
    mentions,
    own_metrics,
    template_spread,
    template_table,
)

TERMS = ("bakers", "cyclists", "river people")


def test_terms_are_whole_words_in_any_case():
    texts = [
        "The Bakers, and the CYCLISTS!",
        "bakerss and xbakers and cyclists_",
        "non-bakers of 'river people'",
        "river  people",
        "",
    ]
    expected = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(mentions(texts, TERMS), np.array(expected, bool))
    assert mentions([], TERMS).shape == (0, 3)
    assert mentions(["aab", "a.b"], ["a.b"]).tolist() == [[False], [True]]  # terms are no patterns


def test_metrics_are_those_of_scikit_learn():
    rng = np.random.default_rng(2)
    labels = (rng.random(80) < 0.4).astype(int)
    scores = rng.normal(size=80) + labels
    predicted = scores > 0
    table = own_metrics(scores, labels).set_index("measure")
    assert list(table.index) == list(auditing.MEASURES)
    expected = {
        "accuracy": accuracy_score(labels, predicted),
        "precision": precision_score(labels, predicted),
        "recall": recall_score(labels, predicted),
        "false_positive_rate": 1 - recall_score(1 - labels, ~predicted),
        "f1": f1_score(labels, predicted),
        "auc": roc_auc_score(labels, scores),
    }
    for name, value in expected.items():
        assert table.loc[name, "value"] == pytest.approx(value)
    shares = table.dropna(subset="n")
    assert list(shares.index) == ["accuracy", "precision", "recall", "false_positive_rate"]
    for row in shares.itertuples():
        assert row.value == pytest.approx(row.hits / row.n)
        assert (row.ci_low, row.ci_high) == share_interval(int(row.hits), int(row.n))
    assert shares["n"].tolist() == [80, predicted.sum(), labels.sum(), 80 - labels.sum()]
    none = own_metrics(np.array([-1.0, -2]), np.array([1, 0])).set_index("measure")
    assert none.loc["precision", ["value", "n"]].tolist() == [0, 0]
    assert math.isnan(none.loc["precision", "ci_low"])


def test_rows_of_any_and_of_no_identifier():
    scores = np.array([2.0, -1, 1, -2, 3, -3])
    labels = np.array([1, 0, 0, 0, 1, 0])
    holds = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 0], [0, 0]], bool)
    table = labelled_bias(scores, labels, holds, ["a", "b"]).set_index("identifier")
    assert list(table.index) == ["a", "b", ANY, NONE]
    assert table["n"].tolist() == [2, 2, 3, 3]
    assert table["n_negative"].tolist() == [1, 2, 2, 2]
    np.testing.assert_allclose(table["false_positive_rate"], [0, 0.5, 0.5, 0])
    background, subgroup = [4], [1, 2]  # positive texts without one, negative texts with one
    wins = [scores[i] > scores[j] for i in background for j in subgroup]
    assert table.loc[ANY, "bpsn_auc"] == np.mean(wins)


def test_accuracy_on_news_is_plain_and_by_identifier():
    """Four texts with a (one wrong), one with b (wrong), one with both, one with neither."""
    scores = np.array([-1.0, -1, -1, 1, 1, -1, 1])
    holds = np.array([[1, 0], [1, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 0]], bool)
    plain, macro = macro_accuracy(labelled_bias(scores, np.zeros(7, int), holds, ["a", "b"]))
    assert plain == pytest.approx(4 / 6)
    assert macro == pytest.approx((4 / 5 + 1 / 2) / 2)
    none = labelled_bias(scores, np.zeros(7, int), np.zeros((7, 2), bool), ["a", "b"])
    assert all(math.isnan(value) for value in macro_accuracy(none))


def test_templates_are_neutral_sentences_with_one_place():
    words = [*TERMS, *NEUTRAL_WORDS]
    texts = fill_templates(TEMPLATES, words)
    assert len(texts) == len(TEMPLATES) * len(words)
    assert texts[: len(words)] == [f"The next word in the list is {word}." for word in words]
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    assert not {word for template in TEMPLATES for word in re.findall(r"\w+", template.lower())} & set(words)
    assert mentions(texts, TERMS).sum() == len(TEMPLATES) * len(TERMS)


@pytest.fixture
def scores():
    """Logits of four templates with three identifiers and two neutral words."""
    return np.random.default_rng(5).normal(size=4 * 5)


def test_words_in_templates(scores):
    table = template_table(scores, ["a", "b", "c"], ["x", "y"]).set_index("word")
    p = {word: [expit(scores[5 * t + i]) for t in range(4)] for i, word in enumerate("abcxy")}
    neutral = np.mean(p["x"] + p["y"])
    for word, values in p.items():
        row = table.loc[word]
        assert row["mean"] == pytest.approx(np.mean(values))
        assert (row["low"], row["high"]) == (min(values), max(values))
        assert row["difference"] == pytest.approx(np.mean(values) - neutral)
        assert row["n_positive"] == sum(value > 0.5 for value in values)
        assert row["n"] == 4
        assert row["is_identifier"] == (word in "abc")
    order = sorted("abc", key=lambda w: -np.mean(p[w])) + sorted("xy", key=lambda w: -np.mean(p[w]))
    assert list(table.index) == order


def test_the_spread_is_that_of_the_identifiers_within_a_template(scores):
    """Literal loops; neutral words and differences between templates do not enter."""
    found = template_spread(scores, 3, 5)
    ranges, sds, gaps = [], [], []
    for t in range(4):
        p = [1 / (1 + math.exp(-scores[5 * t + i])) for i in range(3)]
        mean = sum(p) / 3
        ranges.append(max(p) - min(p))
        sds.append(math.sqrt(sum((x - mean) ** 2 for x in p) / 2))
        gaps += [abs(x - y) for x, y in itertools.combinations(p, 2)]
    expected = {"range": np.mean(ranges), "sd": np.mean(sds), "gap": np.mean(gaps)}
    assert found == pytest.approx(expected)
    same = np.repeat([0.3, -2.0, np.inf], 4)  # of a classifier that does not see the word
    assert template_spread(same, 2, 4) == {"range": 0, "sd": 0, "gap": 0}
