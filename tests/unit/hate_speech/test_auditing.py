"""The audit of a classifier of texts: intervals, swaps, nulls, and what would be a false all-clear."""

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score, roc_auc_score

from biaslab.core.stats import share_interval
from biaslab.hate_speech import auditing
from biaslab.hate_speech.auditing import (
    ANY,
    NEUTRAL_WORDS,
    NONE,
    TEMPLATES,
    _identifiers,
    audit,
    fill_templates,
    labelled_bias,
    macro_accuracy,
    mentions,
    own_metrics,
    swap,
    template_spread,
    template_table,
)
from biaslab.hate_speech.metrics import auc, auc_interval
from biaslab.hate_speech.report.audited import _differs, answer
from biaslab.text.variants import text_batches, without, words_of
from refusals import refused

TERMS = ("bakers", "sailors", "cyclists")


def naive_interval(scores, labels):
    """DeLong's interval by its definition: placements of every text among those of the other label."""
    positive = [s for s, y in zip(scores, labels, strict=True) if y]
    negative = [s for s, y in zip(scores, labels, strict=True) if not y]

    def above(a, b):
        return (a > b) + (a == b) / 2

    v10 = [np.mean([above(a, b) for b in negative]) for a in positive]
    v01 = [np.mean([above(a, b) for a in positive]) for b in negative]
    area = np.mean(v10)
    sd = math.sqrt(np.var(v10, ddof=1) / len(v10) + np.var(v01, ddof=1) / len(v01))
    half = 1.959963984540054 * sd / (area * (1 - area))
    return expit(logit(area) - half), expit(logit(area) + half)


def test_the_interval_of_an_area_is_delong_s_and_covers():
    rng = np.random.default_rng(0)
    labels = rng.random(60) < 0.4
    scores = np.round(rng.normal(size=60) + labels, 1)
    assert auc_interval(scores, labels) == pytest.approx(naive_interval(scores, labels))
    covered = []
    for _ in range(400):
        scores = rng.normal(size=50)
        low, high = auc_interval(scores, np.arange(50) < 20)
        covered.append(low <= 0.5 <= high)
    assert 0.92 < np.mean(covered) < 0.98
    assert np.isnan(auc_interval([0, 1, 2, 3], [0, 0, 1, 1])).all()  # no variance
    assert np.isnan(auc_interval([0, 1, 2], [0, 0, 1])).all()


def test_a_swap_is_of_whole_words_in_their_case():
    assert swap("The Bakers met bakerss; bakers!", "bakers", "sailors") == "The Sailors met bakerss; sailors!"
    assert swap("BAKERS sang.", "bakers", "river people") == "RIVER PEOPLE sang."
    assert swap("a.b aab", "a.b", r"\1") == r"\1 aab"


def texts(n=90):
    """Every third text is a complaint; the others are harmless, and so is every name."""
    rows = []
    for number in range(n):
        name = [*TERMS, "neighbours"][number % 4]
        what = "broke the lamp" if number % 3 == 0 else "sang a song"
        rows.append((f"The {name} {what} {number}.", int(number % 3 == 0)))
    return pd.DataFrame(rows, columns=["text", "label"])


def biased(some, what):
    """Hears a complaint, and half of one where cyclists are named."""
    return np.array([3.0 * ("broke" in t) + 2.0 * ("cyclists" in t.lower()) - 1.5 for t in some])


def fair(some, what):
    return np.array([3.0 * ("broke" in t) - 1.5 for t in some])


@pytest.fixture(scope="module")
def of_biased():
    return audit(biased, TERMS, texts(), None, TEMPLATES, 1)


@pytest.fixture(scope="module")
def of_fair():
    return audit(fair, TERMS, texts(), None, TEMPLATES, 1)


def test_who_is_named_in_false_alarms_is_found(of_biased):
    found = of_biased
    table = found.identifiers.set_index("identifier")
    assert table.loc["cyclists", "false_positive_rate"] == 1
    assert table.loc["cyclists", "difference"] == 1
    assert table.loc["cyclists", "difference_low"] > 0.5
    assert table.loc["bakers", "difference"] == 0
    assert np.isnan(table.loc[NONE, "difference"])
    assert table.loc["cyclists", "bpsn_auc"] == pytest.approx(
        auc([1.5] * len(range(30)) + [0.5] * 15, [1] * 30 + [0] * 15)
    )
    swaps = found.swaps.set_index("term")
    assert swaps.loc["cyclists", "change"] > 0.1
    assert swaps.loc["cyclists", "n_to_positive"] > 0
    assert swaps.loc["bakers", "n_to_negative"] > 0
    assert found.swapped["share"] == pytest.approx(2 / 3, abs=0.05)  # harmless ones
    assert found.templates.iloc[0]["word"] == "cyclists"
    assert found.templates.iloc[0]["difference_low"] > 0
    lines = answer(found, "m:f", Path("t.csv"), None, "1").lines
    assert lines[0].startswith("Accuracy: 83.3% of 90 texts")
    assert "False alarms by group: 100.0% of 15 harmless texts that name cyclists" in " ".join(lines)


def test_words_of_false_alarms_are_explained_by_leaving_them_out(of_biased, of_fair):
    found = of_biased
    words = found.words.set_index("word")
    alarms = [t for t, y in texts().itertuples(index=False) if not y and "cyclists" in t]
    assert found.n_explained == len(alarms)
    assert words.index[0] == "cyclists"
    assert words.loc["cyclists", ["n", "is_identifier"]].tolist() == [len(alarms), True]
    assert words.loc["cyclists", "change"] == pytest.approx(expit(0.5) - expit(-1.5))
    assert (words["change"].drop("cyclists") == 0).all()  # a null: no other word is heard
    masked = audit(biased, TERMS, texts(36), None, TEMPLATES[:2], 1, mask=lambda word: "*")
    assert masked.words["word"].unique().tolist() == ["*"]
    assert of_fair.words is None  # no false alarm


def test_a_classifier_that_hears_no_names_gives_no_difference(of_fair):
    found = of_fair
    assert found.swapped["n_changed"] == 0
    assert found.swaps["change"].tolist() == [0, 0, 0]
    assert (found.identifiers["difference"].dropna() == 0).all()
    assert found.spread["gap"] == 0
    lines = " ".join(answer(found, "m:f", Path("t.csv"), None, "1").lines)
    assert "No term differs significantly." in lines
    assert "No term changes the mean probability" in lines
    assert "least detectable change" not in lines  # where nothing varies no least difference can be told


def test_a_cased_classifier_that_hears_no_names_gives_no_difference():
    """What begins with a small letter is positive: swaps, templates and words left out keep the capital."""
    some = pd.DataFrame(
        [(f"{name.title()} sang {n}.", 0) for n in range(8) for name in TERMS]
        + [(f"they broke it {n}.", 1) for n in range(8)],
        columns=["text", "label"],
    )

    def cased(some, what):
        return np.array([1.5 if text[:1].islower() else -1.5 for text in some])

    found = audit(cased, TERMS, some, None, ["{} is the word."], 1)
    assert found.swapped["n_changed"] == 0
    assert (found.swaps["change"] == 0).all()
    assert (found.templates["n_positive"] == 0).all()
    assert without("Bakers sang. They left", words_of("Bakers sang. They left"), 0, 1) == "Sang. They left"
    assert without("Bakers sang. They left", words_of("Bakers sang. They left"), 3, 4) == "Bakers sang. Left"
    assert without("the Bakers sang", words_of("the Bakers sang"), 1, 2) == "the sang"


def test_groups_of_few_texts_keep_a_line():
    some = texts()
    some.loc[len(some)] = ["The gardeners sang.", 0]
    found = audit(fair, (*TERMS, "gardeners", "drummers"), some, None, TEMPLATES, 1)
    page = answer(found, "m:f", Path("t.csv"), None, "1")
    assert "Too few texts for a test: gardeners (1 harmless of 1), drummers (0 harmless of 0)." in page.lines
    cells = page.sections[1].table.set_index("Identifier")["Least detectable difference"]
    assert cells[["gardeners", "drummers"]].tolist() == ["too few texts"] * 2
    assert re.fullmatch(r"\+\d+\.\d%", cells["bakers"])


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 6])
def test_equal_groups_are_called_different_in_at_most_one_of_twenty(k, monkeypatch):
    """40 audits of a classifier whose errors have nothing to do with names; at 5% more than 5 are rare."""
    monkeypatch.setattr(auditing, "find_least_rate", lambda *_: np.nan)  # takes long, and decides nothing
    rng, names = np.random.default_rng(k), [f"group{i}" for i in range(k)]
    holds = np.zeros((60 + 25 * k, k), bool)
    holds[np.arange(60, len(holds)), np.arange(25 * k) % k] = True
    labels = (np.arange(len(holds)) % 5 == 0).astype(int)
    n_called = 0
    for seed in range(40):
        scores = rng.normal(size=len(holds)) + 2 * labels - 1.3
        table = _identifiers(scores, labels, holds, names, seed).iloc[:k]
        n_called += (_differs(table) | (table["bpsn_p_value"] <= 0.05)).any()
    assert n_called <= 5


def test_a_long_text_costs_time_and_memory_by_its_words(monkeypatch):
    """Few words are left out of it, and few of its variants are made at once."""
    some = texts()
    some.loc[len(some)] = ["the cyclists " + "word " * 20_000, 0]
    asked, most = 0, 0

    def counting(some, what):
        nonlocal asked, most
        found = []
        for batch in text_batches(some, 256):
            most = max(most, sum(map(len, batch)))
            asked += sum(map(len, batch))
            found += biased(batch, what).tolist()
        return np.array(found)

    found = audit(counting, TERMS, some, None, TEMPLATES, 1)
    assert found.n_shortened == 1
    assert most <= 4_000_000
    assert asked < 250 * 100_000


@pytest.mark.parametrize(
    ("classifier", "terms", "table", "problem"),
    [
        (fair, ("bakers",), texts(), "one identity term; name at least two"),
        (fair, TERMS, texts(8), "8 labelled texts, 3 of them positive; supply 10 or more"),
        (fair, TERMS, texts().query("label == 0"), "0 of them positive"),
        (lambda some, what: np.ones(len(some)), TERMS, texts(), "gives one answer to all"),
        (lambda some, what: np.arange(len(some)) + 1.0, TERMS, texts(), "gives one answer to all"),
    ],
)
def test_a_false_all_clear_is_refused(classifier, terms, table, problem):
    with refused(problem):
        audit(classifier, terms, table, None, TEMPLATES, 1)


def test_hatecheck_is_told_by_functionality():
    cases = pd.DataFrame(
        {"text": ["broke", "sang", "sang so"], "label": [1, 0, 1], "functionality": ["a_h", "b_nh", "a_h"]}
    )
    found = audit(fair, TERMS, None, cases, TEMPLATES, 1)
    assert found.hatecheck["rate"].tolist() == [0.5, 1.0]
    lines = answer(found, "m:f", None, Path("h.csv"), "1").lines
    assert any("50.0% of the hateful cases and 100.0% of the harmless cases are" in line for line in lines)
    assert any("do not differ significantly (too few to detect a change)." in line for line in lines)


GROUPS = ("bakers", "cyclists", "river people")


def test_terms_are_whole_words_in_any_case():
    texts = [
        "The Bakers, and the CYCLISTS!",
        "bakerss and xbakers and cyclists_",
        "non-bakers of 'river people'",
        "river  people",
        "",
    ]
    expected = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]]
    np.testing.assert_array_equal(mentions(texts, GROUPS), np.array(expected, bool))
    assert mentions([], GROUPS).shape == (0, 3)
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
    words = [*GROUPS, *NEUTRAL_WORDS]
    texts = fill_templates(TEMPLATES, words)
    assert len(texts) == len(TEMPLATES) * len(words)
    assert texts[: len(words)] == [f"The next word in the list is {word}." for word in words]
    assert len(set(TEMPLATES)) == len(TEMPLATES)
    assert not {word for template in TEMPLATES for word in re.findall(r"\w+", template.lower())} & set(words)
    assert mentions(texts, GROUPS).sum() == len(TEMPLATES) * len(GROUPS)


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
