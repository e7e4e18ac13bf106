"""Precision, recall, F1 and accuracies against counting."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from biaslab.hate_speech.metrics import auc, functionality_table, holding, identity_table, measure
from naive import hate_speech_measures as naive
from refusals import refused


@pytest.mark.parametrize("seed", range(3))
def test_measures_equal_counting(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(-2, 3, 60) / 2  # many are exactly 0
    labels = (rng.random(60) < 0.3).astype(int)
    identifiers = rng.choice(["bakers", "cyclists", "gardeners"], 60, p=[0.7, 0.2, 0.1])
    found = measure(scores, labels, identifiers)
    assert (found.n, found.n_positive) == (60, labels.sum())
    assert_allclose(found[2:6], naive.counted_metrics(scores, labels), rtol=1e-14)
    macro = naive.macro_accuracy(scores, labels, identifiers)
    assert_allclose(found.macro_accuracy, macro, rtol=1e-14)
    assert found.macro_accuracy != found.accuracy


def test_without_positive_texts_only_accuracies_are_defined():
    found = measure([1.0, -1.0, -1.0], [0, 0, 0], ["bakers", "bakers", "cyclists"])
    assert np.isnan(found[2:5]).all()
    assert_allclose(found[5:], [2 / 3, 3 / 4])


@pytest.mark.parametrize(
    ("scores", "labels", "problem"),
    [
        ([], [], "no texts"),
        ([1.0], [1, 0], r"shape \(1,\) for labels of shape \(2,\)"),
        ([[1.0]], [[1]], "one score per text"),
        ([1.0, math.nan], [1, 0], "text 2: its score is not a number"),
        ([1.0, 1.0, 0.0], [1, 0, 2], "text 3: its label is neither 0 nor 1"),
    ],
)
def test_scores_that_cannot_be_measured_are_refused(scores, labels, problem):
    with refused(problem):
        measure(scores, labels)


AUCS = ["subgroup_auc", "bpsn_auc", "bnsp_auc"]


@pytest.mark.parametrize("levels", [3, 1000])  # many ties, and few
def test_identity_table_equals_counting_pairs(levels):
    rng = np.random.default_rng(levels)
    n, names = 120, ["bakers", "cyclists", "gardeners"]
    scores = rng.integers(-levels, levels + 1, n) / levels
    labels = (rng.random(n) < 0.3).astype(int)
    holds = rng.random((n, 3)) < [0.5, 0.2, 0.05]
    table = identity_table(scores, labels, holds, names)
    assert table["identifier"].tolist() == names
    for row, held in zip(table.to_dict("records"), holds.T, strict=True):
        assert_allclose([row[name] for name in AUCS], naive.identity_aucs(scores, labels, held), rtol=1e-13)
        hits, n_negative = naive.false_positives(scores, labels, held)
        assert (row["n"], row["n_negative"]) == (held.sum(), n_negative)
        assert row["false_positive_rate"] == hits / n_negative
        interval = row["ci_low"], row["ci_high"]
        assert_allclose(interval, naive.clopper_pearson(hits, n_negative), atol=1e-9)


def test_missing_kinds_of_text_are_missing_measures():
    table = identity_table([1.0, -1.0, 2.0], [1, 0, 1], np.array([[0, 1], [0, 0], [0, 1]], bool), ["a", "b"])
    unheld, positive_only = table.to_dict("records")
    assert (unheld["n"], unheld["n_negative"]) == (0, 0)
    assert all(math.isnan(unheld[name]) for name in ["false_positive_rate", "ci_low", "ci_high", *AUCS])
    assert math.isnan(positive_only["false_positive_rate"])
    assert math.isnan(positive_only["subgroup_auc"])
    assert positive_only["bnsp_auc"] == 1.0
    assert auc([-math.inf, math.inf], [0, 1]) == 1.0


def test_functionalities_by_hand():
    scores = [1.0, -1.0, 1.0, 1.0, -1.0, -2.0]
    labels = [1, 1, 1, 0, 0, 0]
    names = ["praise", "praise", "praise", "blame", "blame", "blame"]
    table = functionality_table(scores, labels, names)
    assert table["functionality"].tolist() == ["praise", "blame"]  # as they first appear
    assert table["is_hateful"].tolist() == [True, False]
    assert table[["n", "passed"]].to_numpy().tolist() == [[3, 2], [3, 2]]
    assert_allclose(table["rate"], 2 / 3)
    assert_allclose(table.loc[0, ["ci_low", "ci_high"]].astype(float), naive.clopper_pearson(2, 3), atol=1e-9)


def test_functionality_has_one_label():
    with refused("functionality 'praise' has texts of both labels"):
        functionality_table([1.0, 1.0], [1, 0], ["praise", "praise"])


def test_holding_finds_whole_tokens():
    pytest.importorskip("tokenizers")
    from biaslab.text.tokens import Tokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "baker", "##s", "bakers", "cyclist", "bake"]
    tokenizer = Tokenizer(vocabulary)
    tokens = tokenizer.encode(["bakers bakers", "baker", "", "cyclists", "Bakers cyclist baker"])
    tokens = tokens.without([tokenizer.cls, tokenizer.sep])  # first and last, beside an empty text
    held = holding(tokens, [vocabulary.index(word) for word in ("bakers", "cyclist", "bake")])
    assert held.dtype == bool
    assert held.astype(int).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 1, 0]]
