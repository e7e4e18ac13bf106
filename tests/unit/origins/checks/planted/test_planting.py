"""Planted documents, and whether attributions find them: with attributions that do, and that cannot."""

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.checks.planted import CONTROL, KINDS, LOWER, RAISE, n_pairs, plant, plant_pairs
from biaslab.origins.checks.planted.recall import (
    EITHER,
    TEST_WORDS,
    check,
    pair_table,
    planted_tests,
    recall_table,
)
from naive.origins import planted_pair, recall_at

S, T, A, B = np.arange(8).reshape(4, 2)
WEAT = WeatIndices("w", S, T, A, B)
N_WORDS = 40


def text_of(n, seed=0):
    """A document without a word of the test."""
    return np.random.default_rng(seed).integers(8, N_WORDS, n).astype(np.int32)


def pairs_of(copy):
    """The pairs of words of the test, by their first place."""
    places = np.flatnonzero(copy < 8)
    assert len(places) % 2 == 0
    return {int(p): (int(copy[p]), int(copy[p + 1])) for p in places[::2]}


@pytest.mark.parametrize("seed", range(2))
def test_copies_hold_the_same_targets_and_pair_them_as_written(seed):
    text = text_of(61, seed)
    copies = plant_pairs(text, WEAT, 0.4, stream(seed, "test"))
    pairs = {kind: pairs_of(copy) for kind, copy in copies.items()}
    assert list(copies) == list(KINDS)
    assert len(pairs[RAISE]) == n_pairs(61, 0.4) == 12
    rises = []
    for place, (target, attribute) in pairs[RAISE].items():
        side = "S" if target in S else "T"
        other = pairs[LOWER][place]
        a, b = (attribute, other[1]) if side == "S" else (other[1], attribute)
        words = [side, target, target, a, b]
        assert planted_pair(side, True, *words[1:]) == (target, attribute)
        assert planted_pair(side, False, *words[1:]) == other
        assert a in A
        assert b in B
        assert pairs[CONTROL][place] in ((target, attribute), other)
        rises.append(pairs[CONTROL][place] == (target, attribute))
    assert sum(rises) == 6
    for copy in copies.values():
        untouched = copy >= 8
        np.testing.assert_array_equal(copy[untouched], text[untouched])


def test_a_larger_dose_keeps_the_pairs_of_a_smaller():
    text = text_of(100)
    few, many = (plant_pairs(text, WEAT, dose, stream(1, "test")) for dose in (0.1, 0.5))
    for kind in KINDS:
        assert pairs_of(few[kind]).items() <= pairs_of(many[kind]).items()


@pytest.mark.parametrize(("n_tokens", "dose", "n"), [(200, 0.01, 1), (200, 0, 0), (5, 1, 2), (0, 0.5, 0)])
def test_number_of_pairs(n_tokens, dose, n):
    assert n_pairs(n_tokens, dose) == n
    copies = plant_pairs(text_of(n_tokens), WEAT, dose, stream(1, "test"))
    assert {len(pairs_of(copy)) for copy in copies.values()} == {n}


def corpus(n_documents=20, length=30):
    tokens = np.random.default_rng(3).zipf(1.5, n_documents * length) % N_WORDS
    counts = np.bincount(tokens, minlength=N_WORDS)
    order = np.argsort(-counts, kind="stable")
    tokens = np.argsort(order)[tokens].astype(np.int32)
    words = Vocabulary([f"word{i}" for i in range(N_WORDS)], np.maximum(counts[order], 1))
    documents = pd.DataFrame({"id": [f"d{i}" for i in range(n_documents)], "title": "t"})
    return tokens, np.arange(n_documents + 1, dtype=np.int64) * length, documents, words


def test_the_corpus_comes_first_and_words_are_sorted_anew():
    tokens, offsets, documents, words = corpus()
    other = WeatIndices("v", S + 8, T + 8, A + 8, B + 8)
    made = plant(tokens, offsets, documents, words, [WEAT, other], 4, 0.5, 1, 700)
    before = [words.words[i] for i in tokens]
    assert made.vocabulary["word"][made.tokens[: len(tokens)]].tolist() == before
    np.testing.assert_array_equal(np.bincount(made.tokens, minlength=N_WORDS), made.vocabulary["count"])
    assert (np.diff(made.vocabulary["count"]) <= 0).all()
    assert made.n_source_tokens == 700
    assert len(made.offsets) == len(made.documents) + 1 == 20 + 2 * 3 * 4 + 1
    assert made.documents["document"].tolist() == list(range(44))
    assert made.documents["id"].is_unique
    planted = made.documents[made.documents["kind"] != ""]
    assert planted.groupby(["weat", "kind"])["source"].nunique().tolist() == [4] * 6
    assert (planted.groupby(["weat", "source"])["kind"].nunique() == 3).all()


def listed(n_real=60, n=8, dose=0.1):
    kinds = np.repeat(["", *KINDS], [n_real, n, n, n])
    source = np.r_[np.full(n_real, -1), np.tile(np.arange(n), 3)]
    return pd.DataFrame(
        {"document": range(len(kinds)), "kind": kinds, "weat": "w", "source": source, "dose": dose}
    )


def test_recall_is_the_count_of_the_oracle():
    documents, rng = listed(), np.random.default_rng(4)
    values = {"influence": rng.normal(size=len(documents)) + (documents["kind"] == RAISE).to_numpy()}
    table = recall_table(documents, "w", values, 1)
    keys = {RAISE: values["influence"], LOWER: -values["influence"], EITHER: abs(values["influence"])}
    for row in table.itertuples():
        kinds = [RAISE, LOWER] if row.order == EITHER else [row.order]
        key = keys[row.order].tolist()
        assert row.found == recall_at(key, np.flatnonzero(documents["kind"].isin(kinds)), row.k)
        assert row.controls == recall_at(key, np.flatnonzero(documents["kind"] == CONTROL), row.k)
    assert table.loc[table["order"] == RAISE, "k"].tolist() == [4, 8, 16, 40, 80]
    assert table.loc[table["order"] == EITHER, "n_planted"].tolist() == [16, 16, 16, 16]


def test_an_attribution_that_knows_finds_all_and_one_that_counts_words_is_told():
    """Counting words of the test finds controls as often as planted documents, and never tells the two."""
    documents = listed()
    aim = documents["kind"].map({RAISE: 1.0, LOWER: -1.0}).fillna(0).to_numpy()
    words = (documents["kind"] != "").to_numpy(np.float64)
    values = {"influence": aim, TEST_WORDS: words}
    table = recall_table(documents, "w", values, 1)
    at = table[table["k"] == table["n_planted"]].set_index(["order", "attribution"])
    assert (at.xs("influence", level=1)["recall"] == 1).all()
    assert at.loc[(RAISE, "influence"), "recall_ci_low"] == pytest.approx(0.025 ** (1 / 8))
    assert (at.xs("influence", level=1)[["controls", "opposite"]] == 0).all(axis=None)
    counted = at.loc[(EITHER, TEST_WORDS)]
    assert counted["found"] + counted["controls"] == 16
    assert counted["controls"] > 0
    assert at.loc[(LOWER, TEST_WORDS), "found"] == 0  # the fewest words of the test are in real documents
    pairs = pair_table(documents, "w", values).set_index(["kind", "attribution"])
    assert (pairs.xs("influence", level=1)["right"] == 1).all()
    assert (pairs.xs(TEST_WORDS, level=1)["n_differ"] == 0).all()
    assert pairs.xs(TEST_WORDS, level=1)["right"].isna().all()


def test_random_numbers_find_what_chance_does():
    """Over 30 orders the mean recall is k over n, and about 95% lie within the bounds."""
    documents, rng = listed(), np.random.default_rng(5)
    values = {str(i): rng.normal(size=len(documents)) for i in range(30)}
    table = recall_table(documents, "w", values, 1)
    at = table[(table["k"] == 16) & (table["order"] == RAISE)]
    assert at["chance"].iloc[0] == pytest.approx(16 / 84)
    assert at["recall"].mean() == pytest.approx(16 / 84, abs=0.06)
    inside = at["recall"].between(at["chance_ci_low"] - 1e-9, at["chance_ci_high"] + 1e-9).mean()
    assert inside >= 0.85
    right = pair_table(documents, "w", values)["right"]
    assert right.mean() == pytest.approx(0.5, abs=0.05)


def test_ties_are_broken_at_random():
    """An attribution without any opinion finds what chance does, wherever planted documents stand."""
    documents = listed(n_real=200)
    found = [
        recall_table(documents, "w", {"influence": np.zeros(len(documents))}, seed)["found"].to_numpy()
        for seed in range(12)
    ]
    expected = recall_table(documents, "w", {"influence": np.zeros(len(documents))}, 1)
    np.testing.assert_allclose(np.mean(found, axis=0), (expected["chance"] * expected["n_planted"]), atol=2)
    assert len({tuple(f) for f in found}) > 6


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda _: plant(*corpus(), [WEAT], 21, 0.1, 1, 0), "documents: 21 copies exceed the 20 documents"),
        (lambda _: plant(*corpus(), [WEAT], 2, 1.5, 1, 0), r"planted\.doses: 1\.5 is not a share"),
        (lambda d: planted_tests(d[d["kind"] == ""], "there"), "there: the corpus has no planted documents"),
        (lambda d: check(d, {"ppmi": d.head(3)}), "the 3 documents of the table differ in .* from the 84"),
    ],
)
def test_impossible_plantings_and_tables_of_other_corpora_are_refused(call, problem):
    documents = listed()
    assert planted_tests(documents, "there") == ["w"]
    check(documents, {"ppmi": documents})
    with pytest.raises(InputError, match=problem):
        call(documents)
